#pragma once

// The roofline with one ceiling per memory level (Ilic, Pratas and Sousa, "Cache-aware Roofline Model", IEEE CAL 2014;
// Yang, Kurth and Williams, "Hierarchical Roofline Analysis for GPUs", 2020): an operator takes as long as its slowest
// ceiling, with its traffic per level worked out from capacities (traffic.h) instead of measured by counters, plus the
// device's launch overhead.

#include "methods/answer/compute_rates.h"
#include "methods/estimate.h"

namespace orrery {

struct Method;
Method hierarchicalRooflineMethod();

/// Fills seconds, bound, flops, bytes. `traffic` as of levelTraffic(); `perByte[level]` in s/B, 0 for a level without
/// a bandwidth; `launch` in seconds per execution of an operator that does or moves anything.
void priceHierarchical(const CostTable& costs, const ComputeRates& rates,
                       const std::vector<std::vector<double>>& traffic, const std::vector<double>& perByte,
                       double launch, OperatorEstimates& out);

}  // namespace orrery
