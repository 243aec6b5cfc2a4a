#include "methods/system/training/training_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace orrery {

namespace {

constexpr std::uint64_t nothing = ~0ULL;

/// Writes the trace of one stage: its device computes in the order of the schedule; exchanges inside a layer stand in
/// the way of what comes next, gradients do not.
class StageTrace {
public:
    StageTrace(const TrainingProgram& program, std::int64_t stage)
        : program_(program), plan_(program.plan), stage_(stage) {}

    Expected<ExecutionTrace> make() {
        auto steps = oneForwardOneBackward(stage_, plan_.pipeline, plan_.interleave, program_.microbatches);
        if (!steps) return Unexpected(std::move(steps.error()));
        for (const ScheduleStep& step : *steps) {
            turn_ = turn_ / 2 * 2 + 2 + (step.forward ? 0 : 1);
            step.forward ? forward(step) : backward(step);
        }
        turn_ = 0;
        finish();
        return builder_.finish(fmt::format("stage {}", stage_));
    }

private:
    std::int64_t chunkOf(const ScheduleStep& step) const { return step.chunk * plan_.pipeline + stage_; }
    std::int64_t chunks() const { return static_cast<std::int64_t>(program_.chunks.size()); }
    std::int64_t perStage() const { return plan_.tensor * plan_.context * plan_.data; }
    std::int64_t copies() const { return plan_.data * plan_.context; }
    const LayerProgram& layer(std::int32_t index) const { return program_.layers[static_cast<std::size_t>(index)]; }

