#pragma once

// Rows of features of operators and schedules. Logarithms are of base 2; what does not apply is 0.

#include "learning/schedules/tuning_log.h"

#include <span>

namespace orrery {

/// What an operator asks for, whoever computes it: extents, work, intensity, how evenly extents divide.
inline constexpr std::size_t workFeatures = 17;
void workFeaturesOf(const TunedRow& row, std::span<double> out);

/// What a schedule makes of it: how each loop is split (spatial rows, columns, outputs; reduction), the tile of one
/// thread, the block of one core or thread block, threads, waves, shared memory, registers (TVM's templates; Ansor's
/// features in spirit, Zheng et al., OSDI 2020), and what it asks of the machine (machine_features.h).
inline constexpr std::size_t scheduleFeatures = 80;
std::vector<std::string> scheduleFeatureNames();
void scheduleFeaturesOf(const TunedRow& row, std::span<double> out);

/// One of these for a person to read: not as a logarithm, and what it is about.
struct ScheduleFact {
    std::size_t feature = 0;  ///< among scheduleFeatureNames()
    std::string name;
    std::string_view group;  ///< `work`, `loops`, `touch`, `reuse`, `vectorisation`, `parallelism`, `unrolling`
    double value = 0;        ///< extents, bytes, FLOPs, shares, or 1 for what holds
    bool bytes = false;
};
/// Those that apply: of a GPU no vectors of a CPU, of a CPU no blocks.
std::vector<ScheduleFact> scheduleFactsOf(const TunedRow& row);

}  // namespace orrery
