#pragma once

// From the runs of a training step to its answer: figures, intervals, timeline, what is sent.

#include "hardware/views/network_tier.h"
#include "methods/estimate.h"
#include "methods/system/sharded_workload.h"
#include "methods/system/training/step_runs.h"
#include "methods/system/training/training_stack.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

/// Rows for what each stage does forwards, backwards, for its gradients, and in its optimizer: a turn of a micro-batch
/// is one span. Of copies of several classes those that compute longest.
Timeline timelineOf(const StepRun& run, const StepPrograms& programs);

struct SentBytes {
    std::map<std::string, double> bytesOfDevice;  ///< by tier, of the device that sends most
    double joules = 0;
    std::set<std::pair<std::size_t, int>> crossed;  ///< network, and tier of it
    std::vector<std::string> assumptions;
};
/// `networks`: tiers, by PlanPrices::Exchange::network.
SentBytes sentBy(const PlanPrices& prices, const StepPrograms& programs,
                 const std::vector<const std::vector<NetworkTier>*>& networks);

void setLatency(Estimate& answer, const StepRuns& runs);
/// As steps of the stack were measured.
void setMeasured(Estimate& answer, const StackHere& here, const Graph& shard);
/// Seconds that the FLOPs of a shard's pass take at its device's peak, by the answer of a method whose pass takes
/// `computed`; 0: not known.
double peakSecondsOf(const Estimate& shard, double computed);
/// `computed`: seconds of the shard's pass, to which the answer's figures still belong. `peakSeconds`: of the mean
/// device.
std::vector<Figure> stepFigures(const Estimate& answer, const Plan& plan, double computed, double peakSeconds,
                                std::int64_t microbatches, const StepSide& side, const SentBytes& sent);
/// Seconds of the optimizers of one device of every stage.
double updatesOf(const StepPrograms& programs);
/// Weights and the optimizer's state of all layers, each byte once. `whole`: weights, their gradients and the
/// optimizer's state of the shard, B.
double stateOf(const TrainingProgram& program, const ShardedWorkload& sharded, double whole);
/// `passes`: of the shard, by all devices together.
void setEnergy(Estimate& answer, double passes, double network);
/// Assumptions about the order of turns, and about what is computed again.
void sayOrder(Estimate& answer, const Plan& plan);
void sayRecompute(Estimate& answer, Recompute again);

}  // namespace orrery
