#include "methods/system/training/step_model_state.h"

#include "methods/answer/answer.h"
#include "methods/system/training/layer_programs.h"
#include "methods/system/training/offload.h"

#include <algorithm>

namespace orrery {

namespace {

/// `alone`: seconds to which its figures still belong.
ShardFacts factsOf(const Estimate& shard, double alone) {
    ShardFacts facts;
    const double computed = shard.latency.value;
    const auto of = [&](double seconds) { return computed > 0 ? seconds / computed : 1; };
    facts.factor.at = {of(shard.interval.low.value), 1, of(shard.interval.high.value),
                       shard.bound ? of(shard.bound->value) : 0};
    facts.bound = shard.interval.kind == IntervalKind::Bound;
    if (shard.memory) facts.capacity = shard.memory->capacity.value;
    if (shard.energy && computed > 0) facts.joulesPerSecond = shard.energy->value / computed;
    for (const Figure& figure : shard.figures) {
        if (figure.label == "Throughput") {
            facts.tokens = figure.value * alone;
            facts.counted = figure.unit == "token/s";
        }
        if (figure.label == "Model FLOP utilisation") facts.peakSeconds = figure.value * alone;
    }
    return facts;
}

}  // namespace

std::int64_t microbatchesOf(const Plan& plan, std::int64_t batch) {
    if (plan.microbatches > 0) return plan.microbatches;
    return std::clamp<std::int64_t>(batch / plan.data, 1, plan.pipeline);
}

// All layers of one device's part of the model. With two stages what is handed over is known; one that has a single
// layer, or is no transformer, stands on one.
Expected<PricedShard> StepModel::State::shardOf(const Plan& plan, const ShardKey& key,
                                                const std::stop_token& stop) const {
    Plan two = plan;
    two.pipeline = 2;
    two.interleave = 1;
    two.schedule = PipelineSchedule::OneForwardOneBackward;
    two.shard = two.offload = 0;
    two.layers.clear();
    two.microbatches = microbatchesOf(plan, batch);
    auto sharded = shardedWorkload(scenario.workload, two, scenario.task);
    if (!sharded) {
        two.pipeline = plan.pipeline;
        sharded = shardedWorkload(scenario.workload, two, scenario.task);
    }
    if (!sharded) return Unexpected(std::move(sharded.error()));
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, stop};
    context.seed = seed;
    context.wantTimeline = false;
    context.options = options;
    context.calibrations = calibrations;
    Plan oneDevice;
    oneDevice.placement = cluster.groups[static_cast<std::size_t>(key.group)].path;
    auto shard = method.estimate({scenario.hardware, sharded->shard, oneDevice, allOf(step)}, context);
    if (!shard) return Unexpected(std::move(shard.error()));
    if (shard->operators.forwardSeconds.empty())
        return fail("training.parts", "the method does not tell forward pass and backward pass apart",
                    "a method that composes kernels", "choose another method");
    PricedShard made;
    made.alone = std::move(*shard);
    made.sharded = std::move(*sharded);
    const StackHere here = stackHere(method, scenario, cluster.groups[static_cast<std::size_t>(key.group)], context);
    made.bandwidth = here.bandwidth;
    dress(made, here, static_cast<std::size_t>(key.group), plan.context);
    return made;
}

void StepModel::State::dress(PricedShard& made, const StackHere& here, std::size_t group, std::int64_t context) const {
    const Workload& shard = *made.sharded.shard;
    made.estimate = made.alone;
    if (here.row) takeStack(onBusiest(*here.stack, *here.row, context), shard.graph, made.estimate);
    made.facts = factsOf(made.estimate, made.alone.latency.value);
    if (step.lora > 0) made.facts.peakSeconds = 0;  // it counts gradients of all weights
    made.facts.stack = here.row ? here.stack : nullptr;
    made.facts.row = here.row;
    if (const auto host = hostView(*scenario.hardware, cluster.groups[group]))
        made.facts.host = hostPrices(*host, shard.totals, made.estimate.memory.value_or(MemoryUse{}),
                                     here.row ? here.stack->gradientBytes : 0);
    else
        made.noHost = host.error();
    made.facts.spread = here.spreadOf(shard.graph);
    made.facts.measuredSteps = here.measuredSteps();
}

