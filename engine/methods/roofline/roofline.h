#pragma once

// The roofline of Williams, Waterman and Patterson (CACM 52(4), 2009): an operator takes as long as its work needs at
// the peak rate of its unit and precision, or its bytes need at the bandwidth of main memory, whichever is longer. A
// lower bound for operators that start from a cold cache.

#include "methods/answer/compute_rates.h"
#include "methods/estimate.h"

namespace orrery {

struct Method;
Method rooflineMethod();

/// Fills seconds, bound, flops and bytes for every operator. `bandwidth` in B/s, > 0. Allocates nothing if the columns
/// already have the table's length.
void priceRoofline(const CostTable& costs, const ComputeRates& rates, double bandwidth, OperatorEstimates& out);

}  // namespace orrery
