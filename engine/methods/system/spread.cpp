#include "methods/system/spread.h"

#include "base/unit.h"
#include "hardware/views/cluster_view.h"
#include "mapping/placement.h"
#include "methods/answer/answer.h"
#include "methods/answer/parts_used.h"
#include "methods/answer/timeline.h"
#include "methods/system/network_slot.h"
#include "methods/system/sharded_workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace orrery {

namespace {

struct Talk {
    double seconds = 0, low = 0, high = 0;  ///< of all micro-batches
    std::vector<double> ofOperator;         ///< of one micro-batch
    double ofMicrobatch = 0;
    double stageSends = 0;  ///< of one micro-batch over all stages
    std::map<std::string, double> wireBytes;
    std::vector<double> joules;                       ///< of all devices, by operator
    std::set<std::string> withEnergy, withoutEnergy;  ///< tiers, by whether their links state one
    std::set<int> crossed;                            ///< tiers
    std::vector<std::string> assumptions;
};

const Communicator& groupOf(const Placement& placement, ShardedCall::Group group) {
    switch (group) {
        case ShardedCall::Group::Tensor:
            return placement.tensor;
        case ShardedCall::Group::Context:
            return placement.context;
        case ShardedCall::Group::Experts:
            return placement.expert;
        case ShardedCall::Group::Pipeline:
            break;
    }
    return placement.pipeline;
}

Expected<Talk> priceCalls(const ShardedWorkload& sharded, const Plan& plan, const Placement& placement,
                          const NetworkModel& network, const std::vector<NetworkTier>& tiers, bool bound,
                          EstimateContext& context) {
    Talk talk;
    talk.ofOperator.assign(sharded.shard->costs.size(), 0.0);
    talk.joules.assign(sharded.shard->costs.size(), 0.0);
    for (const ShardedCall& call : sharded.calls) {
        auto price = network.price({call.collective, call.bytes, groupOf(placement, call.group)}, context.stop);
        if (!price) return Unexpected(std::move(price.error()));
        if (bound) price->seconds = price->low;
        const double times = call.count * static_cast<double>(sharded.microbatches);
        talk.low += times * price->low;
        talk.high += times * price->high;
        talk.seconds += times * price->seconds;
        talk.ofMicrobatch += call.count * price->seconds;
        if (call.group == ShardedCall::Group::Pipeline) talk.stageSends += call.count * price->seconds;
        talk.ofOperator[static_cast<std::size_t>(call.op)] += times * price->seconds;
        for (const TierLoad& load : price->loads) {
            const NetworkTier& tier = tiers[static_cast<std::size_t>(load.tier)];
            talk.wireBytes[tier.name] += times * load.wireBytes;
            talk.crossed.insert(load.tier);
            (tier.energy.value > 0 ? talk.withEnergy : talk.withoutEnergy).insert(tier.name);
            // Calls of all layers are those of one device of each stage together.
            const double senders = static_cast<double>(plan.devices() / plan.pipeline);
            talk.joules[static_cast<std::size_t>(call.op)] += senders * times * load.wireBytes * tier.energy.value;
        }
        for (std::string& said : price->assumptions) {
            if (std::find(talk.assumptions.begin(), talk.assumptions.end(), said) == talk.assumptions.end())
                talk.assumptions.push_back(std::move(said));
        }
    }
    return talk;
}

// Turns of the pipeline: with m micro-batches of time T over p stages, T + (m − 1)·T/p.
double pipelined(double microbatch, double stageSends, const Plan& plan, std::int64_t microbatches) {
    const double stages = static_cast<double>(plan.pipeline);
    const double stage = (microbatch - stageSends) / stages + (stages > 1 ? stageSends / (stages - 1) : 0);
    return microbatch + static_cast<double>(microbatches - 1) * stage;
}

void spreadMemory(Estimate& answer, const Plan& plan) {
    if (!answer.memory) return;
    MemoryUse& use = *answer.memory;
    const double stages = static_cast<double>(plan.pipeline);
    use.weights = use.weights / stages;
    use.kvCache = use.kvCache / stages;
    std::erase_if(answer.warnings, [](const Diagnostic& each) { return each.code == "memory.does-not-fit"; });
    if (use.capacity.value <= 0 || use.total() <= use.capacity) return;
    answer.warnings.push_back(
        warning("memory.does-not-fit",
                fmt::format("a device needs {} of {}: the time is that of devices with enough memory",
                            format(use.total()), format(use.capacity)),
                "Raise tp or pp, lower the batch, or quantise the weights"));
}

// Of the bytes that all devices send, where links state what a byte takes.
void addNetworkEnergy(Estimate& answer, const Talk& talk) {
    double network = 0;
    for (std::size_t i = 0; i < talk.joules.size(); ++i) {
        network += talk.joules[i];
        if (i < answer.operators.joules.size()) answer.operators.joules[i] += talk.joules[i];
    }
    answer.energy = *answer.energy + Joules(network);
    std::string said = "Energy is that of all devices computing";
    if (!talk.withEnergy.empty()) {
        said += fmt::format(" and of the bytes that they send over {}", fmt::join(talk.withEnergy, ", "));
        answer.figures.push_back({"Energy of the network", network, Dimension::Energy});
    }
    if (!talk.withoutEnergy.empty())
        said += fmt::format("; the links of {} state no energy, so it is not included",
                            fmt::join(talk.withoutEnergy, ", "));
    answer.assumptions.push_back(said + "; what devices draw while they wait is not counted");
}

std::string passLabel(const Workload& workload) {
    switch (workload.recipe.options.phase) {
        case Phase::Decode:
            return "Time per output token";
        case Phase::Prefill:
            return "Time to first token";
        default:
            return "Time of one pass";
    }
}

void spreadFigures(Estimate& answer, const Scenario& scenario, const Talk& talk, std::int64_t devices,
                   std::int64_t microbatches, double oneDevice) {
    std::vector<Figure> kept;
    const double scale = answer.latency.value > 0 ? oneDevice / answer.latency.value : 0;
    for (Figure& figure : answer.figures) {
        // Of the shard: a rate of one device and one micro-batch, at its own time.
        if (figure.label == "Energy of the network") kept.push_back(std::move(figure));
        if (figure.label == "Throughput") {
            const bool alike = scenario.workload->recipe.options.phase == Phase::Decode;
            const std::int64_t positions = alike ? 1 : scenario.plan.context;
            figure.value *= scale * static_cast<double>(scenario.plan.data * microbatches * positions);
            kept.push_back(std::move(figure));
        }
    }
    const double seconds = answer.latency.value;
    kept.insert(kept.begin(), Figure{passLabel(*scenario.workload),
                                     seconds,
                                     Dimension::Time,
                                     {},
                                     std::pair{answer.interval.low.value, answer.interval.high.value},
                                     answer.interval.basis});
    kept.push_back({"Communication",
                    talk.seconds,
                    Dimension::Time,
                    {},
                    std::pair{talk.low, talk.high},
                    "Wires alone, to the worst of published measurements"});
    kept.push_back(
        {"Communication share", seconds > 0 ? std::min(1.0, talk.seconds / seconds) : 0, Dimension::Fraction});
    for (const auto& [tier, bytes] : talk.wireBytes) {
        kept.push_back({fmt::format("Sent over {} by a device", tier), bytes, Dimension::Data});
    }
    kept.push_back({"Devices at work", static_cast<double>(devices), Dimension::Count});
    answer.figures = std::move(kept);
}

}  // namespace

