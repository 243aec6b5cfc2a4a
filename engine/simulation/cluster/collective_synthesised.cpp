// A chunk by a schedule that was found for the links: every link of a member has a queue of pieces, of which the first
// goes as soon as all that is to be in it has come.

#include "simulation/cluster/collectives.h"
#include "simulation/network/synthesis.h"

#include <algorithm>

namespace orrery {

namespace {

/// Of dimensions without switches: as a graph.
Expected<FabricGraph> graphOfDimension(const FabricDimension& one) {
    if (one.routes) {
        // Of links beside each other messages take one.
        FabricGraph graph = one.routes->graph();
        std::vector<FabricGraph::Link> taken;
        for (std::size_t l = 0; l < graph.links.size(); ++l) {
            const FabricGraph::Link& link = graph.links[l];
            const bool ends = link.from < graph.endpoints && link.to < graph.endpoints;
            if (!ends || one.routes->next(link.from, link.to, 0) == static_cast<std::int32_t>(l)) taken.push_back(link);
        }
        graph.links = std::move(taken);
        return graph;
    }
    const auto n = static_cast<std::int32_t>(one.size);
    FabricGraph graph{n, n, {}};
    if (one.shape == TopologyShape::Switch)
        return fail("network.synthesis", "devices that meet in a switch have no links of their own to schedule",
                    "a ring, a full connection or a drawn graph without switches", "take ring, direct or inNetwork");
    for (std::int32_t step = 1; step < (one.shape == TopologyShape::Ring ? 2 : n); ++step)
        for (std::int32_t i = 0; i < n; ++i) graph.links.push_back({i, (i + step) % n, one.bandwidth, one.latency});
    if (one.shape == TopologyShape::Ring)
        for (std::int32_t i = 0; i < n && n > 2; ++i)
            graph.links.push_back({i, (i + n - 1) % n, one.bandwidth, one.latency});
    return graph;
}

}  // namespace

Expected<std::int32_t> Collectives::planOf(TraceCollective op, std::int32_t dimension, std::int64_t piece) {
    const std::uint64_t key = static_cast<std::uint64_t>(piece) << 8 | static_cast<std::uint64_t>(dimension) << 1 |
                              (op == TraceCollective::AllGather ? 1U : 0U);
    if (const auto known = planIndex_.find(key); known != planIndex_.end()) return known->second;
    const auto graph = graphOfDimension(settings_.network.dimensions[static_cast<std::size_t>(dimension)]);
    if (!graph) return Unexpected(graph.error());
    constexpr auto pieces = static_cast<std::int32_t>(synthesised_pieces);
    const auto schedule = op == TraceCollective::AllGather
                              ? synthesiseAllGather(*graph, static_cast<double>(piece), pieces, settings_.seed)
                              : synthesiseReduceScatter(*graph, static_cast<double>(piece), pieces, settings_.seed);
    if (!schedule) return Unexpected(schedule.error());
    std::vector<MemberPlan> plan(static_cast<std::size_t>(graph->endpoints));
    for (MemberPlan& one : plan) one.needs.assign(static_cast<std::size_t>(graph->endpoints * pieces), 0);
    std::vector<std::int32_t> queueOf(graph->links.size(), -1);
    for (const SynthesisedSend& send : schedule->sends) {
        const FabricGraph::Link& link = graph->links[static_cast<std::size_t>(send.link)];
        MemberPlan& from = plan[static_cast<std::size_t>(link.from)];
        MemberPlan& to = plan[static_cast<std::size_t>(link.to)];
        std::int32_t& queue = queueOf[static_cast<std::size_t>(send.link)];
        if (queue < 0) {
            queue = static_cast<std::int32_t>(from.queues.size());
            from.queues.emplace_back();
        }
        from.queues[static_cast<std::size_t>(queue)].push_back({send.piece, link.to});
        ++from.sends;
        ++to.needs[static_cast<std::size_t>(send.piece)];
        ++to.receives;
    }
    const auto index = static_cast<std::int32_t>(plans_.size());
    plans_.push_back(std::move(plan));
    planIndex_.emplace(key, index);
    return index;
}

void Collectives::planBegin(std::uint32_t stream) {
    const Stream& mine = streams_[stream];
    const Collective& its = collectives_[mine.collective];
    const CollectivePhase& phase = phaseOf(its, stream);
    const std::int32_t rank = rankOf_[static_cast<std::size_t>(slotOfStream(stream))];
    const MemberPlan& plan =
        plans_[static_cast<std::size_t>(phase.plan)][static_cast<std::size_t>(indexInPhase(its, phase, rank, stream))];
    PlanState state;
    state.got.assign(plan.needs.size(), 0);
    state.next.assign(plan.queues.size(), 0);
    for (std::size_t p = 0; p < plan.needs.size() && !early_.empty(); ++p)
        while (takeEarly(stream, static_cast<std::uint32_t>(p))) {
            ++state.got[p];
            ++state.received;
        }
    planState_[stream] = std::move(state);
}

// What can go, goes; the last to come or to go ends it.
void Collectives::planSend(std::uint32_t stream) {
    const Stream& mine = streams_[stream];
    const Collective& its = collectives_[mine.collective];
    const CollectivePhase& phase = phaseOf(its, stream);
    const std::int32_t rank = rankOf_[static_cast<std::size_t>(slotOfStream(stream))];
    const MemberPlan& plan =
        plans_[static_cast<std::size_t>(phase.plan)][static_cast<std::size_t>(indexInPhase(its, phase, rank, stream))];
    const auto number = mine.phase;
    const auto bytes = static_cast<double>(phase.message);
    PlanState& state = planState_.at(stream);
    --state.pending;
    if (state.begun) {
        ++state.got[static_cast<std::size_t>(state.adding.front())];
        ++state.received;
        state.adding.pop_front();
    }
    state.begun = true;
    for (std::size_t q = 0; q < plan.queues.size(); ++q) {
        const auto& queue = plan.queues[q];
        while (state.next[q] < queue.size()) {
            const MemberPlan::Send send = queue[state.next[q]];
            const auto piece = static_cast<std::size_t>(send.piece);
            if (state.got[piece] < plan.needs[piece]) break;
            ++state.next[q];
            ++state.sent;
            const std::int32_t to = rankOfIndex(its, phase, rank, send.to, stream);
            post(streamAt(its, to, stream), rank, to, static_cast<std::uint32_t>(send.piece), number, bytes);
        }
    }
    if (state.sent < plan.sends || state.received < plan.receives || state.pending > 0) return;
    planState_.erase(stream);
    phaseDone(stream);
}

void Collectives::planReceive(std::uint32_t stream, std::uint32_t piece) {
    PlanState& state = planState_.at(stream);
    if (!state.begun) {
        ++state.got[piece];
        ++state.received;
        return;
    }
    // What was received is added to what is here before it goes on.
    const CollectivePhase& phase = phaseOf(collectives_[streams_[stream].collective], stream);
    const SimTime sum = phase.op == TraceCollective::ReduceScatter ? reduction(phase.message) : 0;
    ++state.pending;
    state.adding.push_back(static_cast<std::int32_t>(piece));
    queue_.schedule(queue_.now() + endpoint_ + sum, StreamReady, stream);
}

}  // namespace orrery
