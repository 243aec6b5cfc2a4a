#include "methods/system/training/training_memory.h"

#include "methods/model/launches.h"

#include <algorithm>

namespace orrery {

namespace {

/// Activations of a micro-batch that a device need not keep: scores and probabilities that are computed again,
/// positions of norms and sums that its neighbours have.
double dropped(const ShardedWorkload& sharded, const Plan& plan, const TrainingStep& step) {
    const Workload& shard = *sharded.shard;
    double bytes = 0;
    for (std::size_t i = 0; i < shard.graph.operators.size(); ++i) {
        const Operator& op = shard.graph.operators[i];
        if (step.recompute == Recompute::Selective) bytes += shard.costs.repeat[i] * keptScores(shard, i);
        if (plan.sequence == 0 || plan.tensor < 2) continue;
        if (op.kind != OperatorKind::Normalization && op.type != "Residual") continue;
        for (const TensorId id : op.outputs)
            if (const Tensor* tensor = shard.graph.tensor(id))
                bytes += shard.costs.repeat[i] * (tensor->bytes().value + keptMask(shard, i)) *
                         (1 - 1.0 / static_cast<double>(plan.tensor));
    }
    return bytes;
}

bool hasBlocks(const TrainingProgram& program) {
    return std::any_of(program.layers.begin(), program.layers.end(),
                       [](const LayerProgram& one) { return one.repeated; });
}

/// Layers that share the activations kept.
double layersSharing(const TrainingProgram& program, const ChunkProgram& chunk, bool blocks) {
    return static_cast<double>(std::count_if(chunk.layers.begin(), chunk.layers.end(), [&](std::int32_t l) {
        return !blocks || program.layers[static_cast<std::size_t>(l)].repeated;
    }));
}

}  // namespace

void moveToHost(std::uint8_t offload, double layer, double kept, double again, double gradients, StageMemory& stage) {
    double host = 0;
    const auto leave = [&](Bytes& held, double stays) {
        host += held.value;
        held = Bytes(std::min(held.value, stays));
    };
    if ((offload & OffloadOptimizer) != 0) leave(stage.optimizer, 0), host += gradients;
    if ((offload & OffloadWeights) != 0) leave(stage.parameters, 2 * layer);
    if ((offload & OffloadActivations) != 0) {
        leave(stage.activations, 2 * kept + again);
        host -= std::min(host, again);
    }
    stage.host = Bytes(host);
}

std::int64_t mostKept(const TrainingProgram& program, std::int64_t stage) {
    const auto steps = scheduleOf(program.plan, stage, program.microbatches);
    std::int64_t kept = 0, most = 0;
    if (steps)
        for (const ScheduleStep& step : *steps) most = std::max(most, kept += step.kept());
    return most;
}

double layerActivations(const TrainingProgram& program, const ShardedWorkload& sharded, const TrainingStep& step,
                        const MemoryUse& whole) {
    const bool blocks = hasBlocks(program);
    double layers = 0;
    for (const ChunkProgram& chunk : program.chunks) layers += layersSharing(program, chunk, blocks);
    return layers > 0 ? std::max(0.0, whole.activations.value - dropped(sharded, program.plan, step)) / layers : 0;
}

std::vector<StageMemory> stageMemories(const TrainingProgram& program, const ShardedWorkload& sharded,
                                       const TrainingStep& step, const MemoryUse& whole) {
    const Plan& plan = program.plan;
    const auto holders = [&](ProgramGroup group) { return static_cast<double>(membersOf(group, plan, 0).size()); };
    const double copies = holders(ProgramGroup::Gradients),
                 expertCopies = expertsAcrossCopies(plan) ? holders(ProgramGroup::ExpertGradients) : copies;
    double weights = 0;
    for (const ChunkProgram& chunk : program.chunks)
        for (const std::int32_t l : chunk.layers) weights += program.layers[static_cast<std::size_t>(l)].parameterBytes;
    const bool blocks = hasBlocks(program);
    const auto sharing = [&](const ChunkProgram& chunk) { return layersSharing(program, chunk, blocks); };
    const double state = whole.weights.value - 2 * sharded.shard->totals.weightBytes;  // of the optimizer
    const double perLayer = layerActivations(program, sharded, step, whole);
    double input = 0;
    for (const LayerProgram& layer : program.layers)
        if (!blocks || layer.repeated) input = std::max(input, layer.inputBytes);
    const std::int64_t chunksOfStage = chunksPerStage(plan);
    std::vector<StageMemory> stages;
    for (std::int64_t s = 0; s < plan.pipeline; ++s) {
        double mine = 0, trained = 0, experts = 0, count = 0, largest = 0;
        for (std::int64_t c = 0; c < chunksOfStage; ++c) {
            const ChunkProgram& chunk =
                program.chunks[static_cast<std::size_t>(chunkOf(plan, s, static_cast<std::int32_t>(c)))];
            count += sharing(chunk);
            for (const std::int32_t l : chunk.layers) {
                const LayerProgram& its = program.layers[static_cast<std::size_t>(l)];
                mine += its.parameterBytes;
                largest = std::max(largest, its.parameterBytes);
                trained += its.parameterBytes * its.trainedShare;
                experts += its.parameterBytes * its.expertShare;
            }
        }
        const double share = weights > 0 ? trained / weights : 1;
        // What is left of it where those who hold the same share it.
        const double divided = mine > 0 ? ((mine - experts) / copies + experts / expertCopies) / mine : 1;
        const double kept = static_cast<double>(mostKept(program, s)) * count / static_cast<double>(chunksOfStage);
        double activations = kept * perLayer;
        // Of every layer its input, and all of the one that is computed again.
        if (step.recompute == Recompute::Full) activations = kept * input + perLayer;
        stages.push_back({Bytes(mine * (plan.zero >= 3 ? divided : 1)), Bytes(trained * (plan.zero >= 2 ? divided : 1)),
                          Bytes(state * share * (plan.zero >= 1 ? divided : 1)), Bytes(activations)});
        const bool full = step.recompute == Recompute::Full;
        moveToHost(plan.offload, largest * (plan.zero >= 3 ? divided : 1), full ? input : perLayer, full ? perLayer : 0,
                   trained * (plan.zero >= 1 ? divided : 1) * program.host.gradientBytes, stages.back());
    }
    return stages;
}

MemoryUse mostMemory(const std::vector<StageMemory>& stages, const MemoryUse& whole) {
    MemoryUse most = whole;
    most.weights = most.activations = Bytes(0);
    for (const StageMemory& stage : stages) {
        if (stage.total() <= most.weights + most.activations) continue;
        most.weights = stage.parameters + stage.gradients + stage.optimizer;
        most.activations = stage.activations;
    }
    return most;
}

}  // namespace orrery
