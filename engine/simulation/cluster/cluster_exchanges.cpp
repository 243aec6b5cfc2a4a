// What ranks of a run exchange: collectives, messages, memory that is not their own; and who waits for whom when
// nothing goes on.

#include "simulation/cluster/cluster_machine.h"

#include <fmt/format.h>

namespace orrery {

void ClusterMachine::refuse(std::int32_t slot, std::uint32_t index, const char* code, std::string message,
                            std::string expected, std::string hint) {
    const ExecutionTrace& trace = *ranks_[static_cast<std::size_t>(slot)].trace;
    const TraceNode& node = trace.nodes[index];
    problem_ =
        fail(code, std::move(message), std::move(expected), std::move(hint),
             {{},
              0,
              0,
              fmt::format("rank {}, node {} ({})", rankOf_[static_cast<std::size_t>(slot)], node.id, trace.name(node))})
            .value();
}

std::uint32_t ClusterMachine::channel(std::int32_t source, std::int32_t target, std::int32_t tag, std::int64_t bytes) {
    const auto [at, made] =
        channelOf_.try_emplace({source, target, tag, bytes}, static_cast<std::uint32_t>(channels_.size()));
    if (made) channels_.emplace_back();
    return at->second;
}

bool ClusterMachine::isPeer(std::int32_t slot, std::int32_t peer) const {
    return peer >= 0 && peer < fabric_.devices() && peer != rankOf_[static_cast<std::size_t>(slot)];
}

void ClusterMachine::exchange(std::int32_t slot, std::uint32_t index, Unit unit) {
    switch (ranks_[static_cast<std::size_t>(slot)].trace->nodes[index].work) {
        case TraceWork::Load:
        case TraceWork::Store:
            return load(slot, index, unit);
        case TraceWork::Send:
            return send(slot, index, unit);
        case TraceWork::Receive:
            return receive(slot, index);
        default:
            return collective(slot, index, unit);
    }
}

// An exchange of a known length.
void ClusterMachine::occupy(std::int32_t slot, Unit unit, double nanoseconds) {
    ranks_[static_cast<std::size_t>(slot)].lanes[unit].busy = unit != Free;
    exchangeBegins(slot);
    queue_.schedule(queue_.now() + fabric_.ticks(nanoseconds), UnitDone,
                    static_cast<std::uint32_t>(slot) * units_ + unit);
}

void ClusterMachine::load(std::int32_t slot, std::uint32_t index, Unit unit) {
    const TraceNode& node = ranks_[static_cast<std::size_t>(slot)].trace->nodes[index];
    if (settings_.remote.bandwidth <= 0)
        return refuse(slot, index, "cluster.remote-memory",
                      "the trace uses memory outside the device and there is none", "a remote memory with a bandwidth",
                      "state it in memory.json");
    const double bytes = node.tensorBytes > 0 ? node.tensorBytes : static_cast<double>(node.bytes);
    occupy(slot, unit, settings_.remote.latency + bytes / (settings_.remote.bandwidth / 1e9));
}

void ClusterMachine::send(std::int32_t slot, std::uint32_t index, Unit unit) {
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    const TraceNode& node = rank.trace->nodes[index];
    if (!isPeer(slot, node.peer))
        return refuse(slot, index, "cluster.peer", fmt::format("a send to rank {}", node.peer),
                      fmt::format("another one of {} ranks", fabric_.devices()));
    rank.lanes[unit].busy = unit != Free;
    exchangeBegins(slot);
    std::uint32_t at = 0;
    if (freeDirects_.empty()) {
        at = static_cast<std::uint32_t>(directs_.size());
        directs_.emplace_back();
    } else {
        at = freeDirects_.back();
        freeDirects_.pop_back();
    }
    const std::int32_t number = rankOf_[static_cast<std::size_t>(slot)], target = slotOf(node.peer);
    const auto bytes = static_cast<double>(node.bytes);
    directs_[at] = {
        fabric_.begin(number, node.peer), slot, target, index, channel(slot, target, node.tag, node.bytes), bytes};
    ++outcome_.messages;
    if (!settings_.astraSim) exchangeBegins(target);
    if (settings_.prices) {
        queue_.schedule(queue_.now() + fabric_.ticks(settings_.prices->message(number, node.peer, bytes) * 1e9),
                        DirectThere, at);
    } else if (network_) {
        network_->send(number, node.peer, bytes, {DirectThere, at});
    } else if (settings_.network.congestion) {
        handle({DirectHop, at});
    } else {
        queue_.schedule(queue_.now() + fabric_.alone(number, node.peer, bytes), DirectThere, at);
    }
}

void ClusterMachine::collective(std::int32_t slot, std::uint32_t index, Unit unit) {
    using enum TraceCollective;
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    const TraceNode& node = rank.trace->nodes[index];
    if (node.collective == Broadcast && settings_.astraSim)
        return occupy(slot, unit, node.microseconds > 0 ? node.microseconds * 1000 : 1);
    // A collective that a recording has without its size.
    if (node.bytes == 0 && node.microseconds > 0 && !settings_.astraSim && !settings_.prices)
        return occupy(slot, unit, node.microseconds * 1000);
    if (settings_.astraSim && node.collective != AllReduce && node.collective != AllGather &&
        node.collective != ReduceScatter && node.collective != AllToAll)
        return refuse(slot, index, "cluster.collective",
                      fmt::format("a {} cannot be simulated", toText(node.collective)),
                      "all-reduce, all-gather, reduce-scatter or all-to-all");
    if (slot == 0 && !settings_.prices && Collectives::hasRoot(node.collective)) ++rooted_;
    CollectiveRequest request{node.collective, node.bytes, -1, node.dimensions, node.priority};
    if (node.group >= 0) request.group = rank.group[static_cast<std::size_t>(node.group)];
    if (request.group < -1)
        return refuse(slot, index, "cluster.group",
                      fmt::format("group `{}` is not stated", rank.trace->groups[static_cast<std::size_t>(node.group)]),
                      "a list of its ranks", "name it in the file of communicators");
    rank.lanes[unit].busy = unit != Free;
    exchangeBegins(slot);
    if (auto joined = collectives_->join(slot, index, request); !joined) {
        const Diagnostic& problem = joined.error();
        refuse(slot, index, problem.code.c_str(), problem.message, problem.expected, problem.hint);
    }
}

void ClusterMachine::receive(std::int32_t slot, std::uint32_t index) {
    const TraceNode& node = ranks_[static_cast<std::size_t>(slot)].trace->nodes[index];
    if (!isPeer(slot, node.peer))
        return refuse(slot, index, "cluster.peer", fmt::format("a receive from rank {}", node.peer),
                      fmt::format("another one of {} ranks", fabric_.devices()));
    if (settings_.astraSim) exchangeBegins(slot);
    Channel& its = channels_[channel(slotOf(node.peer), slot, node.tag, node.bytes)];
    const auto at = static_cast<std::uint32_t>(receivers_.size());
    receivers_.push_back({slot, index});
    if (its.come > 0) {
        --its.come;
        queue_.schedule(queue_.now(), ReceiveDone, at);
    } else {
        its.receivers.push_back(at);
    }
}

void ClusterMachine::directThere(std::uint32_t message) {
    const Direct come = directs_[message];
    freeDirects_.push_back(message);
    done(come.source, come.node, settings_.astraSim ? Exchange : Free);
    if (!settings_.astraSim) exchangeEnds(come.target);
    Channel& its = channels_[come.channel];
    if (its.receivers.empty()) {
        ++its.come;
        return;
    }
    const Receiver receiver = receivers_[its.receivers.front()];
    its.receivers.pop_front();
    received(receiver);
}

// For the receiver a message is under way from when it is sent: who waits for one that nobody has sent yet waits for
// another rank's computing.
void ClusterMachine::received(const Receiver& its) {
    if (!settings_.astraSim) exchangeBegins(its.slot);
    done(its.slot, its.node, Free);
}

std::string ClusterMachine::waitsFor(std::int32_t slot) const {
    const Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    for (std::size_t u = Exchange; u < rank.lanes.size(); ++u) {
        if (!rank.lanes[u].busy) continue;
        const TraceNode& node = rank.trace->nodes[rank.lanes[u].doing];
        return fmt::format("for {} (node {}, {})",
                           node.work == TraceWork::Collective ? collectives_->waitsFor(slot, rank.lanes[u].doing)
                                                              : fmt::format("a message to rank {}", node.peer),
                           node.id, rank.trace->name(node));
    }
    for (const Channel& one : channels_) {
        for (const std::uint32_t at : one.receivers) {
            if (receivers_[at].slot != slot) continue;
            const TraceNode& node = rank.trace->nodes[receivers_[at].node];
            return fmt::format("for {} B with tag {} from rank {} (node {}, {})", node.bytes, node.tag, node.peer,
                               node.id, rank.trace->name(node));
        }
    }
    return "for nothing that is under way";
}

Unexpected ClusterMachine::deadlock() const {
    std::string who;
    std::size_t count = 0;
    constexpr std::size_t most = 4;
    for (std::size_t s = 0; s < ranks_.size(); ++s) {
        if (ranks_[s].finished) continue;
        if (++count <= most)
            who += fmt::format("{}rank {} waits {}", who.empty() ? "" : "; ", rankOf_[s],
                               waitsFor(static_cast<std::int32_t>(s)));
    }
    if (count > most) who += fmt::format("; {} more ranks wait", count - most);
    return fail("cluster.deadlock", "the run cannot go on: " + who, "exchanges in which all sides take part",
                "compare the traces of these ranks at these nodes");
}

}  // namespace orrery
