#include "methods/system/training/estimate_training.h"

#include "base/unit.h"
#include "hardware/views/cluster_view.h"
#include "mapping/placement.h"
#include "mapping/plan_kinds.h"
#include "methods/answer/parts_used.h"
#include "methods/system/network_slot.h"
#include "methods/system/sharded_workload.h"
#include "methods/system/training/figure_intervals.h"
#include "methods/system/training/layer_programs.h"
#include "methods/system/training/mixed_step.h"
#include "methods/system/training/offload.h"
#include "methods/system/training/plan_prices.h"
#include "methods/system/training/step_answer.h"
#include "methods/system/training/step_columns.h"
#include "methods/system/training/step_network.h"
#include "methods/system/training/training_memory.h"
#include "methods/system/training/training_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace orrery {

namespace {

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
    oneDevice.placement = namesSeveralDevices(scenario.plan) ? planned.group().path : scenario.plan.placement;
    const TrainingStep& step = std::get<TrainingStep>(scenario.task);
    auto made = method.estimate({scenario.hardware, planned.sharded.shard, oneDevice, allOf(step)}, context);
    if (made && made->operators.forwardSeconds.empty())
        return fail("training.parts", "the method does not tell forward pass and backward pass apart",
                    "a method that composes kernels", "choose another method");
    return made;
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

/// What the answer rests on.
void setGrounds(Estimate& answer, const Scenario& scenario, const PlannedStep& planned, const SentBytes& sent) {
    if (planned.host) addMoreParts(answer, *scenario.hardware, planned.host->used);
    for (const auto& [network, tier] : sent.crossed)
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
    sayOrder(answer, scenario.plan);
    if (const std::string offloaded = offloadSaid(scenario.plan.offload, planned.host); !offloaded.empty())
        answer.assumptions.push_back(offloaded);
    sayRecompute(answer, std::get<TrainingStep>(scenario.task).recompute);
}

}  // namespace

bool needsTrainingRun(const Scenario& scenario, const Method& method) {
    const auto* step = std::get_if<TrainingStep>(&scenario.task);
    if (!step || method.card.level == MethodLevel::System) return false;
    return scenario.plan.split() || scenario.plan.microbatches > 1 || step->recompute != Recompute::None;
}

bool namesStack(const Scenario& scenario, const Method& method, const EstimateContext& context) {
    if (!std::holds_alternative<TrainingStep>(scenario.task) || method.card.level == MethodLevel::System) return false;
    const bool asked = std::any_of(method.card.options.begin(), method.card.options.end(),
                                   [](const MethodOption& each) { return each.key == "stack"; });
    return asked && optionOf(method.card, context, "stack") != trainingStacks().front().id;
}

void reachOverSoftware(const Method& method, const Scenario& scenario, const EstimateContext& context,
                       Estimate& answer) {
    if (!std::holds_alternative<TrainingStep>(scenario.task) || method.card.level == MethodLevel::System) return;
    const auto cluster = clusterView(*scenario.hardware);
    if (!cluster) return;
    for (const DeviceGroup& group : cluster->groups) {
        if (!scenario.plan.placement.empty() && group.path != scenario.plan.placement) continue;
        const StackHere here = stackHere(method, scenario, group, context);
        if (!here.any) continue;
        setMeasured(answer, here, scenario.workload->graph);
        return setRateIntervals(answer.figures, answer.latency.value, answer.interval);
    }
}

Expected<double> SampledStep::seconds(std::vector<double> slowness, double exchanges,
                                      const std::stop_token& stop) const {
    StepPrograms changed = programs;
    for (TrainingProgram& program : changed.classes) program.slowness = slowness;
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
    if (namesSeveralDevices(plan)) {
        const auto cluster = clusterView(*scenario.hardware);
        if (!cluster) return Unexpected(cluster.error());
        const auto kinds = planKinds(*cluster, plan);
        if (!kinds) return Unexpected(kinds.error());
        if (kinds->several()) return answerMixedStep(method, scenario, *cluster, context);
    }
    const auto planned = plannedStep(scenario);
    if (!planned) return Unexpected(planned.error());
    auto answer = shardEstimate(method, scenario, *planned, context);
    if (!answer) return Unexpected(std::move(answer.error()));
    const StackHere here = stackHere(method, scenario, planned->group(), context);
    const Workload& shard = *planned->sharded.shard;
    const double alone = answer->latency.value;  // of its kernels, to which its figures belong
    if (here.row) takeStack(onBusiest(*here.stack, *here.row, plan.context), shard.graph, *answer);
    const double low = answer->latency.value > 0 ? answer->interval.low / answer->latency : 1,
                 high = answer->latency.value > 0 ? answer->interval.high / answer->latency : 1;
    const double computed = answer->latency.value;
    auto program = trainingProgram(planned->sharded, answer->operators, plan, step,
                                   here.row ? here.stack->selective : SelectiveForm::Attention);
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
    const auto of = [&](Seconds seconds) { return computed > 0 ? seconds.value / computed : 1; };
    const KindSides sides{of(answer->interval.low), of(answer->interval.high), answer->bound ? of(*answer->bound) : 0};
    const StepPrograms programs{{std::move(*program)}, {}, {}, {}};
    const auto runs = runSides(programs, *prices, followed ? &*followed : nullptr, {sides},
                               answer->interval.kind == IntervalKind::Bound, context);
    if (!runs) return Unexpected(runs.error());

    const StepSide side = sideOf(runs->likely, programs);
    const SentBytes sent = sentBy(*prices, programs, {&planned->group().tiers});
    const double peakSeconds = peakSecondsOf(*answer, alone);
    setLatency(*answer, *runs);
    setMeasured(*answer, here, shard.graph);
    answer->figures = stepFigures(*answer, plan, alone, peakSeconds, planned->sharded.microbatches, side, sent);
    if (step.lora > 0)  // it counts gradients of all weights
        std::erase_if(answer->figures, [](const Figure& each) { return each.label == "Model FLOP utilisation"; });
    const double whole = answer->memory ? answer->memory->weights.value : 0;
    setMemory(*answer, programs.front(), planned->sharded, step);
    const double joulesPerSecond =
        answer->energy && computed > 0 ? answer->energy->value * static_cast<double>(plan.devices()) / computed : 0;
    if (computed > 0) setEnergy(*answer, side.busy * static_cast<double>(plan.devices()) / computed, sent.joules);
    if (joulesPerSecond > 0)
        answer->figures.push_back({"Energy of one step", answer->energy->value, Dimension::Energy});
    setRateIntervals(answer->figures, answer->latency.value, answer->interval);
    setSideIntervals(answer->figures, {runs->best, side, runs->worst}, joulesPerSecond, sent.joules);
    spreadColumns(answer->operators, answer->latency.value, static_cast<double>(planned->sharded.microbatches),
                  static_cast<double>(scenario.plan.pipeline), updatesOf(programs));
    answer->timeline = {};
    if (context.wantTimeline) answer->timeline = timelineOf(runs->likely, programs);
    setGrounds(*answer, scenario, *planned, sent);
    if (followed) {
        answer->networkUse = followed->useOf(runs->likely.outcome, planned->group().tiers);
        answer->assumptions.push_back(followed->assumption());
    }
    const double state = stateOf(programs.front(), planned->sharded, whole);
    return TrainingAnswer{std::move(*answer), {programs, std::move(*prices), low, high, state}};
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
