#pragma once

// Which operators an answer's interval is made of: what to price in more detail to make it narrower.

#include "methods/estimate.h"

#include <cstdint>
#include <vector>

namespace orrery {

struct WidthShare {
    std::int32_t op = 0;
    double seconds = 0;  ///< all repeats
    double share = 0;    ///< of the variance of the whole, 0 to 1; together 1
    double half = 0;     ///< half-width ÷ latency that the whole would have if this operator were known exactly
};

struct WidthShares {
    std::vector<WidthShare> operators;  ///< largest share first; those without any left out
    double half = 0;                    ///< (high − low) ÷ 2 ÷ latency
    /// The limits: errors that have nothing in common add as their squares (√N), common ones in full (N).
    double independent = 0, common = 0;
    /// Share of errors that the answer takes as common: where its half-width lies between the limits, in squares.
    double correlation = 0;
};

/// Of answers that state sides for each operator (OperatorEstimates::lowSeconds); empty of others. With half-widths aᵢ
/// and W² = (1 − ρ)·Σaᵢ² + ρ·(Σaᵢ)², operator i has the share ((1 − ρ)·aᵢ² + ρ·aᵢ·Σa) ÷ W².
WidthShares widthShares(const Estimate& estimate);

}  // namespace orrery
