#pragma once

// A training step of a plan: the model's shard on one device by a kernel method, its exchanges by a network model, and
// the order in which stages, copies and micro-batches wait for each other by running the step (simulation/cluster). So
// what computing hides is hidden, and a bubble is as long as it is.

#include "hardware/views/cluster_view.h"
#include "methods/method.h"
#include "simulation/cluster/cluster_run.h"

namespace orrery {

/// The plan, the task or the batch ask for more than one pass of one device.
bool needsTrainingRun(const Scenario& scenario, const Method& method);

/// Fails as clusterView(), placementOf(), shardedWorkload(), the method and runCluster() do.
Expected<Estimate> estimateTrainingStep(const Method& method, const Scenario& scenario, EstimateContext& context);

/// What the estimate runs, with a trace and communicators for every rank, and the tiers of the network: for other
/// tools.
struct StepTraces {
    ClusterJob job;
    std::vector<NetworkTier> tiers;  ///< innermost first; of the drawing, not of the plan
};
/// Fails as estimateTrainingStep(), and with `training.ranks` beyond 4,096 ranks.
Expected<StepTraces> trainingTraces(const Method& method, const Scenario& scenario, EstimateContext& context);

}  // namespace orrery