bool needsSystem(const Scenario& scenario, const Method& method) {
    return scenario.plan.split() && method.card.level != MethodLevel::System;
}

Expected<Estimate> estimateSpread(const Method& method, const Scenario& scenario, EstimateContext& context) {
    const Plan& plan = scenario.plan;
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
    const Scenario alone{scenario.hardware, sharded->shard, oneDevice, scenario.task};
    auto made = method.estimate(alone, context);
    if (!made) return made;
    Estimate answer = std::move(*made);
    auto network = networkFor(method, **group, scenario, context);
    if (!network) return Unexpected(std::move(network.error()));
    // A bound counts what the wires take at least.
    const bool bound = answer.interval.kind == IntervalKind::Bound;
    auto talk = priceCalls(*sharded, plan, *placement, **network, (*group)->tiers, bound, context);
    if (!talk) return Unexpected(std::move(talk.error()));

    const double computed = answer.latency.value;
    const double microbatch = computed + talk->ofMicrobatch;
    const double total = pipelined(microbatch, talk->stageSends, plan, sharded->microbatches);
    // Hidden behind the computing at best; one after the other at worst.
    const double turns = computed > 0 ? pipelined(computed, 0, plan, sharded->microbatches) / computed : 1;
    answer.interval.low = Seconds(std::min(total, std::max(answer.interval.low.value * turns, talk->low)));
    answer.interval.high = Seconds(std::max(total, answer.interval.high.value * turns + talk->high));
    answer.interval.basis += "; collectives from the wires alone to the worst of published measurements";
    if (answer.bound) answer.bound = Seconds(std::min(total, std::max(answer.bound->value * turns, talk->low)));
    answer.latency = Seconds(total);

    // Columns sum to the latency: computing in its turns, what is sent where it is sent, idle turns in proportion.
    auto& ops = answer.operators;
    const double sent = std::max(0.0, total - computed * turns);
    double told = 0;
    for (const double each : talk->ofOperator) told += each;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const double mine = told > 0 ? talk->ofOperator[i] / told * sent : 0;
        const double busy = ops.seconds[i] * turns;
        if (mine > busy) ops.bound[i] = {BoundKind::Network, -1};
        ops.seconds[i] = busy + mine;
        if (i < ops.lowSeconds.size()) ops.lowSeconds[i] *= turns;
        if (i < ops.highSeconds.size()) ops.highSeconds[i] = ops.highSeconds[i] * turns + mine;
    }
    if (context.wantTimeline) {
        answer.timeline =
            serialTimeline(*sharded->shard, ops, fmt::format("one of {} {}", plan.devices(), (*group)->name));
    }
    const std::int64_t devices = plan.devices();
    if (answer.energy) {
        const double all = static_cast<double>(devices) * static_cast<double>(sharded->microbatches) /
                           static_cast<double>(plan.pipeline);
        answer.energy = *answer.energy * all;
        for (double& joules : ops.joules) joules *= all;
        addNetworkEnergy(answer, *talk);
    }
    for (const int tier : talk->crossed)
        addMoreParts(answer, *scenario.hardware, (*group)->tiers[static_cast<std::size_t>(tier)].read);
    std::erase_if(answer.warnings, [](const Diagnostic& each) { return each.code == "plan.one-device"; });
    answer.warnings.insert(answer.warnings.end(), cluster->warnings.begin(), cluster->warnings.end());
    answer.warnings.insert(answer.warnings.end(), placement->warnings.begin(), placement->warnings.end());
    if (plan.interleave > 1 || plan.zero > 0 || plan.sequence > 0 || plan.offload != 0 ||
        plan.schedule != PipelineSchedule::OneForwardOneBackward)
        answer.warnings.push_back(
            warning("plan.training-only",
                    "vp, zero, shard, sp, sched and offload belong to training steps: a pass leaves them out",
                    "Ask for a training step, or take them out of the plan", Place{{}, 0, 0, "plan"}));
    spreadMemory(answer, plan);
    spreadFigures(answer, scenario, *talk, devices, sharded->microbatches, computed);
    answer.assumptions.insert(answer.assumptions.begin(), fmt::format("{} of {} devices `{}` work as {}", devices,
                                                                      placement->drawn, (*group)->name, toText(plan)));
    for (const std::vector<std::string>* more : {&sharded->assumptions, &std::as_const(talk->assumptions)})
        answer.assumptions.insert(answer.assumptions.end(), more->begin(), more->end());
    answer.assumptions.push_back("Devices compute and communicate in turn; nothing overlaps");
    return answer;
}

}  // namespace orrery
