#pragma once

// From priced launches to what an estimate shows: columns per operator, timeline, figures.

#include "methods/model/compose.h"

#include <string>

namespace orrery {

/// Time, bound, work and bytes at the operator that leads each group; waiting and the start of a graph included, so
/// that the columns sum to the latency.
OperatorEstimates operatorColumns(const Workload& workload, const Composition& composition);
double latencyOf(const Composition& composition);

/// Launches in order, folded blocks unrolled, up to `limit` spans; of a pricer with rows() what each part does. Where
/// the GPU waits for the host there is a second row, `waiting for launches`; a training step has a row per part.
Timeline composedTimeline(const Composition& composition, std::size_t limit = 20000);

void addFigures(Estimate& answer, const Workload& workload, const Composition& composition,
                const ModelOptions& options);

}  // namespace orrery
