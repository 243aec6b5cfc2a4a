#include "methods/system/training/estimate_training.h"

#include "base/unit.h"
#include "hardware/views/cluster_view.h"
#include "mapping/placement.h"
#include "methods/answer/parts_used.h"
#include "methods/system/network_slot.h"
#include "methods/system/sharded_workload.h"
#include "methods/system/training/figure_intervals.h"
#include "methods/system/training/layer_programs.h"
#include "methods/system/training/offload.h"
#include "methods/system/training/plan_prices.h"
#include "methods/system/training/step_columns.h"
#include "methods/system/training/step_network.h"
#include "methods/system/training/training_memory.h"
#include "methods/system/training/training_stack.h"
#include "simulation/picoseconds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
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

StepRun stepRun(ClusterOutcome outcome) {
    StepRun run;
    for (const RankResult& rank : outcome.ranks) run.seconds = std::max(run.seconds, toSeconds(rank.finish));
    run.outcome = std::move(outcome);
    return run;
}

Expected<StepRun> runStep(const TrainingProgram& program, const ExchangePrices& prices, bool spans,
                          const std::stop_token& stop) {
    const std::int64_t drawn = std::max<std::int64_t>(2, program.plan.devices());  // a network has two at least
    auto job = trainingJob(program, drawn);
    if (!job) return Unexpected(std::move(job.error()));
    ClusterSettings settings;
    settings.network.dimensions = {{TopologyShape::Switch, drawn, 1e9, 0}};
    settings.network.congestion = false;
    settings.prices = &prices;
    settings.remote = {program.host.latency * 1e9, program.host.link};
    auto outcome = runCluster(std::move(*job), settings, spans, stop, false);
    if (!outcome) return Unexpected(std::move(outcome.error()));
    return stepRun(std::move(*outcome));
}

bool isOfGradients(ProgramGroup group) {
    return group == ProgramGroup::Gradients || group == ProgramGroup::ExpertGradients ||
           group == ProgramGroup::Replicas || group == ProgramGroup::Ends;
}

