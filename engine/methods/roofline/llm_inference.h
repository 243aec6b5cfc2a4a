#pragma once

// Phase-aware analysis of transformer inference in the manner of LLM-Viewer (Yuan et al., "LLM Inference Unveiled:
// Survey and Roofline Model Insights", 2024), GenZ (Bambhaniya et al., 2024) and LIFE (2025): every operator takes the
// longer of its work at an achievable share of the peak and its weights, KV cache and activations at an achievable
// share of the bandwidth, plus its launch.

#include "methods/answer/compute_rates.h"
#include "methods/answer/efficiencies.h"
#include "methods/estimate.h"

namespace orrery {

struct Method;
Method llmInferenceMethod();

/// Fills seconds, bound, flops and bytes. `bandwidth` in B/s; `launch` in seconds per operator that does or moves
/// anything.
void priceWithEfficiency(const CostTable& costs, const ComputeRates& rates, double bandwidth, double launch,
                         const Efficiencies& efficiencies, OperatorEstimates& out);

}  // namespace orrery
