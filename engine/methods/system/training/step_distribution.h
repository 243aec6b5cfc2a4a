#pragma once

// A step as a distribution, and a run of weeks made of it: kernels and exchanges as sure as their intervals say, the
// slowest device of each stage, failures and checkpoints (class of PRISM).

#include "methods/method.h"

#include <cstdint>

namespace orrery {

/// `step-distribution`, level system: a slot `compute` for the kernel method.
Method stepDistributionMethod();

/// Below which the largest of `count` independent normal numbers (mean 0, variance 1) stays in this share of all cases:
/// Φ⁻¹(share^(1/count)). With a uniform share it is one draw of the largest.
double largestOfNormals(std::int64_t count, double share);

}  // namespace orrery
