#pragma once

#include "methods/estimate.h"
#include "workload/workload.h"

#include <cstddef>

namespace orrery {

/// Operators one after another on one row named `row`. Folded blocks are unrolled repetition by repetition, in the
/// order in which they run, until `limit` spans are drawn; operators that take no time have no span.
Timeline serialTimeline(const Workload& workload, const OperatorEstimates& operators, std::string row,
                        std::size_t limit = 20000);

}  // namespace orrery
