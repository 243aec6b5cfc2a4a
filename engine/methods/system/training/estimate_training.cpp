#include "methods/system/training/estimate_training.h"

#include "base/unit.h"
#include "hardware/views/cluster_view.h"
#include "mapping/placement.h"
#include "methods/answer/parts_used.h"
#include "methods/system/network_slot.h"
#include "methods/system/sharded_workload.h"
#include "methods/system/training/layer_programs.h"
#include "methods/system/training/plan_prices.h"
#include "simulation/picoseconds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace orrery {

namespace {

struct StepRun {
    double seconds = 0;
    ClusterOutcome outcome;
};

TrainingProgram scaled(TrainingProgram program, double factor) {
    for (LayerProgram& layer : program.layers)
        for (auto* pieces : {&layer.forward, &layer.backward})
            for (ProgramPiece& piece : *pieces) piece.seconds *= factor;
    for (double& seconds : program.optimizerSeconds) seconds *= factor;
    return program;
}

Expected<StepRun> runStep(const TrainingProgram& program, const PlanPrices& prices, std::int64_t devices, bool spans,
                          const std::stop_token& stop) {
    auto job = trainingJob(program);
    if (!job) return Unexpected(std::move(job.error()));
    ClusterSettings settings;
    settings.network.dimensions = {{TopologyShape::Switch, std::max<std::int64_t>(2, devices), 1e9, 0}};
    settings.network.congestion = false;
    settings.prices = &prices;
    if (devices < 2) {  // a network has two devices at least; the second one idles
        job->slotOf.push_back(1);
        job->traces.push_back(std::make_shared<const ExecutionTrace>());
    }
    auto outcome = runCluster(std::move(*job), settings, spans, stop, false);
    if (!outcome) return Unexpected(std::move(outcome.error()));
    StepRun run;
    for (const RankResult& rank : outcome->ranks) run.seconds = std::max(run.seconds, toSeconds(rank.finish));
    run.outcome = std::move(*outcome);
    return run;
}

/// Chunks of layers whose activations a stage keeps at most.
std::int64_t mostKept(const TrainingProgram& program, std::int64_t stage) {
    const auto steps =
        oneForwardOneBackward(stage, program.plan.pipeline, program.plan.interleave, program.microbatches);
    std::int64_t kept = 0, most = 0;
    if (steps)
        for (const ScheduleStep& step : *steps) most = std::max(most, kept += step.forward ? 1 : -1);
    return most;
}

/// Activations of a micro-batch that a device need not keep: scores and probabilities that are computed again,
/// positions of norms and sums that its neighbours have.
double dropped(const ShardedWorkload& sharded, const Plan& plan, const TrainingStep& step) {
    const Workload& shard = *sharded.shard;
    double bytes = 0;
    for (std::size_t i = 0; i < shard.graph.operators.size(); ++i) {
        const Operator& op = shard.graph.operators[i];
        // As trainingMemory() counts them.
        if (step.recompute == Recompute::Selective) bytes += shard.costs.repeat[i] * shard.costs.scratchBytes[i] / 4;
        if (plan.sequence == 0 || plan.tensor < 2) continue;
        if (op.kind != OperatorKind::Normalization && op.type != "Residual") continue;
        for (const TensorId id : op.outputs)
            if (const Tensor* tensor = shard.graph.tensor(id))
                bytes += shard.costs.repeat[i] * tensor->bytes().value * (1 - 1.0 / static_cast<double>(plan.tensor));
    }
    return bytes;
}

/// Of the stage that needs most.
MemoryUse memoryOf(const TrainingProgram& program, const ShardedWorkload& sharded, const TrainingStep& step,
                   const MemoryUse& whole) {
    const Plan& plan = program.plan;
    const double copies = static_cast<double>(plan.data * plan.context);
    double weights = 0, layers = 0;
    for (const ChunkProgram& chunk : program.chunks) {
        for (const std::int32_t l : chunk.layers) weights += program.layers[static_cast<std::size_t>(l)].parameterBytes;
    }
    const bool blocks =
        std::any_of(program.layers.begin(), program.layers.end(), [](const LayerProgram& one) { return one.repeated; });
    const auto sharing = [&](const ChunkProgram& chunk) {
        return static_cast<double>(std::count_if(chunk.layers.begin(), chunk.layers.end(), [&](std::int32_t l) {
            return !blocks || program.layers[static_cast<std::size_t>(l)].repeated;
        }));
    };
    for (const ChunkProgram& chunk : program.chunks) layers += sharing(chunk);
    const double state = whole.weights.value - 2 * sharded.shard->totals.weightBytes;  // of the optimizer
    const double perLayer =
        layers > 0 ? std::max(0.0, whole.activations.value - dropped(sharded, plan, step)) / layers : 0;
    const std::int64_t chunksOfStage = static_cast<std::int64_t>(program.chunks.size()) / plan.pipeline;
    MemoryUse most = whole;
    most.weights = most.activations = Bytes(0);
    for (std::int64_t s = 0; s < plan.pipeline; ++s) {
        double mine = 0, count = 0;
        for (std::int64_t c = s; c < static_cast<std::int64_t>(program.chunks.size()); c += plan.pipeline) {
            count += sharing(program.chunks[static_cast<std::size_t>(c)]);
            for (const std::int32_t l : program.chunks[static_cast<std::size_t>(c)].layers)
                mine += program.layers[static_cast<std::size_t>(l)].parameterBytes;
        }
        const double share = weights > 0 ? mine / weights : 1;
        const double held = mine / (plan.zero >= 3 ? copies : 1) + mine / (plan.zero >= 2 ? copies : 1) +
                            state * share / (plan.zero >= 1 ? copies : 1);
        const double kept = static_cast<double>(mostKept(program, s)) * count / static_cast<double>(chunksOfStage);
        double activations = kept * perLayer;
        // Of every layer its input, and all of the one that is computed again.
        if (step.recompute == Recompute::Full)
            activations = kept * static_cast<double>(program.stageBytes > 0 ? program.stageBytes : 0) + perLayer;
        if (held + activations <= most.weights.value + most.activations.value) continue;
        most.weights = Bytes(held);
        most.activations = Bytes(activations);
    }
    return most;
}

/// A row for what each stage does forwards, backwards, and exchanges beside it: a turn of a micro-batch is one span.
Timeline timelineOf(const StepRun& run, const ClusterJob& job) {
    constexpr std::size_t most = 20000;
    constexpr std::int32_t rows = 3;
    Timeline timeline;
    for (std::size_t s = 0; s < job.traces.size(); ++s)
        for (const char* what : {"forward", "backward", "beside"})
            timeline.rows.push_back(fmt::format("stage {} {}", s, what));
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> turns;  // by slot and turn
    std::vector<RankSpan> spans = run.outcome.spans;
    std::stable_sort(spans.begin(), spans.end(),
                     [](const RankSpan& a, const RankSpan& b) { return a.begin < b.begin; });
    for (const RankSpan& span : spans) {
        const ExecutionTrace& trace = *job.traces[static_cast<std::size_t>(span.slot)];
        const TraceNode& node = trace.nodes[span.node];
        const bool computes = node.work == TraceWork::Compute;
        const bool beside =
            node.work == TraceWork::Collective &&
            trace.groups[static_cast<std::size_t>(node.group)].starts_with(toText(ProgramGroup::Gradients));
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
        const std::int32_t row = beside || update ? 2 : node.tag % 2;
        const std::int32_t work = beside ? SpanExchange : update ? SpanUpdate : row == 0 ? SpanForward : SpanBackward;
        timeline.spans.push_back({span.begin, span.end, span.slot * rows + row, work, 0});
    }
    std::stable_sort(timeline.spans.begin(), timeline.spans.end(), [](const TimelineSpan& a, const TimelineSpan& b) {
        return std::tie(a.row, a.startPs) < std::tie(b.row, b.startPs);
    });
    return timeline;
}

/// Columns sum to the step: what a device computes of an operator, and the rest, waiting and exchanges, in proportion.
void spreadColumns(OperatorEstimates& ops, double step, double computed) {
    const double factor = computed > 0 ? step / computed : 1;
    for (auto* column : {&ops.seconds, &ops.lowSeconds, &ops.highSeconds, &ops.forwardSeconds, &ops.updateSeconds})
        for (double& seconds : *column) seconds *= factor;
}

struct Sent {
    std::map<std::string, double> bytesOfDevice;  ///< by tier, of the device that sends most
    double joules = 0;
    std::set<int> crossed;
    std::vector<std::string> assumptions;
};

Sent sentBy(const PlanPrices& prices, const Plan& plan, const std::vector<NetworkTier>& tiers) {
    Sent sent;
    std::map<std::string, std::vector<double>> bytes;
    const auto perStage = static_cast<double>(plan.devices() / plan.pipeline);
    for (const auto& [key, exchange] : prices.exchanges()) {
        for (const TierLoad& load : exchange.price.loads) {
            const NetworkTier& tier = tiers[static_cast<std::size_t>(load.tier)];
            auto& byStage = bytes[tier.name];
            byStage.resize(exchange.times.size());
            sent.crossed.insert(load.tier);
            for (std::size_t s = 0; s < byStage.size(); ++s) {
                const double moved = static_cast<double>(exchange.times[s]) * load.wireBytes;
                byStage[s] += moved;
                sent.joules += perStage * moved * tier.energy.value;
            }
        }
        for (const std::string& said : exchange.price.assumptions)
            if (std::find(sent.assumptions.begin(), sent.assumptions.end(), said) == sent.assumptions.end())
                sent.assumptions.push_back(said);
    }
    for (const auto& [tier, byStage] : bytes)
        sent.bytesOfDevice[tier] = *std::max_element(byStage.begin(), byStage.end());
    return sent;
}

}  // namespace

