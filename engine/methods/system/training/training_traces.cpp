#include "methods/system/training/training_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace orrery {

namespace {

constexpr std::uint64_t nothing = ~0ULL;

std::string nameOf(ProgramGroup group, std::int64_t stage) {
    return fmt::format("{} {}", toText(group), stage);
}

/// Writes the trace of one stage: its device computes in the order of the schedule; exchanges inside a layer stand in
/// the way of what comes next, gradients do not.
class StageTrace {
public:
    StageTrace(const TrainingProgram& program, std::int64_t stage)
        : program_(program), plan_(program.plan), stage_(stage) {}

    Expected<ExecutionTrace> make() {
        auto steps = scheduleOf(plan_, stage_, program_.microbatches);
        if (!steps) return Unexpected(std::move(steps.error()));
        for (std::size_t i = 0; i < steps->size(); ++i) {
            const ScheduleStep& step = (*steps)[i];
            turn_ = turn_ / 2 * 2 + 2 + (step.forward ? 0 : 1);
            const std::uint64_t before = last_;
            if (step.beside) last_ = turnBegan_;
            turnBegan_ = last_;
            step.forward ? forward(step) : backward(step);
            // Turns beside each other take bits of either in turn, and end together.
            if (i + 1 < steps->size() && (*steps)[i + 1].beside) continue;
            if (step.beside) {
                alsoLast_ = before;
                handOver((*steps)[i - 1]);
            }
            handOver(step);
        }
        turn_ = 0;
        finish();
        return builder_.finish(fmt::format("stage {}", stage_));
    }

private:
    std::int64_t chunks() const { return static_cast<std::int64_t>(program_.chunks.size()); }
    double slowness() const {
        return program_.slowness.empty() ? 1 : program_.slowness[static_cast<std::size_t>(stage_)];
    }
    std::int64_t perStage() const { return plan_.tensor * plan_.context * plan_.data; }
    bool bothEnds() const { return plan_.schedule == PipelineSchedule::DualPipe; }
    const LayerProgram& layer(std::int32_t index) const { return program_.layers[static_cast<std::size_t>(index)]; }
    const std::vector<std::int32_t>& layersOf(std::int64_t chunk) const {
        return program_.chunks[static_cast<std::size_t>(chunk)].layers;
    }
    /// Devices that hold the same weights, or the same experts.
    std::int64_t holders(ProgramGroup group) const {
        return static_cast<std::int64_t>(membersOf(group, plan_, stage_ * perStage()).size());
    }
    std::string groupName(ProgramGroup group) const {
        const bool pair = bothEnds() && (group == ProgramGroup::Gradients || group == ProgramGroup::ExpertGradients);
        if (group == ProgramGroup::Ends) return nameOf(group, 0);
        return nameOf(group, pair ? std::min(stage_, plan_.pipeline - 1 - stage_) : stage_);
    }

