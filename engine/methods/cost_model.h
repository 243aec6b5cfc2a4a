#pragma once

// What an answer takes to compute, as numbers: for cards, for people who choose, for a budget. They are rates of one
// thread, fitted to CPU times that `orrery-cli methods --measure-cost` takes of whole answers
// (evaluation/cost_measurement.h); no answer is promised in that time. Stated for the release build (GCC 12) on one
// core of a virtual machine with an AMD EPYC (2 cores, 1 MiB of L2 each, 32 MiB of L3), November 2026.

#include "base/quantity.h"

#include <optional>
#include <string>

namespace orrery {

struct Method;
struct Scenario;

/// Seconds of one thread.
struct CostModel {
    double fixed = 0;        ///< of any answer: views of the device, binding, intervals
    double perOperator = 0;  ///< of the graph, equal layers folded
    double perKernel = 0;    ///< that differs from the others and is priced
    double perCycle = 0;     ///< that the device is busy with the distinct kernels at its peak rate
    double perRequest = 0;   ///< of a serving run
};
/// `50 µs + 20 ns per operator + 4 µs per kernel`. What is 0 is left out.
std::string toText(const CostModel& cost);

/// What CostModel's rates count. Each at least 0.
struct CostCounts {
    double operators = 0, kernels = 0, cycles = 0, requests = 0;
};
/// Of the task on one device: a plan changes shapes, and hardly the number of kernels. Kernels and cycles are 0 for
/// methods that price operators. Makes (and keeps, kernel_list.h) the list of kernels, as the method would.
CostCounts costCounts(const Method& method, const Scenario& scenario);
Seconds costOf(const CostModel& cost, const CostCounts& counts);

/// What the method's answer is expected to take on one thread. Nothing where the scenario has no workload, where the
/// method does not answer the task, and for serving runs by a kernel method that takes its time: how many iterations
/// it would be asked for is not known before. Kernel methods that answer at once fill the slot of `serving`, whose cost
/// stands for theirs.
std::optional<Seconds> expectedCost(const Method& method, const Scenario& scenario);

}  // namespace orrery
