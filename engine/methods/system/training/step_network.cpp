#include "methods/system/training/step_network.h"

#include "simulation/cluster/followed_network.h"
#include "simulation/cluster/network_groups.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

/// Calls good(members) once for every group of a kind; whether all are.
template <class Good>
bool everyGroup(ProgramGroup kind, const Plan& plan, Good&& good) {
    std::vector<bool> seen(static_cast<std::size_t>(plan.devices()), false);
    for (std::int64_t r = 0; r < plan.devices(); ++r) {
        if (seen[static_cast<std::size_t>(r)]) continue;
        const std::vector<std::int32_t> members = membersOf(kind, plan, r);
        for (const std::int32_t member : members) seen[static_cast<std::size_t>(member)] = true;
        if (members.size() > 1 && !good(members)) return false;
    }
    return true;
}

constexpr ProgramGroup every_group[] = {ProgramGroup::Tensor,  ProgramGroup::Context,         ProgramGroup::Gradients,
                                        ProgramGroup::Experts, ProgramGroup::ExpertGradients, ProgramGroup::Replicas,
                                        ProgramGroup::Ends};

bool isPlain(const FabricDimension& one) {
    return !one.routes && one.shape != TopologyShape::Ring;
}

/// Whether everyone of a stage sees the same network, in all that he exchanges.
bool stagesAlike(const Plan& plan, bool tied, const std::vector<FabricDimension>& dimensions, std::int64_t devices) {
    const std::int64_t perStage = plan.tensor * plan.context * plan.data;
    if (!std::all_of(dimensions.begin(), dimensions.end(), isPlain)) return false;
    // Groups over both stages of a pair go different ways inside and between them.
    if (plan.schedule == PipelineSchedule::DualPipe) return false;
    for (const ProgramGroup kind : every_group) {
        if (kind == ProgramGroup::Ends && !tied) continue;
        std::vector<int> ofStage(static_cast<std::size_t>(plan.pipeline), -1);
        const bool good = everyGroup(kind, plan, [&](const std::vector<std::int32_t>& members) {
            // All devices together go dimension by dimension, each the same way.
            if (static_cast<std::int64_t>(members.size()) == devices) return true;
            const int d = ringDimension(dimensions, members);
            int& known = ofStage[static_cast<std::size_t>(members.front() / perStage)];
            if (d < 0 || (known >= 0 && known != d)) return false;
            known = d;
            return true;
        });
        if (!good) return false;
    }
    for (std::int64_t s = 0; s < plan.pipeline && plan.pipeline > 1; ++s)
        if (!alikeApart(dimensions, s * perStage, perStage, ((s + 1) % plan.pipeline - s) * perStage)) return false;
    return true;
}

/// Devices beside each other that do the same at the same time: what they exchange stays among them, over one plain
/// dimension, or goes to the same place of other such sets, each in a network of its own.
std::int64_t alikeDevices(const Plan& plan, bool tied, const std::vector<FabricDimension>& dimensions,
                          std::int64_t devices) {
    const std::int64_t perStage = plan.tensor * plan.context * plan.data;
    std::int64_t best = 1, block = 1;
    for (const FabricDimension& one : dimensions) {
        block *= one.size;
        if (perStage % block != 0 || !isPlain(one)) break;
        const bool good = std::all_of(std::begin(every_group), std::end(every_group), [&](ProgramGroup kind) {
            if (kind == ProgramGroup::Ends && !tied) return true;
            int known = -1;
            return everyGroup(kind, plan, [&](const std::vector<std::int32_t>& members) {
                if (static_cast<std::int64_t>(members.size()) == devices) return true;
                const auto every = [&](auto&& same) { return std::all_of(members.begin(), members.end(), same); };
                if (every([&](std::int32_t m) { return m % block == members.front() % block; })) return true;
                if (!every([&](std::int32_t m) { return m / block == members.front() / block; })) return false;
                const int d = ringDimension(dimensions, members);
                if (d < 0 || (known >= 0 && known != d)) return false;
                known = d;
                return true;
            });
        });
        if (good) best = block;
    }
    return best;
}

double messagesOf(const ClusterJob& job, const ClusterSettings& settings) {
    std::map<std::string_view, const RankGroup*> groups;
    for (const RankGroup& group : job.groups) groups[group.name] = &group;
    double messages = 0;
    for (const TracePtr& trace : job.traces) {
        for (const TraceNode& node : trace->nodes) {
            const LinkCarrying carrying = settings.network.carrying;
            if (node.work == TraceWork::Send) messages += messageWeight(carrying, static_cast<double>(node.bytes));
            if (node.work != TraceWork::Collective) continue;
            const RankGroup& group = *groups.at(trace->groups[static_cast<std::size_t>(node.group)]);
            const double chunks = static_cast<double>(std::max<std::int64_t>(settings.splits, group.block));
            const auto members = static_cast<std::int64_t>(group.members.size());
            const double part = static_cast<double>(node.bytes) / chunks /
                                (node.collective == TraceCollective::AllGather ? 1 : static_cast<double>(members));
            messages += chunks * ringMessages(node.collective, members) * messageWeight(carrying, part);
        }
    }
    return messages;
}

}  // namespace

