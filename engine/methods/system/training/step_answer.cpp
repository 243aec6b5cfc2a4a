#include "methods/system/training/step_answer.h"

#include "simulation/picoseconds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace orrery {

namespace {

bool isOfGradients(ProgramGroup group) {
    return group == ProgramGroup::Gradients || group == ProgramGroup::ExpertGradients ||
           group == ProgramGroup::Replicas || group == ProgramGroup::Ends;
}

/// The class of copies whose devices compute longest.
std::size_t longestClass(const StepRun& run, const StepPrograms& programs) {
    const std::size_t classes = programs.classes.size();
    std::vector<SimTime> computed(classes, 0);
    for (std::size_t slot = 0; slot < programs.slotCount(); ++slot)
        computed[slot % classes] += run.outcome.ranks[slot].compute;
    return static_cast<std::size_t>(std::max_element(computed.begin(), computed.end()) - computed.begin());
}

std::string_view orderOf(PipelineSchedule schedule) {
    switch (schedule) {
        case PipelineSchedule::GPipe:
            return "All forwards, then all backwards";
        case PipelineSchedule::ZeroBubble:
            return "One forward, one backward, gradients of weights in the waits";
        case PipelineSchedule::DualPipe:
            return "Micro-batches from both ends, forwards beside backwards; a device holds two stages, and gradients "
                   "of both go when all is done";
        case PipelineSchedule::OneForwardOneBackward:
            break;
    }
    return "One forward, one backward";
}

}  // namespace

Timeline timelineOf(const StepRun& run, const StepPrograms& programs) {
    const auto made = programs.job();
    if (!made) return {};
    const ClusterJob& job = *made;
    const std::size_t classes = programs.classes.size(), shown = longestClass(run, programs);
    constexpr std::size_t most = 20000;
    constexpr std::int32_t rows = 4;
    Timeline timeline;
    for (std::size_t s = 0; s < job.traces.size() / classes; ++s)
        for (const char* what : {"forward", "backward", "gradients", "optimizer"})
            timeline.rows.push_back(fmt::format("stage {} {}", s, what));
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> turns;  // by slot and turn
    std::vector<RankSpan> spans = run.outcome.spans;
    std::stable_sort(spans.begin(), spans.end(),
                     [](const RankSpan& a, const RankSpan& b) { return a.begin < b.begin; });
    for (const RankSpan& span : spans) {
        if (static_cast<std::size_t>(span.slot) % classes != shown) continue;
        const auto stage = static_cast<std::int32_t>(static_cast<std::size_t>(span.slot) / classes);
        const ExecutionTrace& trace = *job.traces[static_cast<std::size_t>(span.slot)];
        const TraceNode& node = trace.nodes[span.node];
        const bool computes = node.work == TraceWork::Compute;
        const bool beside = node.work == TraceWork::Collective &&
                            isOfGradients(programGroupOf(trace.groups[static_cast<std::size_t>(node.group)]));
        if (!(computes || beside) || span.end <= span.begin) continue;
        if (computes) {
            const auto [at, isNew] = turns.try_emplace({span.slot, node.tag}, timeline.spans.size());
            if (!isNew) {
                timeline.spans[at->second].endPs = span.end;
                continue;
            }
        }
        if (timeline.spans.size() == most) {
            timeline.truncated = true;
            break;
        }
        const bool update = computes && node.tag < 2;
        const std::int32_t row = beside ? 2 : update ? 3 : node.tag % 2;
        const std::int32_t work = beside ? SpanExchange : update ? SpanUpdate : row == 0 ? SpanForward : SpanBackward;
        timeline.spans.push_back({span.begin, span.end, stage * rows + row, work, 0});
    }
    std::stable_sort(timeline.spans.begin(), timeline.spans.end(), [](const TimelineSpan& a, const TimelineSpan& b) {
        return std::tie(a.row, a.startPs) < std::tie(b.row, b.startPs);
    });
    return timeline;
}

SentBytes sentBy(const PlanPrices& prices, const StepPrograms& programs,
                 const std::vector<const std::vector<NetworkTier>*>& networks) {
    SentBytes sent;
    std::map<std::string, std::vector<double>> bytes;
    for (const auto& [key, exchange] : prices.exchanges()) {
        for (const TierLoad& load : exchange.price.loads) {
            const NetworkTier& tier = (*networks[exchange.network])[static_cast<std::size_t>(load.tier)];
            auto& bySlot = bytes[tier.name];
            bySlot.resize(exchange.times.size());
            sent.crossed.insert({exchange.network, load.tier});
            for (std::size_t s = 0; s < bySlot.size(); ++s) {
                const double moved = static_cast<double>(exchange.times[s]) * load.wireBytes;
                bySlot[s] += moved;
                sent.joules += programs.devicesOf(s) * moved * tier.energy.value;
            }
        }
        for (const std::string& said : exchange.price.assumptions)
            if (std::find(sent.assumptions.begin(), sent.assumptions.end(), said) == sent.assumptions.end())
                sent.assumptions.push_back(said);
    }
    for (const auto& [tier, bySlot] : bytes) sent.bytesOfDevice[tier] = *std::max_element(bySlot.begin(), bySlot.end());
    return sent;
}

void setLatency(Estimate& answer, const StepRuns& runs) {
    const double total = runs.likely.seconds;
    answer.latency = Seconds(total);
    answer.interval.low = Seconds(std::min(total, runs.best.seconds));
    answer.interval.high = Seconds(std::max(total, runs.worst.seconds));
    answer.interval.basis += "; collectives from the wires alone to the worst of published measurements";
    if (answer.bound) answer.bound = Seconds(std::min(total, runs.floor));
}