/// Rows for what each stage does forwards, backwards, for its gradients, and in its optimizer: a turn of a micro-batch
/// is one span.
Timeline timelineOf(const StepRun& run, const ClusterJob& job) {
    constexpr std::size_t most = 20000;
    constexpr std::int32_t rows = 4;
    Timeline timeline;
    for (std::size_t s = 0; s < job.traces.size(); ++s)
        for (const char* what : {"forward", "backward", "gradients", "optimizer"})
            timeline.rows.push_back(fmt::format("stage {} {}", s, what));
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> turns;  // by slot and turn
    std::vector<RankSpan> spans = run.outcome.spans;
    std::stable_sort(spans.begin(), spans.end(),
                     [](const RankSpan& a, const RankSpan& b) { return a.begin < b.begin; });
    for (const RankSpan& span : spans) {
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
        timeline.spans.push_back({span.begin, span.end, span.slot * rows + row, work, 0});
    }
    std::stable_sort(timeline.spans.begin(), timeline.spans.end(), [](const TimelineSpan& a, const TimelineSpan& b) {
        return std::tie(a.row, a.startPs) < std::tie(b.row, b.startPs);
    });
    return timeline;
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

/// What the plan makes of the drawing and the model.
struct PlannedStep {
    ClusterView cluster;
    std::size_t groupIndex = 0;
    Placement placement;
    ShardedWorkload sharded;
    std::optional<HostView> host;  ///< of a plan that offloads

    const DeviceGroup& group() const { return cluster.groups[groupIndex]; }
};

Expected<PlannedStep> plannedStep(const Scenario& scenario) {
    if (auto good = checkPlan(scenario.plan); !good) return Unexpected(std::move(good.error()));
    PlannedStep planned;
    auto cluster = clusterView(*scenario.hardware);
    if (!cluster) return Unexpected(std::move(cluster.error()));
    planned.cluster = std::move(*cluster);
    const auto group = groupFor(planned.cluster, scenario.plan);
    if (!group) return Unexpected(group.error());
    planned.groupIndex = static_cast<std::size_t>(*group - planned.cluster.groups.data());
    auto placement = placementOf(**group, scenario.plan);
    if (!placement) return Unexpected(std::move(placement.error()));
    planned.placement = std::move(*placement);
    auto sharded = shardedWorkload(scenario.workload, scenario.plan, scenario.task);
    if (!sharded) return Unexpected(std::move(sharded.error()));
    planned.sharded = std::move(*sharded);
    if (scenario.plan.offload != 0) {
        auto host = hostView(*scenario.hardware, planned.group());
        if (!host) return Unexpected(std::move(host.error()));
        planned.host = std::move(*host);
    }
    return planned;
}

/// One pass of one device's shard, forwards, backwards and update.
Expected<Estimate> shardEstimate(const Method& method, const Scenario& scenario, const PlannedStep& planned,
                                 EstimateContext& context) {
    Plan oneDevice;
    oneDevice.placement = scenario.plan.placement;
    const TrainingStep& step = std::get<TrainingStep>(scenario.task);
    auto made = method.estimate({scenario.hardware, planned.sharded.shard, oneDevice, allOf(step)}, context);
    if (made && made->operators.forwardSeconds.empty())
        return fail("training.parts", "the method does not tell forward pass and backward pass apart",
                    "a method that composes kernels", "choose another method");
    return made;
}

struct StepRuns {
    StepRun likely;
    double floor = 0;  ///< s
    StepSide best, worst;
};

/// Of the mean stage.
StepSide sideOf(const StepRun& run, std::int64_t stages) {
    StepSide side{run.seconds};
    for (std::size_t s = 0; s < static_cast<std::size_t>(stages); ++s) {
        side.busy += toSeconds(run.outcome.ranks[s].compute) / static_cast<double>(stages);
        side.exposed += toSeconds(run.outcome.ranks[s].exposed) / static_cast<double>(stages);
    }
    return side;
}

/// Kernels and exchanges as they are likely, both at their low side, both at their high side, both at their least;
/// beside each other on the executor. Where messages are followed, the likely and the high run are theirs, and neither
/// is below what the wires alone take.
Expected<StepRuns> runSides(const TrainingProgram& program, const PlanPrices& prices, const StepNetwork* network,
                            const Estimate& shard, const EstimateContext& context) {
    using enum PlanPrices::Side;
    const double computed = shard.latency.value;
    const auto of = [&](Seconds seconds) { return computed > 0 ? seconds.value / computed : 1; };
    const bool bound = shard.interval.kind == IntervalKind::Bound;
    const double low = of(shard.interval.low), high = of(shard.interval.high);
    StepRuns runs;
    StepSide bare, worst, floor;
    const std::int64_t stages = program.plan.pipeline;
    std::vector<std::function<Expected<void>()>> tasks;
    const auto add = [&](double factor, PlanPrices::Side priced, StepRun* whole, StepSide* side) {
        tasks.emplace_back([&, factor, priced, whole, side]() -> Expected<void> {
            const auto taken = prices.take(priced);
            auto run = runStep(factor == 1 ? program : scaled(program, factor), taken, whole && context.wantTimeline,
                               context.stop);
            if (!run) return Unexpected(std::move(run.error()));
            if (side) *side = sideOf(*run, stages);
            if (whole) *whole = std::move(*run);
            return {};
        });
    };
    const auto follow = [&](double factor, StepRun* whole, StepSide* side) {
        tasks.emplace_back([&, factor, whole, side]() -> Expected<void> {
            auto outcome = network->run(factor == 1 ? program : scaled(program, factor), whole && context.wantTimeline,
                                        context.stop);
            if (!outcome) return Unexpected(std::move(outcome.error()));
            StepRun run = stepRun(std::move(*outcome));
            if (side) *side = sideOf(run, stages);
            if (whole) *whole = std::move(run);
            return {};
        });
    };
    if (network && !bound) {
        follow(1, &runs.likely, nullptr);
        follow(high, nullptr, &worst);
        add(1, Low, nullptr, &bare);
    } else {
        add(1, bound ? Low : Likely, &runs.likely, nullptr);
    }
    add(low, Low, nullptr, &runs.best);
    add(high, High, nullptr, &runs.worst);
    if (shard.bound) add(of(*shard.bound), Low, nullptr, &floor);
    std::vector<Expected<void>> done(tasks.size());
    context.executor.forEach(tasks.size(), [&](std::size_t i) { done[i] = tasks[i](); });
    for (const Expected<void>& one : done)
        if (!one) return Unexpected(one.error());
    runs.likely.seconds = std::max(runs.likely.seconds, bare.seconds);
    if (worst.seconds > runs.worst.seconds) runs.worst = worst;
    runs.floor = floor.seconds;
    return runs;
}

void setLatency(Estimate& answer, const StepRuns& runs) {
    const double total = runs.likely.seconds;
    answer.latency = Seconds(total);
    answer.interval.low = Seconds(std::min(total, runs.best.seconds));
    answer.interval.high = Seconds(std::max(total, runs.worst.seconds));
    answer.interval.basis += "; collectives from the wires alone to the worst of published measurements";
    if (answer.bound) answer.bound = Seconds(std::min(total, runs.floor));
}

/// As steps of the stack were measured.
void setMeasured(Estimate& answer, const StackHere& here, const Graph& shard) {
    const double total = answer.latency.value;
    if (const double spread = here.row->spreadOf(shard, here.generation); spread > 0) {
        answer.interval.low = Seconds(std::max(answer.bound ? answer.bound->value : 0, total * std::exp(-spread)));
        answer.interval.high = Seconds(total * std::exp(spread));
        answer.interval.basis =
            fmt::format("90 % of measured steps of {} on {}", here.stack->title, toText(here.row->generation));
    }
    answer.assumptions.push_back(saidOf(*here.stack, *here.row));
}

/// `computed`: seconds of the shard's pass, to which the answer's figures still belong.
std::vector<Figure> figuresOf(const Estimate& answer, const Plan& plan, double computed, std::int64_t microbatches,
                              const StepSide& side, const Sent& sent) {
    double flops = 0, rate = 0;
    std::string unit;
    for (const Figure& figure : answer.figures) {
        if (figure.label == "Throughput") rate = figure.value, unit = figure.unit;
        if (figure.label == "Model FLOP utilisation") flops = figure.value * computed;  // seconds at peak, of one shard
    }
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
    if (flops > 0 && total > 0) add("Model FLOP utilisation", flops * batches / stages / total, Dimension::Fraction);
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

/// `whole`: weights, their gradients and the optimizer's state of the shard, B.
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

void setMemory(Estimate& answer, const TrainingProgram& program, const ShardedWorkload& sharded,
               const TrainingStep& step) {
    if (!answer.memory) return;
    std::erase_if(answer.warnings, [](const Diagnostic& each) { return each.code == "memory.does-not-fit"; });
    const std::vector<StageMemory> stages = stageMemories(program, sharded, step, *answer.memory);
    double above = 0;
    for (const StageMemory& stage : stages) above = std::max(above, stage.host.value);
    if (program.host.memory > 0 && above > program.host.memory)
        answer.warnings.push_back(hostTooSmall(above, program.host.memory));
    answer.memory = mostMemory(stages, *answer.memory);
    const MemoryUse& use = *answer.memory;
    if (use.capacity.value > 0 && use.total() > use.capacity)
        answer.warnings.push_back(
            warning("memory.does-not-fit",
                    fmt::format("a device needs {} of {}: the time is that of devices with enough memory",
                                format(use.total()), format(use.capacity)),
                    "Raise tp, pp or zero, take more micro-batches, or recompute=full"));
}

/// Seconds of the optimizers of one device of every stage.
double updatesOf(const ClusterJob& job) {
    double microseconds = 0;
    for (const TracePtr& trace : job.traces)
        for (const TraceNode& node : trace->nodes)
            if (node.work == TraceWork::Compute && node.tag == 0) microseconds += node.microseconds;
    return microseconds * 1e-6;
}

/// `passes`: of the shard, by all devices together.
void setEnergy(Estimate& answer, double passes, double network) {
    if (!answer.energy) return;
    answer.energy = *answer.energy * passes + Joules(network);
    for (double& joules : answer.operators.joules) joules *= passes;
    if (!answer.operators.joules.empty()) answer.operators.joules.back() += network;
}

std::string_view said(PipelineSchedule schedule) {
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

/// What the answer rests on.
void setGrounds(Estimate& answer, const Scenario& scenario, const PlannedStep& planned, const Sent& sent) {
    if (planned.host) addMoreParts(answer, *scenario.hardware, planned.host->used);
    for (const int tier : sent.crossed)
        addMoreParts(answer, *scenario.hardware, planned.group().tiers[static_cast<std::size_t>(tier)].read);
    std::erase_if(answer.warnings, [](const Diagnostic& each) { return each.code == "plan.one-device"; });
    for (const Diagnostics* more : {&planned.cluster.warnings, &planned.placement.warnings})
        answer.warnings.insert(answer.warnings.end(), more->begin(), more->end());
    std::erase_if(answer.assumptions, [](const std::string& said) { return said.starts_with("Backward: "); });
    answer.assumptions.insert(answer.assumptions.begin(),
                              fmt::format("{} of {} devices `{}` work as {}", scenario.plan.devices(),
                                          planned.placement.drawn, planned.group().name, toText(scenario.plan)));
    for (const std::vector<std::string>* more : {&planned.sharded.assumptions, &sent.assumptions})
        answer.assumptions.insert(answer.assumptions.end(), more->begin(), more->end());
    answer.assumptions.push_back(
        "Gradients of weights narrower than 4 bytes are added to a sum in fp32, once per micro-batch");
    answer.assumptions.push_back(
        fmt::format("{}{}; exchanges inside a layer are waited for, gradients go beside the backward pass",
                    said(scenario.plan.schedule), scenario.plan.interleave > 1 ? ", chunks interleaved" : ""));
    if (const std::string offloaded = offloadSaid(scenario.plan.offload, planned.host); !offloaded.empty())
        answer.assumptions.push_back(offloaded);
    const Recompute again = std::get<TrainingStep>(scenario.task).recompute;
    if (again != Recompute::None)
        answer.assumptions.push_back(again == Recompute::Full ? "Every layer is computed again before its backward pass"
                                                              : "Attention is computed again in the backward pass");
}

}  // namespace

bool needsTrainingRun(const Scenario& scenario, const Method& method) {
    const auto* step = std::get_if<TrainingStep>(&scenario.task);
    if (!step || method.card.level == MethodLevel::System) return false;
    return scenario.plan.split() || scenario.plan.microbatches > 1 || step->recompute != Recompute::None;
}

Expected<double> SampledStep::seconds(std::vector<double> slowness, double exchanges,
                                      const std::stop_token& stop) const {
    TrainingProgram changed = program;
    changed.slowness = std::move(slowness);
    const auto run = runStep(changed, prices.takeAt(exchanges), false, stop);
    if (!run) return Unexpected(run.error());
    return run->seconds;
}

Expected<Estimate> estimateTrainingStep(const Method& method, const Scenario& scenario, EstimateContext& context) {
    auto answer = answerTrainingStep(method, scenario, context);
    if (!answer) return Unexpected(std::move(answer.error()));
    return std::move(answer->estimate);
}

Expected<TrainingAnswer> answerTrainingStep(const Method& method, const Scenario& scenario, EstimateContext& context) {
    const Plan& plan = scenario.plan;
    const TrainingStep& step = std::get<TrainingStep>(scenario.task);
    const auto planned = plannedStep(scenario);
    if (!planned) return Unexpected(planned.error());
    auto answer = shardEstimate(method, scenario, *planned, context);
    if (!answer) return Unexpected(std::move(answer.error()));
    const StackHere here = stackHere(method, scenario, planned->group(), context);
    const Workload& shard = *planned->sharded.shard;
    const double alone = answer->latency.value;  // of its kernels, to which its figures belong
    if (here.row) takeStack(*here.row, shard.graph, *answer);
    const double low = answer->latency.value > 0 ? answer->interval.low / answer->latency : 1,
                 high = answer->latency.value > 0 ? answer->interval.high / answer->latency : 1;
    const double computed = answer->latency.value;
    auto program = trainingProgram(planned->sharded, answer->operators, plan, step);
    if (!program) return Unexpected(std::move(program.error()));
    const CostTotals& totals = shard.totals;
    if (here.row)
        takeStack(*here.stack, *here.row, totals.parameters > 0 ? totals.weightBytes / totals.parameters : 0,
                  here.bandwidth, *program);
    const MemoryUse held = answer->memory.value_or(MemoryUse{});
    if (planned->host)
        takeHost(hostPrices(*planned->host, totals, held, here.row ? here.stack->gradientBytes : 0),
                 step.recompute == Recompute::Full, layerActivations(*program, planned->sharded, step, held), *program);
    const auto network = pricedNetwork(method, planned->group(), scenario, context);
    if (!network) return Unexpected(network.error());
    const auto job = trainingJob(*program);
    if (!job) return Unexpected(job.error());
    auto prices = PlanPrices::make(*job, planned->placement, **network, context.stop);
    if (!prices) return Unexpected(std::move(prices.error()));
    if (here.row) {
        slowBeside(*here.row, prices->besideSeconds(), *program);
        prices->hide(here.row->hiddenTensor, plan.zero < 3 ? here.row->hiddenGather : 0);
        prices->slowCopies(here.row->exchanges);
    }
    std::optional<StepNetwork> followed;
    if (const auto carrying = followedNetwork(method, context)) {
        auto made = StepNetwork::make(*program, planned->group().tiers, *carrying);
        if (!made) return Unexpected(std::move(made.error()));
        followed = std::move(*made);
    }
    const auto runs = runSides(*program, *prices, followed ? &*followed : nullptr, *answer, context);
    if (!runs) return Unexpected(runs.error());

    const StepSide side = sideOf(runs->likely, plan.pipeline);
    const Sent sent = sentBy(*prices, plan, planned->group().tiers);
    setLatency(*answer, *runs);
    if (here.row) setMeasured(*answer, here, shard.graph);
    answer->figures = figuresOf(*answer, plan, alone, planned->sharded.microbatches, side, sent);
    if (step.lora > 0)  // it counts gradients of all weights
        std::erase_if(answer->figures, [](const Figure& each) { return each.label == "Model FLOP utilisation"; });
    const double whole = answer->memory ? answer->memory->weights.value : 0;
    setMemory(*answer, *program, planned->sharded, step);
    const double joulesPerSecond =
        answer->energy && computed > 0 ? answer->energy->value * static_cast<double>(plan.devices()) / computed : 0;
    if (computed > 0) setEnergy(*answer, side.busy * static_cast<double>(plan.devices()) / computed, sent.joules);
    if (joulesPerSecond > 0)
        answer->figures.push_back({"Energy of one step", answer->energy->value, Dimension::Energy});
    setRateIntervals(answer->figures, answer->latency.value, answer->interval);
    setSideIntervals(answer->figures, {runs->best, side, runs->worst}, joulesPerSecond, sent.joules);
    spreadColumns(answer->operators, answer->latency.value, static_cast<double>(planned->sharded.microbatches),
                  static_cast<double>(scenario.plan.pipeline), updatesOf(*job));
    answer->timeline = {};
    if (context.wantTimeline) answer->timeline = timelineOf(runs->likely, *job);
    setGrounds(*answer, scenario, *planned, sent);
    if (followed) {
        answer->networkUse = followed->useOf(runs->likely.outcome, planned->group().tiers);
        answer->assumptions.push_back(followed->assumption());
    }
    const double state = stateOf(*program, planned->sharded, whole);
    return TrainingAnswer{std::move(*answer), {std::move(*program), std::move(*prices), low, high, state}};
}

Expected<StepTraces> trainingTraces(const Method& method, const Scenario& scenario, EstimateContext& context) {
    const auto* step = std::get_if<TrainingStep>(&scenario.task);
    constexpr std::int64_t most = 4096;
    if (!step || scenario.plan.devices() < 2 || scenario.plan.devices() > most)
        return fail("training.ranks",
                    fmt::format("traces of {} on {} devices", toText(scenario.task), scenario.plan.devices()),
                    fmt::format("a training step of a plan of 2 to {} devices", most),
                    "ask with --task training-step and --plan dp=8");
    if (scenario.plan.offload != 0)
        return fail("training.traces", "the traces of a plan that offloads", "a plan without `offload`",
                    "traces for other tools know no host: leave `offload` out", Place{.path = "plan/offload"});
    const auto planned = plannedStep(scenario);
    if (!planned) return Unexpected(planned.error());
    const auto answer = shardEstimate(method, scenario, *planned, context);
    if (!answer) return Unexpected(answer.error());
    const auto program = trainingProgram(planned->sharded, answer->operators, scenario.plan, *step);
    if (!program) return Unexpected(program.error());
    auto job = everyRank(*program);
    if (!job) return Unexpected(std::move(job.error()));
    return StepTraces{std::move(*job), planned->group().tiers};
}

}  // namespace orrery
