#pragma once

// What one device of each stage of a plan holds in a training step, and what of it is activations of micro-batches on
// their way (Korthikanti et al. 2022, sections 4 and 5; Rajbhandari et al. 2020 for what copies share).

#include "methods/estimate.h"
#include "methods/system/sharded_workload.h"
#include "methods/system/training/training_program.h"
#include "methods/task.h"

#include <cstdint>
#include <vector>

namespace orrery {

/// Of one device, at the moment when it holds most.
struct StageMemory {
    Bytes parameters, gradients, optimizer, activations;
    Bytes host = Bytes(0);      ///< what the host holds of it besides
    Bytes capacity = Bytes(0);  ///< of the device; 0: not stated here
    Bytes total() const { return parameters + gradients + optimizer + activations; }
};

/// What of a stage the host holds, taken from the device's: the device keeps of weights and activations two layers, the
/// one at work and the one that comes. `layer`: the largest one's share of the parameters, `kept`: activations of one
/// that are kept, `again`: of a layer that is computed again, `gradients`: what the host's step reads, B.
void moveToHost(std::uint8_t offload, double layer, double kept, double again, double gradients, StageMemory& stage);

/// Chunks of layers whose activations a stage keeps at most; 0 where its schedule cannot be made.
std::int64_t mostKept(const TrainingProgram& program, std::int64_t stage);

/// Activations of one layer and micro-batch, B, as `whole` tells them (stageMemories()).
double layerActivations(const TrainingProgram& program, const ShardedWorkload& sharded, const TrainingStep& step,
                        const MemoryUse& whole);

/// One for every stage. `whole` is what a method says one device needs for the shard's pass without recomputation:
/// weights with gradients and state of the optimizer, and all activations.
std::vector<StageMemory> stageMemories(const TrainingProgram& program, const ShardedWorkload& sharded,
                                       const TrainingStep& step, const MemoryUse& whole);

/// Of the stage that needs most; `weights` with gradients and state of the optimizer.
MemoryUse mostMemory(const std::vector<StageMemory>& stages, const MemoryUse& whole);

}  // namespace orrery