Expected<ClusterJob> StepNetwork::jobOf(const TrainingProgram& program) const {
    if (folded_) return trainingJob(program, devices_);
    auto job = everyRank(program, alike_);
    if (!job) return job;
    const std::int64_t sets = devices_ / alike_;
    const auto idle = std::make_shared<const ExecutionTrace>();
    while (static_cast<std::int64_t>(job->traces.size()) < sets) job->traces.push_back(idle);
    for (std::int64_t r = 0; alike_ > 1 && r < devices_; ++r)
        job->slotOf.push_back(static_cast<std::int32_t>(r / alike_));
    for (RankGroup& group : job->groups) group.block = blockOf(settings_.network.dimensions, group.members);
    return job;
}

Expected<StepNetwork> StepNetwork::make(const TrainingProgram& program, const std::vector<NetworkTier>& tiers,
                                        LinkCarrying carrying, bool fold) {
    fold = fold && !inPackets(carrying);  // packets are marked by chance
    auto fabric = drawnFabric(tiers, ncclTuning());
    if (!fabric) return Unexpected(std::move(fabric.error()));
    StepNetwork made;
    ClusterSettings& settings = made.settings_;
    settings.network = std::move(*fabric);
    settings.network.carrying = carrying;
    if (settings.network.dimensions.empty()) settings.network.dimensions = {FabricDimension{}};  // two at least
    settings.startDelay = libraryStart(ncclTuning());
    settings.activeChunks = 64;
    settings.remote = {program.host.latency * 1e9, program.host.link};
    settings.groupAlgorithms[3] = {StepAlgorithm::Direct, 0};
    settings.algorithms[3] = {settings.groupAlgorithms[3]};
    for (const FabricDimension& one : settings.network.dimensions) made.devices_ *= one.size;
    const Plan& plan = program.plan;
    made.folded_ = fold && stagesAlike(plan, program.tiedBytes > 0, settings.network.dimensions, made.devices_);
    if (fold && !made.folded_)
        made.alike_ = alikeDevices(plan, program.tiedBytes > 0, settings.network.dimensions, made.devices_);
    constexpr std::int64_t most = 4096;
    if (!made.folded_ && made.devices_ / made.alike_ > most)
        return fail("training.ranks",
                    fmt::format("messages of {} devices would have to be followed one by one", made.devices_),
                    fmt::format("at most {} devices, or groups that each lie in one switch", most),
                    "take network=closed-form, or sizes of the plan that divide those of the network's tiers");
    const auto job = made.jobOf(program);
    if (!job) return Unexpected(job.error());
    // Pieces let links that store messages whole work one behind the other.
    double messages = 0;
    for (const std::int64_t splits : {4, 2, 1}) {
        if (carrying != LinkCarrying::StoreAndForward && splits > 1) continue;
        settings.splits = splits;
        messages = messagesOf(*job, settings);
        if (messages <= mostMessages(carrying)) return made;
    }
    return fail("network.messages",
                fmt::format("the step has about {:.3g} million {}", messages / 1e6,
                            inPackets(carrying) ? "packets" : "messages"),
                fmt::format("at most {:.3g} million can be followed", mostMessages(carrying) / 1e6),
                "take network=closed-form, fewer micro-batches, or sizes of the plan that divide those of the "
                "network's tiers, so that one device represents its stage");
}

Expected<ClusterOutcome> StepNetwork::run(const TrainingProgram& program, bool spans,
                                          const std::stop_token& stop) const {
    auto job = jobOf(program);
    if (!job) return Unexpected(std::move(job.error()));
    const Plan& plan = program.plan;
    const std::int64_t perStage = folded_ ? 1 : plan.tensor * plan.context * plan.data / alike_;
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
        settings_.network.carrying == LinkCarrying::Fluid     ? "shared max-min fair"
        : settings_.network.carrying == LinkCarrying::Packets ? "in packets, with pauses and rate control"
        : settings_.network.carrying == LinkCarrying::Ns3     ? "in packets of ns-3, by DCTCP with marks"
                                                              : "one message at a time",
        settings_.splits, settings_.splits == 1 ? "" : "s",
        folded_      ? std::string("one device represents its stage, because the network is the same for all")
        : alike_ > 1 ? fmt::format("one device represents {} neighbours", alike_)
                     : std::string("every device is run"));
}

}  // namespace orrery
