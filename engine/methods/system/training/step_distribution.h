#pragma once

// A step as a distribution, and a run of weeks made of it: kernels and exchanges as sure as their intervals say, the
// slowest device of each stage, failures and checkpoints (class of PRISM).

#include "base/random.h"
#include "methods/method.h"

namespace orrery {

/// `step-distribution`, level system: a slot `compute` for the kernel method.
Method stepDistributionMethod();

/// The largest of `count` independent normal numbers of mean 0 and variance 1, drawn at once: Φ⁻¹(U^(1/count)).
double largestOfNormals(std::int64_t count, RandomStream& random);

}  // namespace orrery
