#pragma once

// A composition whose prices are still open: for an answer in which several methods price the kernels of one graph.
// compose() is openComposition(), a price for every launch, and closeComposition().

#include "methods/model/compose.h"

namespace orrery {

/// Device, pricer and kernels, without prices. Fails as compose() does before it prices.
Expected<Composition> openComposition(const Scenario& scenario, const KernelMethod& method, const ModelOptions& options,
                                      const EstimateContext& context);
/// What the composition's method says of launch i, as compose() would take it. Fails with `study.cancelled`.
Expected<KernelPrice> priceLaunch(const Composition& c, std::size_t i, PriceContext& context);
/// What tells launch i from others of the same kernel: those with one number cost the same.
std::uint32_t startOf(const Composition& c, std::size_t i);
/// That price, or the one of an equal kernel, as launch i has it.
PricedLaunch pricedAs(const Composition& c, std::size_t i, const KernelPrice& price);
/// Waiting, streams and interval of a composition whose prices are there. Without chains.
void closeComposition(const Workload& workload, const ModelOptions& options, Composition& c);
/// The answer of a composition that is closed.
Expected<Estimate> estimateOf(const Scenario& scenario, std::string_view method, const ModelOptions& options,
                              const Composition& c, EstimateContext& context);

}  // namespace orrery