    std::uint64_t add(TraceNode node, std::string_view name, std::initializer_list<std::uint64_t> waits) {
        node.id = next_++;
        waits_.clear();
        if (behind_ != nothing) waits_.push_back(behind_);
        for (const std::uint64_t id : waits)
            if (id != nothing) waits_.push_back(id);
        builder_.add(node, name, waits_);
        return node.id;
    }
    void compute(double seconds, std::string_view name) {
        if (seconds <= 0) return;
        TraceNode node;
        node.work = TraceWork::Compute;
        node.microseconds = seconds * 1e6 * slowness();
        node.tag = turn_;
        last_ = add(node, name, {last_, alsoLast_, arrived_, weights_});
        arrived_ = weights_ = alsoLast_ = nothing;
    }
    std::uint64_t exchange(TraceCollective op, ProgramGroup group, std::int64_t bytes, std::string_view name,
                           std::initializer_list<std::uint64_t> waits) {
        TraceNode node;
        node.work = TraceWork::Collective;
        node.collective = op;
        node.bytes = bytes;
        node.group = builder_.groupNamed(groupName(group));
        if (!program_.inOrder || group != ProgramGroup::Gradients) return add(node, name, waits);
        behind_ = ordered_;
        ordered_ = add(node, name, waits);
        behind_ = nothing;
        return ordered_;
    }
    void pieces(const std::vector<ProgramPiece>& list, double share, std::string_view name) {
        for (const ProgramPiece& piece : list) {
            compute(piece.seconds * share, name);
            if (piece.bytes <= 0 || holders(piece.group) < 2) continue;
            last_ = exchange(piece.op, piece.group, piece.bytes, name, {last_, alsoLast_, arrived_});
            arrived_ = alsoLast_ = nothing;
        }
    }
    bool offloads(OffloadPart part) const { return program_.host.link > 0 && (plan_.offload & part) != 0; }
    // Between a device and its host one thing at a time.
    std::uint64_t copy(TraceWork work, double bytes, std::string_view name,
                       std::initializer_list<std::uint64_t> waits) {
        TraceNode node;
        node.work = work;
        node.tensorBytes = bytes;
        return add(node, name, waits);
    }
    // What is not there yet comes while the layer before is computed: weights from the host and from those who share
    // them, and backwards (`kept`: who took them down) the activations.
    void fetch(const LayerProgram& its, const std::uint64_t* kept) {
        const bool fromHost = offloads(OffloadWeights) && its.parameterBytes >= 1;
        if (plan_.zero < 3 && !fromHost && !kept) return;
        const std::uint64_t before = layerBegan_;
        layerBegan_ = last_;
        if (fromHost)
            weights_ = copy(TraceWork::Load, its.parameterBytes * updated(its.expertShare), "weights come",
                            {before, weights_});
        if (kept) weights_ = copy(TraceWork::Load, its.keptBytes, "activations come", {before, weights_, *kept});
        if (plan_.zero < 3) return;
        eachDivided(its.parameterBytes, its.expertShare, [&](ProgramGroup group, double bytes) {
            weights_ = exchange(TraceCollective::AllGather, group, static_cast<std::int64_t>(bytes), "weights",
                                {before, weights_});
        });
        sendPutOff();
    }
    // Of what holders of the same weights share among them: the group and each one's part.
    template <class Use>
    void eachShare(double bytes, double experts, const Use& use) const {
        const bool apart = expertsAcrossCopies(plan_);
        for (const ProgramGroup group : {ProgramGroup::Gradients, ProgramGroup::ExpertGradients}) {
            if (group == ProgramGroup::ExpertGradients && !apart) continue;
            const std::int64_t sharing = holders(group);
            const double its = !apart                             ? bytes
                               : group == ProgramGroup::Gradients ? bytes * (1 - experts)
                                                                  : bytes * experts;
            if (its >= static_cast<double>(sharing)) use(group, its / static_cast<double>(sharing));
        }
    }
    // The same, where there are others to gather from or to scatter to.
    template <class Use>
    void eachDivided(double bytes, double experts, const Use& use) const {
        eachShare(bytes, experts, [&](ProgramGroup group, double share) {
            if (holders(group) > 1) use(group, share);
        });
    }
    // A micro-batch comes from or goes to the stage that has the chunk before or behind.
    void message(TraceWork work, std::int64_t chunk, std::int64_t other, const ScheduleStep& step, bool forward) {
        const std::int64_t peer = stageOf(plan_, other, step.chunk);
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
            add(node, forward ? "activations go" : "gradients go", {last_, alsoLast_});
    }
    void forward(const ScheduleStep& step) {
        const std::int64_t chunk = chunkOf(plan_, stage_, step.chunk);
        if (chunk > 0) message(TraceWork::Receive, chunk, chunk - 1, step, true);
        for (std::size_t i = 0; i < layersOf(chunk).size(); ++i) {
            const LayerProgram& its = layer(layersOf(chunk)[i]);
            fetch(its, nullptr);
            pieces(its.forward, 1, its.name);
            if (offloads(OffloadActivations) && its.keptBytes >= 1)
                kept_[{chunk, step.microbatch, i}] = copy(TraceWork::Store, its.keptBytes, "activations go", {last_});
        }
    }
    void handOver(const ScheduleStep& step) {
        const std::int64_t chunk = chunkOf(plan_, stage_, step.chunk);
        if (step.forward && chunk + 1 < chunks()) message(TraceWork::Send, chunk, chunk + 1, step, true);
        if (!step.forward && step.gradients != TurnGradients::Weights && chunk > 0)
            message(TraceWork::Send, chunk, chunk - 1, step, false);
    }
    void backward(const ScheduleStep& step) {
        const std::int64_t chunk = chunkOf(plan_, stage_, step.chunk);
        const bool inputs = step.gradients != TurnGradients::Weights, all = step.gradients == TurnGradients::All;
        if (inputs && chunk + 1 < chunks()) message(TraceWork::Receive, chunk, chunk + 1, step, false);
        const bool weighs = step.gradients != TurnGradients::Inputs;
        const auto& layers = layersOf(chunk);
        for (auto l = layers.rbegin(); l != layers.rend(); ++l) {
            const LayerProgram& its = layer(*l);
            if (inputs) {
                const auto kept = kept_.find({chunk, step.microbatch, static_cast<std::size_t>(layers.rend() - l) - 1});
                fetch(its, kept == kept_.end() ? nullptr : &kept->second);
                if (kept != kept_.end()) kept_.erase(kept);
                pieces(its.backward, all ? 1 : 1 - waiting(its), its.name);
            } else {
                compute(its.weightGradientSeconds, its.name);
            }
            if (weighs) collectGradients(step, its, l + 1 == layers.rend());
        }
    }
    /// Share of a backward pass that makes gradients of weights.
    static double waiting(const LayerProgram& its) {
        double sum = 0;
        for (const ProgramPiece& piece : its.backward) sum += piece.seconds;
        return sum > 0 ? std::min(1.0, its.weightGradientSeconds / sum) : 0;
    }
    // Gradients go when the last micro-batch has added to them, a bucket at a time. The stages of a pair end in
    // different orders: theirs go when all is done.
    void collectGradients(const ScheduleStep& step, const LayerProgram& its, bool ends) {
        const std::int64_t last = plan_.schedule == PipelineSchedule::GPipe ? 0 : program_.microbatches - 1;
        if (bothEnds() || (step.microbatch != last && plan_.zero < 2)) return;
        bucket_.add(its);
        if (!ends && bucket_.bytes < static_cast<double>(program_.bucketBytes)) return;
        if (!program_.inOrder || plan_.zero < 3) return sendBucket(step.microbatch == last);
        // Weights that the next layer waits for go first.
        sendPutOff();
        putOff_ = {bucket_, step.microbatch == last, last_};
        bucket_ = {};
    }
    void sendPutOff() {
        if (putOff_.bucket.bytes <= 0) return;
        const Held now = std::exchange(bucket_, putOff_.bucket);
        const std::uint64_t at = std::exchange(last_, putOff_.after);
        const bool whole = putOff_.whole;
        putOff_ = {};
        sendBucket(whole);
        bucket_ = now;
        last_ = at;
    }
    // Sets of copies add up their shares when these are whole (FSDP2: set_requires_all_reduce()).
    void sendBucket(bool whole) {
        eachShare(bucket_.bytes, bucket_.share(), [&](ProgramGroup group, double bytes) {
            const std::int64_t sharing = holders(group);
            std::uint64_t its = nothing;
            if (sharing > 1) {
                const bool divided = plan_.zero > 0;
                its = exchange(divided ? TraceCollective::ReduceScatter : TraceCollective::AllReduce, group,
                               static_cast<std::int64_t>(bytes * static_cast<double>(sharing)), "gradients",
                               {last_, alsoLast_});
            }
            if (whole && plan_.replicas() > 1)
                its = its == nothing ? allReduce(bytes, {last_, alsoLast_}) : allReduce(bytes, {its});
            if (whole && offloads(OffloadOptimizer)) {
                const double part = bytes * (plan_.zero > 0 ? 1 : static_cast<double>(sharing));
                const double down = part * program_.host.downBytes;
                its = its == nothing ? copy(TraceWork::Store, down, "gradients go down", {last_, alsoLast_})
                                     : copy(TraceWork::Store, down, "gradients go down", {its});
            }
            if (its != nothing) gradients_.push_back(its);
        });
        bucket_ = {};
    }
    std::uint64_t allReduce(double bytes, std::initializer_list<std::uint64_t> waits) {
        return exchange(TraceCollective::AllReduce, ProgramGroup::Replicas, static_cast<std::int64_t>(bytes),
                        "gradients", waits);
    }
    void finish() {
        sendPutOff();
        std::vector<std::int64_t> mine;
        for (std::int64_t c = 0; c < chunksPerStage(plan_); ++c)
            mine.push_back(chunkOf(plan_, stage_, static_cast<std::int32_t>(c)));
        std::sort(mine.begin(), mine.end());
        Held held;
        for (const std::int64_t chunk : mine) {
            for (const std::int32_t l : layersOf(chunk)) {
                held.add(layer(l));
                if (!bothEnds()) continue;
                bucket_.add(layer(l));
                if (bucket_.bytes >= static_cast<double>(program_.bucketBytes)) sendBucket(true);
            }
        }
        if (bucket_.bytes > 0) sendBucket(true);
        std::vector<std::uint64_t> waits = gradients_;
        for (const std::uint64_t id : {last_, alsoLast_})
            if (id != nothing) waits.push_back(id);
        // With stages in pairs, one device holds both.
        const bool atEnd = stage_ == 0 || stage_ + 1 == plan_.pipeline;
        if (program_.tiedBytes >= 1 && plan_.pipeline > 1 && atEnd && !bothEnds()) {
            TraceNode sum;
            sum.work = TraceWork::Collective;
            sum.bytes = static_cast<std::int64_t>(program_.tiedBytes);
            sum.group = builder_.groupNamed(groupName(ProgramGroup::Ends));
            sum.id = next_++;
            builder_.add(sum, "embeddings", waits);
            waits = {sum.id};
        }
        const double share = updated(held.share());
        const std::uint64_t done = update(held.parameters * share, share, waits);
        if (plan_.zero < 1 || plan_.zero > 2) return;
        // Each holder has updated its share of the parameters.
        eachDivided(held.parameters, held.share(), [&](ProgramGroup group, double bytes) {
            exchange(TraceCollective::AllGather, group, static_cast<std::int64_t>(bytes), "parameters", {done});
        });
    }
    // The optimizer: on the device, or part by part on the host and up again. `bytes`: of the weights that it updates.
    std::uint64_t update(double bytes, double share, std::vector<std::uint64_t>& waits) {
        const bool above = offloads(OffloadOptimizer), weights = offloads(OffloadWeights);
        const int parts = above ? offload_parts : 1;
        TraceNode node;
        node.work = TraceWork::Compute;
        node.onHost = above;
        node.microseconds =
            program_.optimizerSeconds[static_cast<std::size_t>(stage_)] * 1e6 * share * slowness() / parts;
        if (node.microseconds <= 0) return last_;
        std::uint64_t its = nothing;
        for (int part = 0; part < parts; ++part) {
            node.id = its = next_++;
            builder_.add(node, "optimizer", waits);
            if (above != weights)
                its = copy(above ? TraceWork::Load : TraceWork::Store, bytes / parts,
                           above ? "weights come" : "weights go", {its});
            waits = {node.id};
        }
        return its;
    }
    /// Share of the parameters that this device updates.
    double updated(double experts) const {
        if (plan_.zero < 1) return 1;
        const double apart = expertsAcrossCopies(plan_) ? experts : 0;
        return (1 - apart) / static_cast<double>(holders(ProgramGroup::Gradients)) +
               apart / static_cast<double>(holders(ProgramGroup::ExpertGradients));
    }

