#pragma once

// What a learned predictor must beat on the same rows: a ridge on a few counts (networks with a code), the likest known
// device in its level (networks by name).

#include "learning/edge/device_prior.h"

#include <span>
#include <vector>

namespace orrery {

/// An intercept and the first four features behind it, penalty 0.001 on all but the intercept; of all `asked` rows. The
/// mean of the samples where it has no solution.
std::vector<double> ridgeOfFour(const FeatureRows& samples, std::span<const double> latencies,
                                const FeatureRows& asked);

/// Of `devices[d][n]` (NaN: not measured) the one whose logarithms differ from the samples by the most even step, moved
/// by it; networks that it lacks are the next one's. NaN where no device has a network.
std::vector<double> likestDevice(std::span<const std::vector<double>> devices, std::span<const std::size_t> measured,
                                 std::span<const double> latencies);

}  // namespace orrery
