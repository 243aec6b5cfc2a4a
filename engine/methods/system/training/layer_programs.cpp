#include "methods/system/training/layer_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace orrery {

namespace {

/// Operators of the graph that are executed as often as each other, in a row.
struct Block {
    std::size_t begin = 0, end = 0;
    std::int64_t repeat = 1;
};

std::vector<Block> blocksOf(const Graph& graph) {
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        const std::int64_t repeat = std::max<std::int64_t>(1, graph.operators[i].repeat);
        // Operators that are not repeated stand for themselves: their gradients go when they are done.
        if (blocks.empty() || blocks.back().repeat != repeat || repeat == 1) blocks.push_back({i, i, repeat});
        blocks.back().end = i + 1;
    }
    return blocks;
}

std::optional<TraceCollective> traced(CollectiveOp op) {
    switch (op) {
        case CollectiveOp::AllReduce:
            return TraceCollective::AllReduce;
        case CollectiveOp::AllGather:
            return TraceCollective::AllGather;
        case CollectiveOp::ReduceScatter:
            return TraceCollective::ReduceScatter;
        case CollectiveOp::AllToAll:
            return TraceCollective::AllToAll;
        default:
            return std::nullopt;
    }
}

class LayerPrograms {
public:
    LayerPrograms(const ShardedWorkload& sharded, const OperatorEstimates& operators, const Plan& plan,
                  const TrainingStep& step, SelectiveForm selective)
        : sharded_(sharded),
          graph_(sharded.shard->graph),
          ops_(operators),
          plan_(plan),
          step_(step),
          selective_(selective) {
        for (const ShardedCall& call : sharded.calls) {
            if (call.group == ShardedCall::Group::Pipeline) continue;
            // Cross entropy over a divided vocabulary sends three numbers a token, not the logits (Shoeybi et al.
            // 2019).
            if (call.what == "logits") continue;
            callsAfter_[static_cast<std::size_t>(call.op)].push_back(&call);
        }
    }

    LayerProgram layer(const Block& block) {
        LayerProgram made;
        made.name = nameOf(block);
        const auto times = static_cast<double>(block.repeat);
        double computed = 0;
        std::vector<ProgramPiece> reversed;
        double back = 0, again = 0, adapters = 0;
        int products = 0;
        for (std::size_t i = block.begin; i < block.end; ++i) {
            const double share = shareOf(i) * crowded(i);
            double forward = at(ops_.forwardSeconds, i) * share / times;
            double backward =
                (ops_.seconds[i] - at(ops_.forwardSeconds, i) - at(ops_.updateSeconds, i)) * share / times;
            // Of a product's two backward products one makes the gradient of its weights.
            double ofWeights = holdsWeights(i) ? backward / 2 : 0;
            if (step_.lora > 0) {
                const Adapter beside = block.repeat > 1 ? adapterOf(i) : Adapter{};
                adapters += beside.bytes;
                backward += (beside.work * 2 * ofWeights) - ofWeights;
                ofWeights *= beside.work;
                forward *= 1 + beside.work;
            }
            computed += forward;
            back += backward;
            made.weightGradientSeconds += ofWeights;
            if (step_.recompute == Recompute::Selective && droppedSelectively(i, block, products)) again += forward;
            const auto calls = callsAfter_.find(i);
            if (calls == callsAfter_.end()) continue;
            for (const ShardedCall* call : calls->second) {
                // Gradients of the same activations are summed where the operators since the last exchange begin.
                reversed.push_back(piece(*call, back + again));
                back = again = 0;
                if (call->backward) continue;
                made.forward.push_back(piece(*call, computed));
                computed = 0;
            }
        }
        if (computed > 0) made.forward.push_back({computed});
        if (step_.recompute == Recompute::Full && block.repeat > 1) made.backward = made.forward;
        if (back + again > 0) made.backward.push_back({back + again});
        made.backward.insert(made.backward.end(), reversed.rbegin(), reversed.rend());
        made.repeated = block.repeat > 1;
        made.inputBytes = inputOf(block);
        double experts = 0;
        made.parameterBytes = weightsOf(block, experts);
        if (step_.lora > 0) {
            made.parameterBytes += adapters;
            made.trainedShare = made.parameterBytes > 0 ? adapters / made.parameterBytes : 0;
        }
        made.gradientBytes = made.parameterBytes * made.trainedShare;
        if (made.parameterBytes > 0) made.expertShare = experts / made.parameterBytes;
        return made;
    }

