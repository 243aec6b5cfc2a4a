#include "simulation/cluster/cluster_run.h"

#include "simulation/cluster/cluster_machine.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

bool equalRanks(const ClusterJob& job, const ClusterSettings& settings) {
    if (!job.slotOf.empty() || job.traces.size() < 2) return false;
    const TracePtr& first = job.traces.front();
    if (std::any_of(job.traces.begin(), job.traces.end(), [&](const TracePtr& one) { return one != first; }))
        return false;
    const bool alone = std::any_of(first->nodes.begin(), first->nodes.end(), [&](const TraceNode& node) {
        return node.work == TraceWork::Send || node.work == TraceWork::Receive ||
               (node.work == TraceWork::Collective && node.group >= 0);
    });
    // Packets are marked by chance.
    if (alone || (settings.network.congestion && inPackets(settings.network.carrying))) return false;
    for (const FabricDimension& one : settings.network.dimensions)
        if (one.routes && settings.network.congestion) return false;
    for (const auto& choices : settings.algorithms) {
        for (std::size_t d = 0; d < choices.size(); ++d) {
            if (choices[d].algorithm == StepAlgorithm::DoubleBinaryTree ||
                choices[d].algorithm == StepAlgorithm::Synthesised)
                return false;
            // Partners at 1, 2, 4, … lie either way of a ring: its links are not used alike.
            if (choices[d].algorithm != StepAlgorithm::HalvingDoubling || !settings.network.congestion) continue;
            for (const FabricDimension& one : settings.network.dimensions)
                if (one.shape == TopologyShape::Ring) return false;
        }
    }
    return true;
}

// Before anything is allocated for the network: a trace for every device.
Expected<void> checkCluster(const ClusterJob& job, const ClusterSettings& settings) {
    if (settings.splits < 1 || settings.activeChunks < 1 || !(settings.endpointDelay >= 0))
        return fail("cluster.settings", "splits and active chunks begin at 1, delays at 0", {}, {});
    constexpr std::int64_t most = 1 << 24;
    std::int64_t devices = 1;
    for (const FabricDimension& one : settings.network.dimensions)
        devices = std::min(most + 1, devices * std::clamp<std::int64_t>(one.size, 1, most));
    const std::size_t slots = job.traces.size();
    const std::size_t given = job.slotOf.empty() ? slots : job.slotOf.size();
    if (devices <= most && (slots == 0 || static_cast<std::int64_t>(given) != devices))
        return fail("cluster.ranks", fmt::format("{} traces for a network of {} devices", given, devices),
                    "a trace for every device", "change the sizes of the network, or record the missing ranks");
    if (std::any_of(job.slotOf.begin(), job.slotOf.end(),
                    [&](std::int32_t slot) { return slot < 0 || static_cast<std::size_t>(slot) >= slots; }))
        return fail("cluster.ranks", "a rank has no trace", "a trace for every device", {});
    return {};
}

Expected<ClusterOutcome> runCluster(ClusterJob job, const ClusterSettings& settings, bool keepSpans,
                                    const std::stop_token& stop, bool fold) {
    if (auto good = checkCluster(job, settings); !good) return Unexpected(std::move(good.error()));
    const std::size_t ranks = job.traces.size();
    const bool folds = fold && !keepSpans && equalRanks(job, settings);
    if (folds) {
        job.traces.resize(1);
        job.slotOf.assign(ranks, 0);
    }
    auto fabric = MessageFabric::make(settings.network, job.slotOf);
    if (!fabric) return Unexpected(std::move(fabric.error()));
    auto outcome = ClusterMachine(job, settings, std::move(*fabric), keepSpans).run(stop);
    if (outcome && folds) {
        outcome->ranks.resize(ranks, RankResult(outcome->ranks.front()));
        outcome->messages *= ranks;
    }
    return outcome;
}

}  // namespace orrery