    /// Gradients, or parameters, of several layers.
    struct Held {
        double bytes = 0, parameters = 0, experts = 0;
        void add(const LayerProgram& its) {
            bytes += its.gradientBytes;
            parameters += its.parameterBytes * its.trainedShare;
            experts += its.gradientBytes * its.expertsTrained();
        }
        double share() const { return bytes > 0 ? experts / bytes : 0; }
    };

    const TrainingProgram& program_;
    const Plan& plan_;
    std::int64_t stage_;
    TraceBuilder builder_;
    std::vector<std::uint64_t> waits_, gradients_;
    Held bucket_;
    struct PutOff {
        Held bucket;
        bool whole = false;
        std::uint64_t after = nothing;
    } putOff_;
    std::uint64_t ordered_ = nothing, behind_ = nothing;  ///< exchanges of holders that go in one order
    std::map<std::tuple<std::int64_t, std::int32_t, std::size_t>, std::uint64_t> kept_;  ///< who took them down
    std::int32_t turn_ = 0;  ///< of computations: even forwards, odd backwards; 0: the optimizer
    std::uint64_t next_ = 1, last_ = nothing, arrived_ = nothing;
    std::uint64_t turnBegan_ = nothing, alsoLast_ = nothing;  ///< of turns beside each other
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
            nodes += static_cast<double>(2 * (its.forward.size() + its.backward.size()) + 7);
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

std::string_view toText(ProgramGroup group) {
    switch (group) {
        case ProgramGroup::Tensor:
            return "tensor";
        case ProgramGroup::Context:
            return "context";
        case ProgramGroup::Gradients:
            return "gradients";
        case ProgramGroup::Experts:
            return "experts";
        case ProgramGroup::ExpertGradients:
            return "expert-gradients";
        case ProgramGroup::Replicas:
            return "replicas";
        case ProgramGroup::Ends:
            return "ends";
    }
    return "group";
}

ProgramGroup programGroupOf(std::string_view name) {
    const std::string_view word = name.substr(0, name.find(' '));
    for (int g = 0; g < programGroupCount; ++g)
        if (toText(static_cast<ProgramGroup>(g)) == word) return static_cast<ProgramGroup>(g);
    return ProgramGroup::Gradients;
}

std::vector<std::int32_t> membersOf(ProgramGroup group, const Plan& plan, std::int64_t rank) {
    const std::int64_t perStage = plan.tensor * plan.context * plan.data, stage = rank / perStage;
    const std::int64_t set = perStage / plan.replicas();
    const bool across = expertsAcrossCopies(plan);
    std::int64_t size = 1, stride = 1;
    bool pair = false;
    switch (group) {
        case ProgramGroup::Tensor:
            size = plan.tensor;
            break;
        case ProgramGroup::Context:
            size = plan.context, stride = plan.tensor;
            break;
        case ProgramGroup::Gradients:
            size = plan.context * plan.sharingCopies(), stride = plan.tensor, pair = true;
            break;
        case ProgramGroup::Experts:
            size = across ? plan.expert : 1;
            break;
        case ProgramGroup::ExpertGradients:
            if (across) size = set / plan.expert, stride = plan.expert, pair = true;
            break;
        case ProgramGroup::Replicas:
            size = plan.replicas(), stride = set;
            break;
        case ProgramGroup::Ends:
            break;
    }
    const std::int64_t within = rank % perStage, first = within - within / stride % size * stride;
    std::vector<std::int64_t> stages{stage};
    if (group == ProgramGroup::Ends && plan.pipeline > 1) stages = {0, plan.pipeline - 1};
    if (pair && plan.schedule == PipelineSchedule::DualPipe) {
        stages.push_back(plan.pipeline - 1 - stage);
        std::sort(stages.begin(), stages.end());
    }
    std::vector<std::int32_t> members;
    for (const std::int64_t s : stages)
        for (std::int64_t m = 0; m < size; ++m)
            members.push_back(static_cast<std::int32_t>(s * perStage + first + m * stride));
    return members;
}

Expected<ClusterJob> trainingJob(const TrainingProgram& program, std::int64_t drawn) {
    return trainingJob(std::span(&program, 1), {}, drawn);
}

Expected<ClusterJob> trainingJob(std::span<const TrainingProgram> classes, std::span<const std::int32_t> classOf,
                                 std::int64_t drawn) {
    const auto many = static_cast<std::int64_t>(classes.size());
    if (auto good = fits(classes.front(), many); !good) return Unexpected(std::move(good.error()));
    const Plan& plan = classes.front().plan;
    const std::int64_t stages = plan.pipeline, copy = plan.tensor * plan.context, perStage = copy * plan.data;
    const auto classAt = [&](std::int64_t at) { return classOf.empty() ? 0 : classOf[static_cast<std::size_t>(at)]; };
    ClusterJob job;
    std::set<std::string, std::less<>> known;
    for (std::int64_t s = 0; s < stages; ++s) {
        for (std::int64_t c = 0; c < many; ++c) {
            auto trace = StageTrace(classes[static_cast<std::size_t>(c)], s).make();
            if (!trace) return Unexpected(std::move(trace.error()));
            std::int64_t first = 0;
            while (first + 1 < plan.data && classAt(first) != c) ++first;
            const auto offset = static_cast<std::int32_t>(first * copy);
            for (TraceNode& node : trace->nodes)
                if (node.peer >= 0) node.peer += offset;
            for (std::string& name : trace->groups) {
                std::vector<std::int32_t> members = membersOf(programGroupOf(name), plan, s * perStage + offset);
                // What is exchanged inside a copy, or by its ends, is each class's own.
                if (c > 0 && members.front() % perStage != 0) name += fmt::format(" of copy {}", first);
                if (known.insert(name).second) job.groups.push_back({.name = name, .members = std::move(members)});
            }
            job.traces.push_back(std::make_shared<const ExecutionTrace>(std::move(*trace)));
        }
    }
    const std::int64_t devices = std::max(drawn, stages * perStage);
    for (std::int64_t r = 0; r < devices; ++r)
        job.slotOf.push_back(static_cast<std::int32_t>(
            r / perStage < stages ? r / perStage * many + classAt(r % perStage / copy) : stages * many));
    if (devices > stages * perStage) job.traces.push_back(std::make_shared<const ExecutionTrace>());
    return job;
}

Expected<ClusterJob> everyRank(const TrainingProgram& program, std::int64_t alike) {
    const Plan& plan = program.plan;
    const std::int64_t perStage = plan.tensor * plan.context * plan.data;
    if (auto good = fits(program, perStage / alike); !good) return Unexpected(std::move(good.error()));
    const auto folded = trainingJob(program);
    if (!folded) return folded;
    ClusterJob job;
    std::set<std::string, std::less<>> known;
    for (std::int64_t r = 0; r < plan.pipeline * perStage; r += alike) {
        ExecutionTrace trace = *folded->traces[static_cast<std::size_t>(r / perStage)];
        for (TraceNode& node : trace.nodes)
            if (node.peer >= 0) node.peer += static_cast<std::int32_t>(r % perStage);
        for (std::string& name : trace.groups) {
            std::vector<std::int32_t> members = membersOf(programGroupOf(name), plan, r);
            name = fmt::format("{} from {}", name, members.front());
            if (known.insert(name).second) job.groups.push_back({.name = name, .members = std::move(members)});
        }
        job.traces.push_back(std::make_shared<const ExecutionTrace>(std::move(trace)));
    }
    return job;
}

}  // namespace orrery