    /// Of weights that stand both in front of the repeated blocks and behind them, B.
    double tied(std::size_t frontEnd, std::size_t behindBegin) const {
        std::vector<bool> early(graph_.tensors.size(), false), late = early;
        const auto mark = [&](std::size_t begin, std::size_t end, std::vector<bool>& where) {
            for (std::size_t i = begin; i < end; ++i)
                for (const TensorId id : graph_.operators[i].inputs) where[static_cast<std::size_t>(id)] = true;
        };
        mark(0, frontEnd, early);
        mark(behindBegin, graph_.operators.size(), late);
        double bytes = 0;
        for (std::size_t t = 0; t < early.size(); ++t) {
            const Tensor* tensor = early[t] && late[t] ? graph_.tensor(static_cast<TensorId>(t)) : nullptr;
            if (tensor && tensor->role == TensorRole::Weight) bytes += tensor->bytes().value;
        }
        return bytes;
    }

private:
    static double at(const std::vector<double>& column, std::size_t i) { return i < column.size() ? column[i] : 0; }

    bool holdsWeights(std::size_t i) const {
        const Operator& op = graph_.operators[i];
        if (op.kind != OperatorKind::MatMul && op.kind != OperatorKind::Conv) return false;
        return std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId id) {
            const Tensor* tensor = graph_.tensor(id);
            return tensor && tensor->role == TensorRole::Weight;
        });
    }

    // Two products of rank r beside one of K × N: their size and work over its own (Hu et al. 2022). Routers and
    // experts have none.
    struct Adapter {
        double bytes = 0, work = 0;
    };
    Adapter adapterOf(std::size_t i) const {
        const Operator& op = graph_.operators[i];
        if (!holdsWeights(i) || op.type == "GroupedMatMul" || op.name.ends_with("router")) return {};
        for (const TensorId id : op.inputs) {
            const Tensor* tensor = graph_.tensor(id);
            if (!tensor || tensor->role != TensorRole::Weight || tensor->shape.size() < 2) continue;
            const auto k = static_cast<double>(tensor->shape[tensor->shape.size() - 2].value),
                       n = static_cast<double>(tensor->shape.back().value);
            if (k <= 0 || n <= 0) return {};
            // Products that are launched as one have adapters of their own.
            const double parts = op.name.ends_with("qkv_proj") ? 3 : op.name.ends_with("gate_up_proj") ? 2 : 1;
            const double elements = static_cast<double>(step_.lora) * (parts * k + n);
            return {elements * std::max(16, bits(tensor->type)) / 8.0, elements / (k * n)};
        }
        return {};
    }

    // Norms and residual sums are done whole by every device of a tensor-parallel group, or each does its positions.
    double shareOf(std::size_t i) const {
        if (plan_.sequence == 0 || plan_.tensor < 2) return 1;
        const Operator& op = graph_.operators[i];
        const bool whole = op.kind == OperatorKind::Normalization || op.type == "Residual";
        return whole ? 1.0 / static_cast<double>(plan_.tensor) : 1;
    }
    // The busiest device of experts keeps the others waiting, layer by layer.
    double crowded(std::size_t i) const {
        return plan_.expert > 1 && graph_.operators[i].name.find("experts.") != std::string::npos ? step_.imbalance : 1;
    }
    ProgramPiece piece(const ShardedCall& call, double seconds) const {
        ProgramPiece made;
        made.seconds = seconds;
        made.group = call.group == ShardedCall::Group::Tensor    ? ProgramGroup::Tensor
                     : call.group == ShardedCall::Group::Experts ? ProgramGroup::Experts
                                                                 : ProgramGroup::Context;
        const auto op = traced(call.collective);
        if (!op) return made;
        made.op = *op;
        double bytes = call.bytes * (made.group == ProgramGroup::Experts ? step_.imbalance : 1);
        // A gathering is stated by all that it yields; a trace states the shard.
        if (*op == TraceCollective::AllGather)
            bytes /= static_cast<double>(
                std::max<std::int64_t>(1, made.group == ProgramGroup::Tensor ? plan_.tensor : plan_.context));
        made.bytes = static_cast<std::int64_t>(bytes);
        return made;
    }
    std::string nameOf(const Block& block) const {
        const Operator& first = graph_.operators[block.begin];
        if (block.repeat > 1) return "layer";
        return first.name;
    }
    // What the block before hands over; split by positions where the sequence is.
    double inputOf(const Block& block) const {
        for (const TensorId id : graph_.operators[block.begin].inputs) {
            const Tensor* tensor = graph_.tensor(id);
            if (tensor && tensor->role != TensorRole::Weight && tensor->role != TensorRole::Constant)
                return tensor->bytes().value / static_cast<double>(plan_.sequence != 0 ? plan_.tensor : 1);
        }
        return 0;
    }
    // Its weights, of one of its repetitions, and those of experts among them.
    double weightsOf(const Block& block, double& experts) {
        // What the first and the last stage share is there twice; on one stage it is there once.
        if (plan_.pipeline > 1) seen_.clear();
        seen_.resize(graph_.tensors.size(), false);
        double bytes = 0;
        for (std::size_t i = block.begin; i < block.end; ++i) {
            for (const TensorId id : graph_.operators[i].inputs) {
                const Tensor* tensor = graph_.tensor(id);
                if (!tensor || tensor->role != TensorRole::Weight || seen_[static_cast<std::size_t>(id)]) continue;
                seen_[static_cast<std::size_t>(id)] = true;
                bytes += tensor->bytes().value;
                if (graph_.operators[i].type == "GroupedMatMul") experts += tensor->bytes().value;
            }
        }
        return bytes;
    }

    bool droppedSelectively(std::size_t i, const Block& block, int& products) const {
        const bool attention = graph_.operators[i].attention.has_value();
        if (selective_ == SelectiveForm::Attention) return attention;
        if (attention || block.repeat < 2) return false;
        return !holdsWeights(i) || products++ % 2 == 1;
    }

    const ShardedWorkload& sharded_;
    const Graph& graph_;
    const OperatorEstimates& ops_;
    const Plan& plan_;
    const TrainingStep& step_;
    SelectiveForm selective_;
    std::map<std::size_t, std::vector<const ShardedCall*>> callsAfter_;
    std::vector<bool> seen_;  ///< weights, by tensor
};

}  // namespace

