#pragma once

// When kernels begin: a host that issues launches one after another, and a GPU that runs them in order.

#include "methods/model/launches.h"
#include "workload/graph.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

/// A stretch of launches that is executed `times` over, one block of the graph after another.
struct LaunchRun {
    std::size_t first = 0, end = 0;
    double times = 1;
};
/// Launches of equal count, part and block without a gap; linear.
std::vector<LaunchRun> runsOf(const Graph& graph, std::span<const Launch> launches);

struct Pipelined {
    std::vector<double> idle;  ///< seconds, per launch, all repetitions: the GPU waits for this launch to be issued
    double total = 0;          ///< seconds of the whole
};
/// Kernel i of a repetition begins when it has been issued (`issue` seconds after the one before) and the GPU has done
/// the one before: start = max(issued, end before). The first launch costs one issue. Repetitions are followed until
/// they no longer differ, 4096 at most; O(launches × repetitions that differ).
Pipelined pipelined(std::span<const LaunchRun> runs, std::span<const double> seconds, double issue);
/// The same with host seconds of each launch.
Pipelined pipelined(std::span<const LaunchRun> runs, std::span<const double> seconds, std::span<const double> issue);

}  // namespace orrery