    std::uint64_t add(TraceNode node, std::string_view name, std::initializer_list<std::uint64_t> waits) {
        node.id = next_++;
        waits_.clear();
        for (const std::uint64_t id : waits)
            if (id != nothing) waits_.push_back(id);
        builder_.add(node, name, waits_);
        return node.id;
    }
    void compute(double seconds, std::string_view name) {
        if (seconds <= 0) return;
        TraceNode node;
        node.work = TraceWork::Compute;
        node.microseconds = seconds * 1e6;
        node.tag = turn_;
        last_ = add(node, name, {last_, arrived_, weights_});
        arrived_ = weights_ = nothing;
    }
    std::uint64_t exchange(TraceCollective op, ProgramGroup group, std::int64_t bytes, std::string_view name,
                           std::initializer_list<std::uint64_t> waits) {
        TraceNode node;
        node.work = TraceWork::Collective;
        node.collective = op;
        node.bytes = bytes;
        node.group = builder_.groupNamed(fmt::format("{} {}", toText(group), stage_));
        return add(node, name, waits);
    }
    std::int64_t sizeOf(ProgramGroup group) const {
        return group == ProgramGroup::Tensor ? plan_.tensor : group == ProgramGroup::Context ? plan_.context : copies();
    }
    void pieces(const std::vector<ProgramPiece>& list, std::string_view name) {
        for (const ProgramPiece& piece : list) {
            compute(piece.seconds, name);
            if (piece.bytes <= 0 || sizeOf(piece.group) < 2) continue;
            last_ = exchange(piece.op, piece.group, piece.bytes, name, {last_, arrived_});
            arrived_ = nothing;
        }
    }
    // Divided weights are gathered while the layer before is computed.
    void gatherWeights(const LayerProgram& its) {
        if (plan_.zero < 3 || copies() < 2) return;
        const auto share = static_cast<std::int64_t>(its.parameterBytes / static_cast<double>(copies()));
        const std::uint64_t before = layerBegan_;
        layerBegan_ = last_;
        if (share > 0)
            weights_ = exchange(TraceCollective::AllGather, ProgramGroup::Gradients, share, "weights", {before});
    }
    // A micro-batch comes from or goes to the stage that has the chunk before or behind.
    void message(TraceWork work, std::int64_t chunk, std::int64_t other, const ScheduleStep& step, bool forward) {
        const std::int64_t peer = other % plan_.pipeline;
        if (peer == stage_) return;  // another chunk of the same device
        TraceNode node;
        node.work = work;
        node.bytes = program_.stageBytes;
        node.peer = static_cast<std::int32_t>(peer * perStage());
        const std::int64_t edge = std::min(chunk, other);
        node.tag = static_cast<std::int32_t>((edge * program_.microbatches + step.microbatch) * 2 + (forward ? 0 : 1));
        if (work == TraceWork::Receive)
            arrived_ = add(node, forward ? "activations come" : "gradients come", {});
        else
            add(node, forward ? "activations go" : "gradients go", {last_});
    }
    void forward(const ScheduleStep& step) {
        const std::int64_t chunk = chunkOf(step);
        if (chunk > 0) message(TraceWork::Receive, chunk, chunk - 1, step, true);
        for (const std::int32_t l : program_.chunks[static_cast<std::size_t>(chunk)].layers) {
            gatherWeights(layer(l));
            pieces(layer(l).forward, layer(l).name);
        }
        if (chunk + 1 < chunks()) message(TraceWork::Send, chunk, chunk + 1, step, true);
    }
    void backward(const ScheduleStep& step) {
        const std::int64_t chunk = chunkOf(step);
        if (chunk + 1 < chunks()) message(TraceWork::Receive, chunk, chunk + 1, step, false);
        const auto& layers = program_.chunks[static_cast<std::size_t>(chunk)].layers;
        const bool last = step.microbatch + 1 == program_.microbatches;
        double bucket = 0;
        for (auto l = layers.rbegin(); l != layers.rend(); ++l) {
            gatherWeights(layer(*l));
            pieces(layer(*l).backward, layer(*l).name);
            if (!(last || plan_.zero >= 2) || copies() < 2) continue;
            bucket += layer(*l).gradientBytes;
            if (bucket < static_cast<double>(program_.bucketBytes) && l + 1 != layers.rend()) continue;
            if (bucket >= 1) gradients(bucket);
            bucket = 0;
        }
        if (chunk > 0) message(TraceWork::Send, chunk, chunk - 1, step, false);
    }
    void gradients(double bytes) {
        const bool sharded = plan_.zero > 0;
        gradients_.push_back(exchange(sharded ? TraceCollective::ReduceScatter : TraceCollective::AllReduce,
                                      ProgramGroup::Gradients, static_cast<std::int64_t>(bytes), "gradients", {last_}));
    }
    void finish() {
        std::vector<std::uint64_t> waits = gradients_;
        if (last_ != nothing) waits.push_back(last_);
        TraceNode node;
        node.work = TraceWork::Compute;
        node.microseconds = program_.optimizerSeconds[static_cast<std::size_t>(stage_)] * 1e6 /
                            (plan_.zero > 0 ? static_cast<double>(copies()) : 1.0);
        node.id = next_++;
        if (node.microseconds > 0) builder_.add(node, "optimizer", waits);
        if (plan_.zero < 1 || plan_.zero > 2 || copies() < 2) return;
        // Each copy has updated its share of the parameters.
        double bytes = 0;
        for (std::int64_t c = stage_; c < chunks(); c += plan_.pipeline)
            for (const std::int32_t l : program_.chunks[static_cast<std::size_t>(c)].layers)
                bytes += layer(l).parameterBytes;
        exchange(TraceCollective::AllGather, ProgramGroup::Gradients,
                 static_cast<std::int64_t>(bytes / static_cast<double>(copies())), "parameters",
                 {node.microseconds > 0 ? node.id : last_});
    }

    const TrainingProgram& program_;
    const Plan& plan_;
    std::int64_t stage_;
    TraceBuilder builder_;
    std::vector<std::uint64_t> waits_, gradients_;
    std::int32_t turn_ = 0;  ///< of computations: even forwards, odd backwards; 0: the optimizer
    std::uint64_t next_ = 1, last_ = nothing, arrived_ = nothing;
    std::uint64_t weights_ = nothing, layerBegan_ = nothing;
};

/// Nodes of the traces of all stages, about: a computation and an exchange a piece, and what each layer gathers and
/// sends besides.
double nodesOf(const TrainingProgram& program) {
    double nodes = 0;
    for (const ChunkProgram& chunk : program.chunks) {
        nodes += 4;
        for (const std::int32_t l : chunk.layers) {
            const LayerProgram& its = program.layers[static_cast<std::size_t>(l)];
            nodes += static_cast<double>(2 * (its.forward.size() + its.backward.size()) + 3);
        }
    }
    return nodes * static_cast<double>(program.microbatches);
}

/// `copies` of the traces must fit into memory: 2^24 nodes take 2 GB.
Expected<void> fits(const TrainingProgram& program, std::int64_t copies) {
    constexpr double most = 1 << 24;
    const double nodes = nodesOf(program) * static_cast<double>(copies);
    if (nodes <= most) return {};
    return fail(
        "training.large",
        fmt::format("{} micro-batches make traces of about {:.0f} million nodes", program.microbatches, nodes / 1e6),
        fmt::format("at most {:.0f} million", most / 1e6), "take fewer micro-batches: lower mb",
        Place{.path = "plan/microbatches"});
}

}  // namespace

