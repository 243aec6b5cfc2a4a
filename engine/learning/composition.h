#pragma once

// From intervals of parts to the interval of their sum. A part is priced with a 90 % interval; how much wider or
// narrower the sum's is, relative to its latency, hangs on whether parts are missed together or each by itself.
//
// One-factor model: the error of part i of group g is a·(√ρ_g·F_g + √(1 − ρ_g)·e_i) with independent F and e of unit
// variance and a the part's own half-width, so that
//     half-width² = Σ_g [ (1 − ρ_g)·Σ aᵢ² + ρ_g·(Σ aᵢ)² ] + 2·κ·Σ_{g<h} √ρ_g·√ρ_h·A_g·A_h,   A_g = Σ aᵢ.
// ρ = 0 gives the root of the sum of squares (parts independent), ρ = κ = 1 the plain sum. Both sides of an interval
// are composed by themselves, because times are skewed.

#include <cstdint>
#include <span>

namespace orrery {

struct PartInterval {
    double seconds = 0;        ///< of one execution
    double low = 0, high = 0;  ///< 90 % of measured values; equal to `seconds` where nothing is known
    double repeat = 1;         ///< times it is executed. The same kernel is missed alike each time: they add up fully
    std::int32_t group = 0;    ///< parts whose errors have a common cause: index into `correlation` below
};

struct ComposedInterval {
    double seconds = 0;                              ///< sum of the parts
    double low = 0, high = 0;                        ///< under the given correlation
    double independentLow = 0, independentHigh = 0;  ///< limit ρ = 0
    double correlatedLow = 0, correlatedHigh = 0;    ///< limit ρ = κ = 1
};

/// `correlation[g]`, 0 to 1, is ρ of group g (0 for groups beyond its end); `between`, 0 to 1, is κ, the correlation of
/// the groups' common causes. `seconds` lies in every interval, none reaches below 0. A part whose `seconds` is outside
/// its own interval counts from the interval's nearer end. At most maxCompositionGroups groups (larger numbers share
/// the last one); allocates nothing, O(parts).
ComposedInterval composeIntervals(std::span<const PartInterval> parts, std::span<const double> correlation,
                                  double between = 0);
inline constexpr int maxCompositionGroups = 32;

/// ρ from residuals: the intraclass correlation ICC(1) of one-way analysis of variance (Fisher), the share of their
/// variance that is common to a cluster (all kernels of one model on one device, say). Clusters may differ in size;
/// rows with a cluster below 0 are skipped. In 0 … 1; 0 where no cluster has two rows or all are alike.
double intraclassCorrelation(std::span<const double> residuals, std::span<const std::int32_t> cluster);

}  // namespace orrery
