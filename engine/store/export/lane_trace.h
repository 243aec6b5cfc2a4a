#pragma once

// What simulators of cycles show, as Chrome/Perfetto trace events: spans on lanes, a thread each.

#include "simulation/gpu/recorder.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery {

struct TraceLane {
    std::string group;  ///< lanes of one group, which follow one another, are one process
    std::string name;
};
struct TraceStretch {
    std::int32_t lane = 0;
    std::int64_t from = 0, to = 0;  ///< cycles
    std::string name, category;
    std::vector<std::pair<std::string_view, std::string>> arguments = {};
};
struct LaneTrace {
    std::string title;
    double cycleSeconds = 1e-9;
    std::vector<TraceLane> lanes;
    std::vector<TraceStretch> stretches;
};

/// Times in microseconds, rounded to the picosecond; the length of a cycle stands in `otherData`. Stretches of lanes
/// that are not there are left out.
std::string laneTrace(const LaneTrace& trace);

/// Every warp of a recording that was ever there, by scheduler; what it does in each stretch, with the instruction.
/// Cycles as far as the spans reach.
LaneTrace warpLanes(const gpusim::Recording& recording, double cycleSeconds);

}  // namespace orrery