bool needsTrainingRun(const Scenario& scenario, const Method& method) {
    const auto* step = std::get_if<TrainingStep>(&scenario.task);
    if (!step || method.card.level == MethodLevel::System) return false;
    return scenario.plan.split() || scenario.plan.microbatches > 1 || step->recompute != Recompute::None;
}

Expected<Estimate> estimateTrainingStep(const Method& method, const Scenario& scenario, EstimateContext& context) {
    const Plan& plan = scenario.plan;
    const TrainingStep& step = std::get<TrainingStep>(scenario.task);
    if (auto good = checkPlan(plan); !good) return Unexpected(std::move(good.error()));
    const auto cluster = clusterView(*scenario.hardware);
    if (!cluster) return Unexpected(cluster.error());
    const auto group = groupFor(*cluster, plan);
    if (!group) return Unexpected(group.error());
    const auto placement = placementOf(**group, plan);
    if (!placement) return Unexpected(placement.error());
    const auto sharded = shardedWorkload(scenario.workload, plan, scenario.task);
    if (!sharded) return Unexpected(sharded.error());

    Plan oneDevice;
    oneDevice.placement = plan.placement;
    auto made = method.estimate(
        {scenario.hardware, sharded->shard, oneDevice, TrainingStep{step.optimizer, Recompute::None, true}}, context);
    if (!made) return made;
    Estimate answer = std::move(*made);
    if (answer.operators.forwardSeconds.empty())
        return fail("training.parts", "the method does not tell forward pass and backward pass apart",
                    "a method that composes kernels", "choose another method");
    const double computed = answer.latency.value;
    const double low = computed > 0 ? answer.interval.low.value / computed : 1,
                 high = computed > 0 ? answer.interval.high.value / computed : 1;
    const double least = computed > 0 && answer.bound ? answer.bound->value / computed : 0;

    auto program = trainingProgram(*sharded, answer.operators, plan, step);
    if (!program) return Unexpected(std::move(program.error()));
    auto network = networkFor(method, **group, scenario, context);
    if (!network) return Unexpected(std::move(network.error()));
    const auto job = trainingJob(*program);
    if (!job) return Unexpected(job.error());
    auto prices = PlanPrices::make(*job, *placement, **network, context.stop);
    if (!prices) return Unexpected(std::move(prices.error()));
    const bool bound = answer.interval.kind == IntervalKind::Bound;
    const std::int64_t devices = plan.devices();
    const auto ran = [&](double factor, PlanPrices::Side side, bool spans) {
        prices->take(side);
        return runStep(factor == 1 ? *program : scaled(*program, factor), *prices, devices, spans, context.stop);
    };
    auto likely = ran(1, bound ? PlanPrices::Side::Low : PlanPrices::Side::Likely, context.wantTimeline);
    if (!likely) return Unexpected(std::move(likely.error()));
    const auto best = ran(low, PlanPrices::Side::Low, false), worst = ran(high, PlanPrices::Side::High, false),
               floor = ran(least, PlanPrices::Side::Low, false);
    if (!best || !worst || !floor) return Unexpected(!best ? best.error() : !worst ? worst.error() : floor.error());

    const double total = likely->seconds;
    answer.latency = Seconds(total);
    answer.interval.low = Seconds(std::min(total, best->seconds));
    answer.interval.high = Seconds(std::max(total, worst->seconds));
    answer.interval.basis += "; collectives from the wires alone to the worst of published measurements";
    if (answer.bound) answer.bound = Seconds(std::min(total, floor->seconds));

    double busy = 0, exposed = 0, longest = 0;  // of all stages; of the one that computes longest
    for (std::size_t s = 0; s < static_cast<std::size_t>(plan.pipeline); ++s) {
        const RankResult& rank = likely->outcome.ranks[s];
        busy += toSeconds(rank.compute);
        exposed += toSeconds(rank.exposed);
        longest = std::max(longest, toSeconds(rank.compute));
    }
    const auto stages = static_cast<double>(plan.pipeline);
    const Sent sent = sentBy(*prices, plan, (*group)->tiers);
    double throughput = 0, flops = 0, rate = 0;
    std::string unit;
    for (const Figure& figure : answer.figures) {
        if (figure.label == "Throughput") rate = figure.value, unit = figure.unit;
        if (figure.label == "Model FLOP utilisation") flops = figure.value * computed;  // seconds at peak, of one shard
    }
    const double passes = static_cast<double>(plan.data * plan.context * sharded->microbatches);
    throughput = total > 0 ? rate * computed * passes / total : 0;
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
    add("Throughput", throughput, Dimension::Number, unit);
    if (flops > 0 && total > 0)
        add("Model FLOP utilisation", flops * static_cast<double>(sharded->microbatches) / stages / total,
            Dimension::Fraction);
    add("Computing share", total > 0 ? busy / stages / total : 0, Dimension::Fraction);
    add("Exposed communication", exposed / stages, Dimension::Time);
    if (plan.pipeline > 1)
        add("Waiting for other stages", std::max(0.0, total - (busy + exposed) / stages), Dimension::Time);
    for (const auto& [tier, bytes] : sent.bytesOfDevice)
        add(fmt::format("Sent over {} by a device", tier), bytes, Dimension::Data);
    add("Devices at work", static_cast<double>(devices), Dimension::Count);
    add("Micro-batches", static_cast<double>(sharded->microbatches), Dimension::Count);

    if (answer.memory) {
        std::erase_if(answer.warnings, [](const Diagnostic& each) { return each.code == "memory.does-not-fit"; });
        answer.memory = memoryOf(*program, *sharded, step, *answer.memory);
        const MemoryUse& use = *answer.memory;
        if (use.capacity.value > 0 && use.total() > use.capacity)
            answer.warnings.push_back(
                warning("memory.does-not-fit",
                        fmt::format("a device needs {} of {}: the time is that of devices with enough memory",
                                    format(use.total()), format(use.capacity)),
                        "Raise tp, pp or zero, take more micro-batches, or recompute=full"));
    }
    if (answer.energy && computed > 0) {
        const double all = busy * static_cast<double>(devices) / stages / computed;
        answer.energy = *answer.energy * all + Joules(sent.joules);
        for (double& joules : answer.operators.joules) joules *= all;
        if (!answer.operators.joules.empty()) answer.operators.joules.back() += sent.joules;
        if (sent.joules > 0) add("Energy of the network", sent.joules, Dimension::Energy);
    }
    answer.figures = std::move(figures);
    spreadColumns(answer.operators, total, computed);
    answer.timeline = {};
    if (context.wantTimeline) answer.timeline = timelineOf(*likely, *job);
    for (const int tier : sent.crossed)
        addMoreParts(answer, *scenario.hardware, (*group)->tiers[static_cast<std::size_t>(tier)].read);
    std::erase_if(answer.warnings, [](const Diagnostic& each) { return each.code == "plan.one-device"; });
    answer.warnings.insert(answer.warnings.end(), cluster->warnings.begin(), cluster->warnings.end());
    answer.warnings.insert(answer.warnings.end(), placement->warnings.begin(), placement->warnings.end());
    std::erase_if(answer.assumptions, [](const std::string& said) { return said.starts_with("Backward: "); });
    answer.assumptions.insert(answer.assumptions.begin(), fmt::format("{} of {} devices `{}` work as {}", devices,
                                                                      placement->drawn, (*group)->name, toText(plan)));
    for (const std::vector<std::string>* more : {&sharded->assumptions, &sent.assumptions})
        answer.assumptions.insert(answer.assumptions.end(), more->begin(), more->end());
    answer.assumptions.push_back(
        "Gradients of weights narrower than 4 bytes are added to a sum in fp32, once per micro-batch");
    answer.assumptions.push_back(fmt::format(
        "One forward, one backward{}; exchanges inside a layer are waited for, gradients go beside the backward pass",
        plan.interleave > 1 ? ", chunks interleaved" : ""));
    if (step.recompute != Recompute::None)
        answer.assumptions.push_back(step.recompute == Recompute::Full
                                         ? "Every layer is computed again before its backward pass"
                                         : "Attention is computed again in the backward pass");
    return answer;
}

}  // namespace orrery