Expected<ClusterJob> trainingJob(const TrainingProgram& program, std::int64_t drawn) {
    if (auto good = fits(program, 1); !good) return Unexpected(std::move(good.error()));
    const Plan& plan = program.plan;
    const std::int64_t stages = plan.pipeline, perStage = plan.tensor * plan.context * plan.data;
    ClusterJob job;
    for (std::int64_t s = 0; s < stages; ++s) {
        auto trace = StageTrace(program, s).make();
        if (!trace) return Unexpected(std::move(trace.error()));
        job.traces.push_back(std::make_shared<const ExecutionTrace>(std::move(*trace)));
        const auto first = static_cast<std::int32_t>(s * perStage);
        const auto group = [&](ProgramGroup kind, std::int64_t size, std::int64_t stride) {
            if (size < 2) return;
            RankGroup made;
            made.name = fmt::format("{} {}", toText(kind), s);
            for (std::int64_t m = 0; m < size; ++m)
                made.members.push_back(first + static_cast<std::int32_t>(m * stride));
            job.groups.push_back(std::move(made));
        };
        group(ProgramGroup::Tensor, plan.tensor, 1);
        group(ProgramGroup::Context, plan.context, plan.tensor);
        group(ProgramGroup::Gradients, plan.data * plan.context, plan.tensor);
    }
    const std::int64_t devices = std::max(drawn, stages * perStage);
    for (std::int64_t r = 0; r < devices; ++r)
        job.slotOf.push_back(static_cast<std::int32_t>(std::min(r / perStage, stages)));
    if (devices > stages * perStage) job.traces.push_back(std::make_shared<const ExecutionTrace>());
    return job;
}

Expected<ClusterJob> everyRank(const TrainingProgram& program) {
    const Plan& plan = program.plan;
    const std::int64_t perStage = plan.tensor * plan.context * plan.data;
    if (auto good = fits(program, perStage); !good) return Unexpected(std::move(good.error()));
    const auto folded = trainingJob(program);
    if (!folded) return folded;
    ClusterJob job;
    std::map<std::string, bool> known;
    for (std::int64_t r = 0; r < plan.pipeline * perStage; ++r) {
        const std::int64_t stage = r / perStage, within = r % perStage;
        ExecutionTrace trace = *folded->traces[static_cast<std::size_t>(stage)];
        for (TraceNode& node : trace.nodes)
            if (node.peer >= 0) node.peer += static_cast<std::int32_t>(within);
        for (std::string& name : trace.groups) {
            const bool tensor = name.starts_with(toText(ProgramGroup::Tensor)),
                       context = name.starts_with(toText(ProgramGroup::Context));
            const std::int64_t stride = tensor ? 1 : plan.tensor;
            const std::int64_t size = tensor ? plan.tensor : context ? plan.context : plan.data * plan.context;
            const std::int64_t first = r - within / stride % size * stride;
            name = fmt::format("{} from {}", name, first);
            if (!known.emplace(name, true).second) continue;
            RankGroup group;
            group.name = name;
            for (std::int64_t m = 0; m < size; ++m)
                group.members.push_back(static_cast<std::int32_t>(first + m * stride));
            job.groups.push_back(std::move(group));
        }
        job.traces.push_back(std::make_shared<const ExecutionTrace>(std::move(trace)));
    }
    return job;
}

}  // namespace orrery
