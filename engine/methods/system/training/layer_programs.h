#pragma once

// From the prices of a shard's operators to what each of its layers does in a training step.

#include "methods/estimate.h"
#include "methods/system/sharded_workload.h"
#include "methods/system/training/training_program.h"
#include "methods/task.h"

#include <span>
#include <vector>

namespace orrery {

/// The step as a method prices one device's share of it: every weight trained, nothing computed again, gradients added
/// up.
TrainingStep allOf(const TrainingStep& step);

/// `operators` as a method gives them for a training step of the shard; `copies` devices share its state. Blocks that
/// are repeated become so many layers and are dealt out to the stages' chunks; what stands before and behind them
/// belongs to the first and the last one. Fails with `plan.pipeline` where there are fewer layers than chunks,
/// `plan.layers` where those that the plan states are not the model's, `training.lora` where no layer takes adapters.
Expected<TrainingProgram> trainingProgram(const ShardedWorkload& sharded, const OperatorEstimates& operators,
                                          const Plan& plan, const TrainingStep& step,
                                          SelectiveForm selective = SelectiveForm::Attention);

/// Where the chunks of a plan begin among the `dealt` layers, and where the last one ends. Fails with `plan.layers`.
Expected<std::vector<std::int64_t>> chunkBounds(const Plan& plan, std::int64_t dealt);
/// Layers of stages that take so many seconds for one: in proportion to speed, one at least. `layers`: as many as
/// stages at least.
std::vector<std::int64_t> layersBySpeed(std::int64_t layers, std::span<const double> seconds);
/// How many layers are dealt out to the chunks.
std::int64_t dealtLayers(const TrainingProgram& program);
/// What one of the layers that are dealt out computes for a micro-batch, both ways, on the mean.
double secondsOfLayer(const TrainingProgram& program);

}  // namespace orrery
