#pragma once

// From the prices of a shard's operators to what each of its layers does in a training step.

#include "methods/estimate.h"
#include "methods/system/sharded_workload.h"
#include "methods/system/training/training_program.h"
#include "methods/task.h"

namespace orrery {

/// The step as a method prices one device's share of it: every weight trained, nothing computed again, gradients added
/// up.
TrainingStep allOf(const TrainingStep& step);

/// `operators` as a method gives them for a training step of the shard; `copies` devices share its state. Blocks that
/// are repeated become so many layers and are dealt out to the stages' chunks; what stands before and behind them
/// belongs to the first and the last one. Fails with `plan.pipeline` where there are fewer layers than chunks,
/// `training.lora` where no layer takes adapters.
Expected<TrainingProgram> trainingProgram(const ShardedWorkload& sharded, const OperatorEstimates& operators,
                                          const Plan& plan, const TrainingStep& step);

}  // namespace orrery