TrainingStep allOf(const TrainingStep& step) {
    return {.optimizer = step.optimizer, .accumulate = true};
}

Expected<std::vector<std::int64_t>> chunkBounds(const Plan& plan, std::int64_t dealt) {
    const std::int64_t chunks = plan.pipeline * plan.interleave;
    std::vector<std::int64_t> bounds{0};
    for (std::int64_t c = 1; c <= chunks; ++c)
        bounds.push_back(plan.layers.empty() ? c * dealt / chunks
                                             : bounds.back() + plan.layers[static_cast<std::size_t>(c - 1)]);
    if (bounds.back() != dealt)
        return fail("plan.layers", fmt::format("stages of {} layers in all, of a model with {}", bounds.back(), dealt),
                    fmt::format("numbers that add up to {}", dealt), "change `layers`, or leave it out",
                    Place{{}, 0, 0, "plan/layers"});
    return bounds;
}

std::vector<std::int64_t> layersBySpeed(std::int64_t layers, std::span<const double> seconds) {
    const auto stages = static_cast<std::int64_t>(seconds.size());
    double all = 0, before = 0;
    for (const double each : seconds) all += each > 0 ? 1 / each : 0;
    std::vector<std::int64_t> dealt;
    std::int64_t begin = 0;
    for (std::int64_t s = 0; s < stages; ++s) {
        const double its = seconds[static_cast<std::size_t>(s)];
        before += its > 0 ? 1 / its : 0;
        const double share = all > 0 ? before / all : static_cast<double>(s + 1) / static_cast<double>(stages);
        // Equal speeds give equal runs, however the sum is rounded; every stage has a layer.
        const auto to = static_cast<std::int64_t>(static_cast<double>(layers) * share + 1e-6);
        const std::int64_t end = std::clamp(to, begin + 1, layers - (stages - 1 - s));
        dealt.push_back(end - begin);
        begin = end;
    }
    return dealt;
}

std::int64_t dealtLayers(const TrainingProgram& program) {
    std::vector<std::int32_t> order;
    for (const ChunkProgram& chunk : program.chunks)
        order.insert(order.end(), chunk.layers.begin(), chunk.layers.end());
    const auto alone = [&](std::int32_t layer) { return !program.layers[static_cast<std::size_t>(layer)].repeated; };
    std::size_t front = 0, behind = 0;
    while (front < order.size() && alone(order[front])) ++front;
    while (behind < order.size() - front && alone(order[order.size() - 1 - behind])) ++behind;
    return static_cast<std::int64_t>(order.size() - front - behind);
}

double secondsOfLayer(const TrainingProgram& program) {
    double seconds = 0, layers = 0;
    const bool blocks =
        std::any_of(program.layers.begin(), program.layers.end(), [](const LayerProgram& its) { return its.repeated; });
    for (const ChunkProgram& chunk : program.chunks) {
        for (const std::int32_t l : chunk.layers) {
            const LayerProgram& its = program.layers[static_cast<std::size_t>(l)];
            if (blocks && !its.repeated) continue;
            layers += 1;
            for (const auto* pieces : {&its.forward, &its.backward})
                for (const ProgramPiece& piece : *pieces) seconds += piece.seconds;
        }
    }
    return layers > 0 ? seconds / layers : 0;
}