void setMeasured(Estimate& answer, const StackHere& here, const Graph& shard) {
    const double total = answer.latency.value;
    const bool widened = here.row || answer.interval.kind != IntervalKind::Bound;
    if (const StepSpread spread = here.spreadOf(shard); widened && spread.known()) {
        const double low = total * std::exp(spread.low), high = total * std::exp(spread.high);
        // Without a stack the prices' own sides count too: they know this device and these kernels.
        answer.interval.low = Seconds(std::max(answer.bound ? answer.bound->value : 0,
                                               here.row ? low : std::min(low, answer.interval.low.value)));
        answer.interval.high = Seconds(here.row ? high : std::max(high, answer.interval.high.value));
        answer.interval.basis = here.row ? here.measuredSteps() : answer.interval.basis + "; " + here.measuredSteps();
    }
    if (here.row) answer.assumptions.push_back(saidOf(*here.stack, *here.row));
}

double peakSecondsOf(const Estimate& shard, double computed) {
    for (const Figure& figure : shard.figures)
        if (figure.label == "Model FLOP utilisation") return figure.value * computed;
    return 0;
}

std::vector<Figure> stepFigures(const Estimate& answer, const Plan& plan, double computed, double peakSeconds,
                                std::int64_t microbatches, const StepSide& side, const SentBytes& sent) {
    double rate = 0;
    std::string unit;
    for (const Figure& figure : answer.figures)
        if (figure.label == "Throughput") rate = figure.value, unit = figure.unit;
    const double total = answer.latency.value;
    const auto stages = static_cast<double>(plan.pipeline), batches = static_cast<double>(microbatches);
    const double passes = static_cast<double>(plan.data * plan.context) * batches;
    std::vector<Figure> figures;
    const auto add = [&](std::string_view label, double value, Dimension dimension, std::string its = {}) {
        figures.push_back({std::string(label), value, dimension, std::move(its)});
    };
    figures.push_back({"Time of one step",
                       total,
                       Dimension::Time,
                       {},
                       std::pair{answer.interval.low.value, answer.interval.high.value},
                       answer.interval.basis});
    add("Throughput", total > 0 ? rate * computed * passes / total : 0, Dimension::Number, unit);
    if (peakSeconds > 0 && total > 0)
        add("Model FLOP utilisation", peakSeconds * batches / stages / total, Dimension::Fraction);
    add("Computing share", total > 0 ? side.busy / total : 0, Dimension::Fraction);
    add("Exposed communication", side.exposed, Dimension::Time);
    if (plan.pipeline > 1)
        add("Waiting for other stages", std::max(0.0, total - side.busy - side.exposed), Dimension::Time);
    for (const auto& [tier, bytes] : sent.bytesOfDevice)
        add(fmt::format("Sent over {} by a device", tier), bytes, Dimension::Data);
    add("Devices at work", static_cast<double>(plan.devices()), Dimension::Count);
    add("Micro-batches", batches, Dimension::Count);
    if (answer.energy && computed > 0 && sent.joules > 0) add("Energy of the network", sent.joules, Dimension::Energy);
    return figures;
}

double updatesOf(const StepPrograms& programs) {
    const auto job = programs.job();
    if (!job) return 0;
    const auto stages = static_cast<double>(programs.front().plan.pipeline);
    double microseconds = 0;
    for (std::size_t slot = 0; slot < programs.slotCount(); ++slot) {
        const double share = stages * programs.devicesOf(slot) / static_cast<double>(programs.front().plan.devices());
        for (const TraceNode& node : job->traces[slot]->nodes)
            if (node.work == TraceWork::Compute && node.tag == 0) microseconds += share * node.microseconds;
    }
    return microseconds * 1e-6;
}

double stateOf(const TrainingProgram& program, const ShardedWorkload& sharded, double whole) {
    const Plan& plan = program.plan;
    const double weights = sharded.shard->totals.weightBytes;
    const double withState = weights > 0 ? std::max(1.0, (whole - weights) / weights) : 1;
    double dense = 0, experts = 0;
    for (const ChunkProgram& chunk : program.chunks) {
        for (const std::int32_t l : chunk.layers) {
            const LayerProgram& its = program.layers[static_cast<std::size_t>(l)];
            // Of frozen parameters there is no state.
            const double kept = its.parameterBytes * (1 + (withState - 1) * its.trainedShare);
            dense += kept * (1 - its.expertShare);
            experts += kept * its.expertShare;
        }
    }
    return dense * static_cast<double>(plan.tensor) + experts * static_cast<double>(std::max(plan.tensor, plan.expert));
}

void setEnergy(Estimate& answer, double passes, double network) {
    if (!answer.energy) return;
    answer.energy = *answer.energy * passes + Joules(network);
    for (double& joules : answer.operators.joules) joules *= passes;
    if (!answer.operators.joules.empty()) answer.operators.joules.back() += network;
}

void sayOrder(Estimate& answer, const Plan& plan) {
    answer.assumptions.push_back(
        "Gradients of weights narrower than 4 bytes are added to a sum in fp32, once per micro-batch");
    answer.assumptions.push_back(
        fmt::format("{}{}; exchanges inside a layer are waited for, gradients go beside the backward pass",
                    orderOf(plan.schedule), plan.interleave > 1 ? ", chunks interleaved" : ""));
}

void sayRecompute(Estimate& answer, Recompute again) {
    if (again == Recompute::None) return;
    answer.assumptions.push_back(again == Recompute::Full ? "Every layer is computed again before its backward pass"
                                                          : "Attention is computed again in the backward pass");
}

}  // namespace orrery
