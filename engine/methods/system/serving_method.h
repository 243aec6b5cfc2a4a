#pragma once

// A serving run as a method answers it: the study's fleet on the drawing, its requests through its schedulers, its
// figures with their intervals. The slot `compute` says which kernel method prices iterations; left open, each pool is
// priced as its study says: by kernels, by a measured table, by a law.

#include "methods/method.h"

namespace orrery {

/// `serving`, level system.
Method servingMethod();

/// The answer to a ServingRun. `compute`: a choice of a kernel method that prices every pool that is priced by kernels;
/// empty: as the pools say. A plan that splits takes the place of every pool's own.
///
/// `latency` is the mean time from arrival to last token of a question that is done. Columns have the rows of the
/// served model and are 0: a run has no operators. The timeline has a row per replica with its iterations. Fails as
/// fleetOf(), requestsOf() and simulate() do; with `serving.nothing-done` where no request ends.
Expected<Estimate> estimateServing(const Scenario& scenario, EstimateContext& context, std::string_view compute);

}  // namespace orrery
