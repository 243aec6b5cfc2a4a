#pragma once

// Rows of features of operators and schedules. Logarithms are of base 2; what does not apply is 0.

#include "learning/schedules/tuning_log.h"

#include <span>

namespace orrery {

/// What an operator asks for, whoever computes it: extents, work, intensity, how evenly extents divide.
inline constexpr std::size_t workFeatures = 22;
std::vector<std::string> workFeatureNames();
void workFeaturesOf(const TunedRow& row, std::span<double> out);

/// What a schedule makes of it: how each loop is split (spatial rows, columns, outputs; reduction), the tile of one
/// thread, the block of one core or thread block, threads, waves, shared memory, registers (TVM's templates; Ansor's
/// features in spirit, Zheng et al., OSDI 2020), and what it asks of the machine (machine_features.h).
inline constexpr std::size_t scheduleFeatures = 80;
std::vector<std::string> scheduleFeatureNames();
void scheduleFeaturesOf(const TunedRow& row, std::span<double> out);

}  // namespace orrery
