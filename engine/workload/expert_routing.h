#pragma once

// How tokens fall on experts, and on the rank that gets most of them.

#include "workload/kernel.h"

namespace orrery {

struct Routing {
    std::int64_t tokens = 1;    ///< that choose, of all ranks together
    std::int64_t experts = 1;   ///< of all ranks
    std::int64_t perToken = 1;  ///< experts that one token chooses
    std::int64_t ranks = 1;     ///< that the experts are spread over evenly
};
/// Fills tokens, rows, held and touched of the busiest rank. With `shape.skew` 0 choices go round the experts; else
/// experts are as wanted as draws from a power law with that exponent are large (aiconfigurator's collectors), and the
/// busiest of several ranks has more than its share by what the largest of so many sums is expected to have.
void routeExperts(ExpertShape& shape, const Routing& routing);

/// The same multiplications and weights as one batched product, a member per expert that is touched: for methods that
/// know products alone.
Kernel expertsAsProduct(const Kernel& kernel);

}  // namespace orrery
