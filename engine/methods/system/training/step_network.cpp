#include "methods/system/training/step_network.h"

#include "simulation/cluster/followed_network.h"
#include "simulation/cluster/network_groups.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

/// Whether everyone of a stage sees the same network, in all that he exchanges.
bool stagesAlike(const Plan& plan, const std::vector<FabricDimension>& dimensions, std::int64_t devices) {
    const std::int64_t perStage = plan.tensor * plan.context * plan.data;
    const auto rings = [&](std::int64_t first, std::int64_t size, std::int64_t stride) {
        // All devices together go dimension by dimension, each the same way.
        return size == devices || ringsAlike(dimensions, first, perStage, size, stride);
    };
    const bool plain = std::all_of(dimensions.begin(), dimensions.end(), [](const FabricDimension& one) {
        return !one.routes && one.shape != TopologyShape::Ring;
    });
    if (!plain) return false;
    for (std::int64_t s = 0; s < plan.pipeline; ++s) {
        const std::int64_t first = s * perStage, next = (s + 1) % plan.pipeline * perStage;
        if (!rings(first, plan.tensor, 1) || !rings(first, plan.context, plan.tensor) ||
            !rings(first, plan.data * plan.context, plan.tensor))
            return false;
        if (plan.pipeline > 1 && !alikeApart(dimensions, first, perStage, next - first)) return false;
    }
    return true;
}

double messagesOf(const ClusterJob& job, const ClusterSettings& settings) {
    std::map<std::string_view, const RankGroup*> groups;
    for (const RankGroup& group : job.groups) groups[group.name] = &group;
    double messages = 0;
    for (const TracePtr& trace : job.traces) {
        for (const TraceNode& node : trace->nodes) {
            if (node.work == TraceWork::Send) ++messages;
            if (node.work != TraceWork::Collective) continue;
            const RankGroup& group = *groups.at(trace->groups[static_cast<std::size_t>(node.group)]);
            const double chunks = static_cast<double>(std::max<std::int64_t>(settings.splits, group.block));
            messages += chunks * ringMessages(node.collective, static_cast<std::int64_t>(group.members.size()));
        }
    }
    return messages;
}

}  // namespace

Expected<ClusterJob> StepNetwork::jobOf(const TrainingProgram& program) const {
    if (folded_) return trainingJob(program, devices_);
    auto job = everyRank(program);
    if (!job) return job;
    const auto idle = std::make_shared<const ExecutionTrace>();
    while (static_cast<std::int64_t>(job->traces.size()) < devices_) job->traces.push_back(idle);
    for (RankGroup& group : job->groups) group.block = blockOf(settings_.network.dimensions, group.members);
    return job;
}

Expected<StepNetwork> StepNetwork::make(const TrainingProgram& program, const std::vector<NetworkTier>& tiers,
                                        LinkCarrying carrying) {
    auto fabric = drawnFabric(tiers, ncclTuning());
    if (!fabric) return Unexpected(std::move(fabric.error()));
    StepNetwork made;
    ClusterSettings& settings = made.settings_;
    settings.network = std::move(*fabric);
    settings.network.carrying = carrying;
    if (settings.network.dimensions.empty()) settings.network.dimensions = {FabricDimension{}};  // two at least
    settings.startDelay = libraryStart(ncclTuning());
    settings.activeChunks = 64;
    for (const FabricDimension& one : settings.network.dimensions) made.devices_ *= one.size;
    const Plan& plan = program.plan;
    made.folded_ = stagesAlike(plan, settings.network.dimensions, made.devices_);
    constexpr std::int64_t most = 4096;
    if (!made.folded_ && made.devices_ > most)
        return fail("training.ranks",
                    fmt::format("messages of {} devices would have to be followed one by one", made.devices_),
                    fmt::format("at most {} devices, or groups that each lie in one switch", most),
                    "take network=closed-form, or sizes of the plan that divide those of the network's tiers");
    const auto job = made.jobOf(program);
    if (!job) return Unexpected(job.error());
    // Pieces let links that store messages whole work one behind the other.
    double messages = 0;
    for (const std::int64_t splits : {4, 2, 1}) {
        if (carrying == LinkCarrying::Fluid && splits > 1) continue;
        settings.splits = splits;
        messages = messagesOf(*job, settings);
        if (messages <= mostMessages(carrying)) return made;
    }
    return fail("network.messages", fmt::format("the step has about {:.0f} million messages", messages / 1e6),
                fmt::format("at most {:.0f} million can be followed", mostMessages(carrying) / 1e6),
                "take network=closed-form, fewer micro-batches, or sizes of the plan that divide those of the "
                "network's tiers, so that one device stands for its stage");
}

Expected<ClusterOutcome> StepNetwork::run(const TrainingProgram& program, bool spans,
                                          const std::stop_token& stop) const {
    auto job = jobOf(program);
    if (!job) return Unexpected(std::move(job.error()));
    const Plan& plan = program.plan;
    const std::int64_t perStage = folded_ ? 1 : plan.tensor * plan.context * plan.data;
    ClusterSettings settings = settings_;
    settings.network.useOverTime = spans;
    if (spans)
        for (std::int64_t s = 0; s < plan.pipeline; ++s)
            settings.spansOf.push_back(static_cast<std::int32_t>(s * perStage));
    auto outcome = runCluster(std::move(*job), settings, spans, stop, false);
    if (!outcome) return outcome;
    // Of a stage the device that ends last, under the number of its stage; its spans are the first one's.
    std::vector<RankResult> stages;
    for (std::int64_t s = 0; s < plan.pipeline; ++s) {
        const auto first = outcome->ranks.begin() + s * perStage;
        stages.push_back(*std::max_element(
            first, first + perStage, [](const RankResult& a, const RankResult& b) { return a.finish < b.finish; }));
    }
    outcome->ranks = std::move(stages);
    for (RankSpan& span : outcome->spans) span.slot = static_cast<std::int32_t>(span.slot / perStage);
    return outcome;
}

std::string StepNetwork::assumption() const {
    return fmt::format(
        "Exchanges are followed over the drawn links ({}), in {} piece{} each, as rings with NCCL's start and steps; "
        "{}",
        settings_.network.carrying == LinkCarrying::Fluid ? "shared max-min fair" : "one message at a time",
        settings_.splits, settings_.splits == 1 ? "" : "s",
        folded_ ? "one device stands for its stage, as the network looks the same to all" : "every device is run");
}

}  // namespace orrery