Expected<const ExchangeCache*> StepModel::State::exchangesOf(std::size_t group, bool bound) const {
    const std::lock_guard lock(networks);
    if (exchanges[group]) return exchanges[group].get();
    auto network = networkOf(cluster.groups[group]);
    if (!network) return Unexpected(std::move(network.error()));
    exchanges[group] = std::make_unique<ExchangeCache>(cluster.groups[group], std::move(*network), bound);
    return exchanges[group].get();
}

Expected<std::unique_ptr<NetworkModel>> StepModel::State::networkOf(const DeviceGroup& group) const {
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    context.seed = seed;
    context.options = options;
    context.calibrations = calibrations;
    return pricedNetwork(method, group, scenario, context);
}

Expected<std::shared_ptr<const MixedPlacement>> StepModel::State::placementOf(const Plan& plan) const {
    // What the order of turns and the batch do not change.
    Plan bare = plan;
    bare.layers.clear();
    bare.sequence = bare.microbatches = bare.zero = 0;
    if (plan.shard > 0) bare.zero = plan.zero;
    if (plan.schedule != PipelineSchedule::DualPipe) bare.schedule = PipelineSchedule::OneForwardOneBackward;
    const std::string key = toText(bare);
    const std::lock_guard lock(networks);
    if (const auto at = placements.find(key); at != placements.end()) return at->second;
    auto made = mixedPlacement(*scenario.hardware, cluster, plan);
    if (!made) return Unexpected(std::move(made.error()));
    return placements[key] = std::make_shared<const MixedPlacement>(std::move(*made));
}

Expected<const ExchangeCache*> StepModel::State::exchangesBetween(const MixedPlacement& placement, bool bound) const {
    const std::lock_guard lock(networks);
    auto& [group, cache] = between[placement.kinds.kinds];
    if (cache) return cache.get();
    auto network = networkOf(placement.joined);
    if (!network) return Unexpected(std::move(network.error()));
    group = placement.joined;
    cache = std::make_unique<ExchangeCache>(group, std::move(*network), bound);
    return cache.get();
}

Expected<StepPieces> StepModel::State::piecesOf(const Plan& plan, const PricedShard& shard, const ExchangeCache& priced,
                                                Recompute recompute, const std::stop_token& stop) const {
    Plan bare = plan;
    bare.data = bare.interleave = bare.microbatches = 1;
    bare.pipeline = std::min<std::int64_t>(plan.pipeline, 2);
    bare.zero = bare.shard = bare.offload = 0;
    bare.layers.clear();
    bare.schedule = PipelineSchedule::OneForwardOneBackward;
    // Experts over several copies need them.
    if (plan.expert > plan.tensor * plan.context) bare.data = plan.data;
    TrainingStep again = step;
    again.recompute = recompute;
    const SelectiveForm selective = shard.facts.stack ? shard.facts.stack->selective : SelectiveForm::Attention;
    auto program = trainingProgram(shard.sharded, shard.estimate.operators, bare, again, selective);
    if (!program) return Unexpected(std::move(program.error()));
    // What all layers hold together, of one micro-batch: that of a single stage.
    bare.pipeline = 1;
    const auto whole = trainingProgram(shard.sharded, shard.estimate.operators, bare, again);
    if (!whole) return Unexpected(whole.error());
    TrainingProgram single = *whole;
    single.microbatches = 1;
    const StageMemory memory =
        stageMemories(single, shard.sharded, again, shard.estimate.memory.value_or(MemoryUse{})).front();
    if (const TrainingStack* stack = shard.facts.stack) {
        if (plan.zero >= 3 && plan.sharingCopies() * plan.context > 1) program->plan.zero = 3, program->plan.data = 2;
        const CostTotals& totals = shard.sharded.shard->totals;
        takeStack(*stack, *shard.facts.row, totals.parameters > 0 ? totals.weightBytes / totals.parameters : 0,
                  shard.bandwidth, *program);
    }
    return stepPieces(*program, memory, again, priced, shard.facts.row ? shard.facts.row->hiddenTensor : 0, stop);
}

}  // namespace orrery
