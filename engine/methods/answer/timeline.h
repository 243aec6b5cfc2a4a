#pragma once

#include "methods/estimate.h"
#include "workload/workload.h"

#include <cstddef>
#include <cstdint>

namespace orrery {

/// Rounded as std::llround does, of times that are not negative: no call per span.
inline std::int64_t wholePicoseconds(double time) {
    const auto below = static_cast<std::int64_t>(time);
    return below + (time - static_cast<double>(below) >= 0.5 ? 1 : 0);
}

/// Operators one after another on one row named `row`. Folded blocks are unrolled repetition by repetition, in the
/// order in which they run, until `limit` spans are drawn; operators that take no time have no span.
Timeline serialTimeline(const Workload& workload, const OperatorEstimates& operators, std::string row,
                        std::size_t limit = 20000);

}  // namespace orrery
