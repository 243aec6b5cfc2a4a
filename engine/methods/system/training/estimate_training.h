#pragma once

// A training step of a plan: the model's shard on one device by a kernel method, its exchanges by a network model, and
// the order in which stages, copies and micro-batches wait for each other by running the step (simulation/cluster). So
// what computing hides is hidden, and a bubble is as long as it is.

#include "hardware/views/cluster_view.h"
#include "methods/method.h"
#include "methods/system/training/plan_prices.h"
#include "methods/system/training/step_runs.h"
#include "methods/system/training/training_program.h"
#include "simulation/cluster/cluster_run.h"

#include <stop_token>
#include <vector>

namespace orrery {

/// The plan, the task or the batch ask for more than one pass of one device.
bool needsTrainingRun(const Scenario& scenario, const Method& method);
/// The options name software that trains, which adds to a step of one device, too.
bool namesStack(const Scenario& scenario, const Method& method, const EstimateContext& context);
/// Of a step of one device that needs no run and names no stack: its interval reaches over what software adds.
void reachOverSoftware(const Method& method, const Scenario& scenario, const EstimateContext& context,
                       Estimate& answer);

/// Fails as clusterView(), placementOf(), shardedWorkload(), the method and runCluster() do.
Expected<Estimate> estimateTrainingStep(const Method& method, const Scenario& scenario, EstimateContext& context);

/// The step that an estimate has run, to be run again at other speeds.
struct SampledStep {
    StepPrograms programs;
    PlanPrices prices;
    double kernelsLow = 1, kernelsHigh = 1;  ///< interval of computing, as ratios to what is likely
    double stateBytes = 0;                   ///< weights and the optimizer's state, each byte once
    /// Seconds of the step where the computing of each stage takes `slowness` times as long as is likely, and exchanges
    /// stand at a place of their intervals (PlanPrices::takeAt). Thread-safe. Fails as runCluster() does.
    Expected<double> seconds(std::vector<double> slowness, double exchanges, const std::stop_token& stop) const;
};
struct TrainingAnswer {
    Estimate estimate;
    SampledStep step;
};
/// estimateTrainingStep(), and what it has run.
Expected<TrainingAnswer> answerTrainingStep(const Method& method, const Scenario& scenario, EstimateContext& context);

/// What the estimate runs, with a trace and communicators for every rank, and the tiers of the network: for other
/// tools.
struct StepTraces {
    ClusterJob job;
    std::vector<NetworkTier> tiers;  ///< innermost first; of the drawing, not of the plan
};
/// Fails as estimateTrainingStep(), and with `training.ranks` beyond 4,096 ranks.
Expected<StepTraces> trainingTraces(const Method& method, const Scenario& scenario, EstimateContext& context);

}  // namespace orrery
