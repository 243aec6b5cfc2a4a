#pragma once

// Kineto's timeline (Chrome's trace events as PyTorch's profiler writes them): how long operators of the host took, and
// what ran on the device, when, on which stream and for whom. Dependencies come from the execution trace recorded
// beside it: recorded_json.h links the two.

#include "base/diagnostic.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct KinetoOperator {
    std::int64_t recordFunction = -1;  ///< `Record function id`: the execution trace's rf_id
    std::int64_t external = -1;        ///< `External id`
    double begin = 0, duration = 0;    ///< us
};

struct KinetoKernel {
    std::string name;
    std::int64_t external = -1;  ///< of the operator that launched it
    std::int64_t stream = 0;
    double begin = 0, duration = 0;  ///< us
    double launched = -1;            ///< us; -1: not recorded
};

struct KinetoTimeline {
    std::vector<KinetoOperator> operators;
    std::vector<KinetoKernel> kernels;  ///< also copies and fills; by begin
};

/// Fails with `trace.not-json` and what else JsonCursor says, `trace.value` (a duration below zero), `trace.empty`.
Expected<KinetoTimeline> parseKineto(std::string_view text, std::string_view file);

}  // namespace orrery
