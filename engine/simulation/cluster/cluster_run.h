#pragma once

// Execution traces on a cluster: every rank does its nodes in the order of their dependencies, its device one
// computation and one exchange at a time, and all share the network. Events in whole picoseconds; a run depends on its
// inputs alone.

#include "base/diagnostic.h"
#include "simulation/cluster/cluster_settings.h"
#include "simulation/cluster/collectives.h"
#include "workload/traces/execution_trace.h"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

using TracePtr = std::shared_ptr<const ExecutionTrace>;

/// What runs: a trace for every rank and the communicators that the traces name.
struct ClusterJob {
    std::vector<TracePtr> traces;  ///< by slot
    /// Which slot a rank's trace stands in, for ranks that do the same at the same time; empty: rank r in slot r.
    std::vector<std::int32_t> slotOf;
    std::vector<RankGroup> groups;  ///< with names and members; the rest is filled in
    /// By slot: of its trace's groups the index in `groups`, -1 for all ranks. Empty: they are found by their names.
    std::vector<std::vector<std::int32_t>> groupOf;
};

/// A span of one rank's time, for timelines.
struct RankSpan {
    std::int32_t slot = 0;
    std::uint32_t node = 0;  ///< index into the slot's trace
    SimTime begin = 0, end = 0;
};

struct RankResult {
    SimTime finish = 0;
    SimTime compute = 0;   ///< of its device, summed
    SimTime host = 0;      ///< of its host, summed
    SimTime exchange = 0;  ///< during which a collective or message was under way
    /// During which its device waited for an exchange and did not compute.
    SimTime exposed = 0;
};

/// Of a network of packets.
struct PacketCounts {
    std::uint64_t packets = 0, pauses = 0, slowDowns = 0;
};

struct ClusterOutcome {
    std::vector<RankResult> ranks;              ///< by slot
    std::vector<RankSpan> spans;                ///< only where they were asked for
    std::vector<MessageFabric::LinkUse> links;  ///< of every slot, as MessageFabric::use(); empty without congestion
    LinkUseOverTime linkUse;                    ///< of the same links; only where FabricSettings asks for it
    std::uint64_t events = 0, messages = 0;
    PacketCounts packets;
    Diagnostics warnings;  ///< what is not followed message by message
};

/// Whether all ranks do the same on a network that looks the same from each: then one stands for all, and its messages
/// come from its likes at the time at which it sends them.
bool equalRanks(const ClusterJob& job, const ClusterSettings& settings);

/// What runCluster() checks first.
Expected<void> checkCluster(const ClusterJob& job, const ClusterSettings& settings);

/// Runs to the end; equal ranks are run once unless `fold` is off, with the same result. Fails with `cluster.ranks`
/// where traces and network do not fit, `cluster.group`, `cluster.mismatch`, `cluster.not-member`, `cluster.peer`,
/// `cluster.collective` (one that cannot be done), `cluster.chunks` (more than fit into memory),
/// `cluster.remote-memory`, `cluster.time` (beyond MessageFabric::furthest), `cluster.deadlock` with who waits for
/// what, `cluster.settings`, `network.*`, `study.cancelled`.
Expected<ClusterOutcome> runCluster(ClusterJob job, const ClusterSettings& settings, bool keepSpans = false,
                                    const std::stop_token& stop = {}, bool fold = true);

}  // namespace orrery