Expected<TrainingProgram> trainingProgram(const ShardedWorkload& sharded, const OperatorEstimates& operators,
                                          const Plan& plan, const TrainingStep& step, SelectiveForm selective) {
    TrainingProgram program;
    program.plan = plan;
    program.microbatches = sharded.microbatches;
    LayerPrograms layers(sharded, operators, plan, step, selective);
    const std::vector<Block> blocks = blocksOf(sharded.shard->graph);
    std::vector<std::int32_t> order;
    for (const Block& block : blocks) {
        program.layers.push_back(layers.layer(block));
        order.insert(order.end(), static_cast<std::size_t>(block.repeat),
                     static_cast<std::int32_t>(program.layers.size()) - 1);
    }
    if (step.lora > 0 && std::none_of(program.layers.begin(), program.layers.end(),
                                      [](const LayerProgram& its) { return its.gradientBytes > 0; }))
        return fail("training.lora", "no layer of this model takes adapters",
                    "a model with a block of layers that repeats and holds products with weights",
                    "take lora out of the task", Place{{}, 0, 0, "task/lora"});
    // What stands alone at either end goes with its neighbour.
    const auto alone = [&](std::int32_t layer) { return blocks[static_cast<std::size_t>(layer)].repeat == 1; };
    std::size_t front = 0, behind = 0;
    while (front < order.size() && alone(order[front])) ++front;
    while (behind < order.size() - front && alone(order[order.size() - 1 - behind])) ++behind;
    const auto dealt = static_cast<std::int64_t>(order.size() - front - behind);
    if (plan.pipeline > 1 && step.lora == 0 && dealt > 0)
        program.tiedBytes = layers.tied(blocks[static_cast<std::size_t>(order[front])].begin,
                                        blocks[static_cast<std::size_t>(order[order.size() - behind - 1])].end);
    const std::int64_t chunks = plan.pipeline * plan.interleave;
    if (chunks > 1 && dealt < chunks)
        return fail("plan.pipeline",
                    fmt::format("{} layers do not fill {} chunks of {} stages", dealt, chunks, plan.pipeline),
                    "at least one layer for each", "lower pp or vp", Place{{}, 0, 0, "plan/pipeline"});
    const auto bounds = chunkBounds(plan, dealt);
    if (!bounds) return Unexpected(bounds.error());
    program.chunks.resize(static_cast<std::size_t>(chunks));
    for (std::int64_t c = 0; c < chunks; ++c) {
        auto& its = program.chunks[static_cast<std::size_t>(c)].layers;
        std::int64_t begin = (*bounds)[static_cast<std::size_t>(c)] + static_cast<std::int64_t>(front),
                     end = (*bounds)[static_cast<std::size_t>(c) + 1] + static_cast<std::int64_t>(front);
        if (c == 0) begin = 0;
        if (c + 1 == chunks) end = static_cast<std::int64_t>(order.size());
        its.assign(order.begin() + begin, order.begin() + end);
    }
    double update = 0, weights = 0;
    for (const double seconds : operators.updateSeconds) update += seconds;
    for (const std::int32_t l : order) weights += program.layers[static_cast<std::size_t>(l)].parameterBytes;
    program.optimizerSeconds.assign(static_cast<std::size_t>(plan.pipeline), 0.0);
    for (std::int64_t s = 0; s < plan.pipeline && weights > 0; ++s)
        for (std::int64_t c = 0; c < chunksPerStage(plan); ++c)
            for (const std::int32_t l :
                 program.chunks[static_cast<std::size_t>(chunkOf(plan, s, static_cast<std::int32_t>(c)))].layers)
                program.optimizerSeconds[static_cast<std::size_t>(s)] +=
                    update * program.layers[static_cast<std::size_t>(l)].parameterBytes *
                    program.layers[static_cast<std::size_t>(l)].trainedShare / weights;
    for (const ShardedCall& call : sharded.calls)
        if (call.group == ShardedCall::Group::Pipeline) program.stageBytes = static_cast<std::int64_t>(call.bytes);
    // Tensor-parallel devices each send their part of a stage's activations where the sequence is split.
    if (plan.sequence != 0) program.stageBytes /= plan.tensor;
    constexpr std::int64_t bucket = 25 << 20;  // PyTorch's DistributedDataParallel, bucket_cap_mb
    program.bucketBytes = bucket;
    return program;
}

}  // namespace orrery
