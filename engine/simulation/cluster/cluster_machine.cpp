#include "simulation/cluster/cluster_machine.h"

#include "simulation/network/fluid_network.h"
#include "simulation/network/ns3_network.h"
#include "simulation/network/packet_network.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

ClusterMachine::Unit ClusterMachine::unitOf(const TraceNode& node) const {
    if (node.onHost) return Host;
    switch (node.work) {
        case TraceWork::Compute:
            return Device;
        case TraceWork::Receive:
        case TraceWork::Nothing:
            return Free;
        case TraceWork::Collective:
            return settings_.astraSim ? Exchange
                                      : static_cast<Unit>(Exchange + 1 + static_cast<std::uint32_t>(node.group + 1));
        case TraceWork::Send:
            return settings_.astraSim ? Exchange : Free;
        default:
            return Exchange;
    }
}

ClusterMachine::Users ClusterMachine::usersOf(const ExecutionTrace& trace) {
    Users users;
    users.begin.assign(trace.nodes.size() + 1, 0);
    for (const std::uint32_t earlier : trace.waits) ++users.begin[earlier + 1];
    for (std::size_t i = 0; i < trace.nodes.size(); ++i) users.begin[i + 1] += users.begin[i];
    users.user.resize(trace.waits.size());
    std::vector<std::uint32_t> at(users.begin.begin(), users.begin.end() - 1);
    for (std::size_t i = 0; i < trace.nodes.size(); ++i)
        for (const std::uint32_t earlier : trace.waitsOf(trace.nodes[i]))
            users.user[at[earlier]++] = static_cast<std::uint32_t>(i);
    return users;
}

Expected<void> ClusterMachine::prepareGroups() {
    const std::int64_t devices = fabric_.devices();
    for (RankGroup& group : job_.groups) {
        for (std::size_t m = 0; m < group.members.size(); ++m) {
            const std::int32_t rank = group.members[m];
            if (rank < 0 || rank >= devices || !group.position.emplace(rank, static_cast<std::int32_t>(m)).second)
                return fail(
                    "cluster.group",
                    fmt::format("group `{}` names rank {} twice or beyond the {} devices", group.name, rank, devices),
                    "different ranks of the network", {});
            group.local.emplace(slotOf(rank), static_cast<std::int32_t>(group.local.size()));
        }
    }
    return {};
}

void ClusterMachine::prepareRank(std::size_t slot, const std::map<std::string, std::int32_t, std::less<>>& groups) {
    Rank& rank = ranks_[slot];
    rank.trace = job_.traces[slot].get();
    auto found = users_.find(rank.trace);
    if (found == users_.end()) found = users_.emplace(rank.trace, usersOf(*rank.trace)).first;
    rank.users = &found->second;
    rank.left = rank.trace->nodes.size();
    for (std::size_t g = 0; g < rank.trace->groups.size(); ++g) {
        const auto at = groups.find(rank.trace->groups[g]);
        std::int32_t index = !job_.groupOf.empty() ? job_.groupOf[slot][g] : at == groups.end() ? -2 : at->second;
        // A group of all ranks is no group of its own, whatever their order.
        if (!settings_.prices && index >= 0 &&
            job_.groups[static_cast<std::size_t>(index)].members.size() == static_cast<std::size_t>(fabric_.devices()))
            index = -1;
        rank.group.push_back(index);
    }
    rank.lanes.resize(settings_.astraSim ? Exchange + 1 : Exchange + 2 + rank.trace->groups.size());
    units_ = std::max(units_, static_cast<std::uint32_t>(rank.lanes.size()));
    rank.waits.reserve(rank.left);
    for (std::size_t i = 0; i < rank.trace->nodes.size(); ++i) {
        const TraceNode& node = rank.trace->nodes[i];
        rank.waits.push_back(node.waitsEnd - node.waitsBegin);
        if (rank.waits.back() == 0) rank.lanes[unitOf(node)].ready.push(static_cast<std::uint32_t>(i));
    }
    rank.finished = rank.left == 0;
    unfinished_ += rank.finished ? 0 : 1;
}

Expected<void> ClusterMachine::prepare() {
    const std::size_t slots = job_.traces.size();
    rankOf_.assign(slots, -1);
    for (std::int32_t r = 0; r < static_cast<std::int32_t>(fabric_.devices()); ++r)
        if (std::int32_t& first = rankOf_[static_cast<std::size_t>(slotOf(r))]; first < 0) first = r;
    if (std::find(rankOf_.begin(), rankOf_.end(), -1) != rankOf_.end())
        return fail("cluster.ranks", "a trace stands for no rank", "a rank for every trace", {});
    if (auto good = prepareGroups(); !good) return good;
    std::map<std::string, std::int32_t, std::less<>> groups;
    for (std::size_t g = 0; g < job_.groups.size(); ++g)
        groups.emplace(job_.groups[g].name, static_cast<std::int32_t>(g));
    std::size_t most = 0;
    for (const TracePtr& trace : job_.traces) most = std::max(most, trace->groups.size());
    constexpr std::size_t most_units = 1 << 26;  // 40 bytes each
    if (most >= most_units / slots)
        return fail("cluster.group", fmt::format("{} ranks with up to {} communicators each", slots, most),
                    "fewer communicators", "check the names of the traces' communicators");
    collectives_ = std::make_unique<Collectives>(settings_, fabric_, queue_, *this, rankOf_, job_.slotOf, job_.groups);
    if (settings_.network.congestion && settings_.network.carrying == LinkCarrying::Fluid)
        network_ = std::make_unique<FluidNetwork>(fabric_, queue_);
    if (settings_.network.congestion && settings_.network.carrying == LinkCarrying::Packets) {
        auto packets = std::make_unique<PacketNetwork>(fabric_, queue_, settings_.seed);
        packets_ = packets.get();
        network_ = std::move(packets);
    }
    if (settings_.network.congestion && settings_.network.carrying == LinkCarrying::Ns3) {
        auto packets = Ns3Network::start(fabric_, queue_, settings_.seed);
        if (!packets) return Unexpected(std::move(packets.error()));
        ns3_ = packets->get();
        network_ = std::move(*packets);
    }
    if (network_) collectives_->carryBy(*network_);
    ranks_.resize(slots);
    outcome_.ranks.resize(slots);
    watched_.assign(slots, false);
    for (const std::int32_t slot : settings_.spansOf)
        if (slot >= 0 && static_cast<std::size_t>(slot) < slots) watched_[static_cast<std::size_t>(slot)] = true;
    for (std::size_t s = 0; s < slots; ++s) prepareRank(s, groups);
    return {};
}

Expected<ClusterOutcome> ClusterMachine::run(const std::stop_token& stop) {
    if (auto good = begin(); !good) return Unexpected(std::move(good.error()));
    if (auto good = advance(MessageFabric::furthest, stop); !good) return Unexpected(std::move(good.error()));
    return finish();
}

Expected<void> ClusterMachine::begin() {
    if (auto good = prepare(); !good) return good;
    for (std::size_t s = 0; s < ranks_.size() && !problem_; ++s) issue(static_cast<std::int32_t>(s));
    return {};
}

Expected<void> ClusterMachine::advance(SimTime until, const std::stop_token& stop, std::uint64_t events) {
    while (!queue_.empty() && !problem_ && queue_.taken() < events &&
           (until >= MessageFabric::furthest || queue_.next() <= until)) {
        if (((queue_.taken() & 0xFFFF) == 0 || ns3_) && stop.stop_requested())
            return fail("study.cancelled", "the run was stopped");
        const TimeBuckets::Event event = queue_.pop();
        if (queue_.now() >= MessageFabric::furthest)
            return fail("cluster.time", "the run takes more than 26 days of simulated time", "a shorter one",
                        "check the units of bandwidths, latencies and recorded durations");
        handle(event);
    }
    if (problem_) return Unexpected(*problem_);
    return {};
}

Expected<ClusterOutcome> ClusterMachine::finish() {
    if (network_)
        if (auto good = network_->finish(); !good) return Unexpected(std::move(good.error()));
    if (unfinished_ > 0) return deadlock();
    outcome_.links = fabric_.use();
    outcome_.linkUse = std::move(fabric_.useOverTime());
    outcome_.events = queue_.taken();
    if (packets_) outcome_.packets = {packets_->packets(), packets_->pauses(), packets_->slowDowns()};
    if (ns3_) outcome_.packets = {ns3_->packets(), 0, ns3_->marks()};
    if (rooted_ > 0)
        outcome_.warnings.push_back(warning(
            "cluster.closed-form",
            fmt::format("{} collectives with a root (broadcast, reduce, gather, scatter) take the time of their "
                        "closed form on an empty network",
                        rooted_)));
    outcome_.messages += collectives_->messages();
    return std::move(outcome_);
}

void ClusterMachine::handle(TimeBuckets::Event event) {
    switch (event.code) {
        case UnitDone: {
            const auto slot = static_cast<std::int32_t>(event.subject / units_);
            const auto unit = static_cast<Unit>(event.subject % units_);
            done(slot, ranks_[static_cast<std::size_t>(slot)].lanes[unit].doing, unit);
            break;
        }
        case DirectHop: {
            Direct& message = directs_[event.subject];
            const SimTime when = fabric_.hop(message.place, message.bytes, queue_.now());
            queue_.schedule(when, MessageFabric::arrived(message.place) ? DirectThere : DirectHop, event.subject);
            break;
        }
        case DirectThere:
            directThere(event.subject);
            break;
        case ReceiveDone: {
            const Receiver receiver = receivers_[event.subject];
            received(receiver);
            break;
        }
        default:
            if (event.code >= MessageNetwork::first_event)
                network_->handle(event);
            else
                collectives_->handle(event);
    }
}

// The device is idle and waits while something is under way.
void ClusterMachine::watch(Rank& rank, RankResult& result) {
    const bool waits = rank.exchanges > 0 && !rank.lanes[Device].busy;
    if (waits == (rank.exposedSince >= 0)) return;
    if (waits) {
        rank.exposedSince = queue_.now();
    } else {
        result.exposed += queue_.now() - rank.exposedSince;
        rank.exposedSince = -1;
    }
}

void ClusterMachine::exchangeBegins(std::int32_t slot) {
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    if (rank.exchanges++ == 0) rank.exchangeSince = queue_.now();
    watch(rank, outcome_.ranks[static_cast<std::size_t>(slot)]);
}

void ClusterMachine::exchangeEnds(std::int32_t slot) {
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    RankResult& result = outcome_.ranks[static_cast<std::size_t>(slot)];
    if (--rank.exchanges == 0) result.exchange += queue_.now() - rank.exchangeSince;
    watch(rank, result);
}

double ClusterMachine::nanoseconds(const TraceNode& node) const {
    if (settings_.peak > 0 && !node.onHost) {
        if (node.flops <= 0 || node.tensorBytes <= 0)
            return node.flops > 0 && !settings_.astraSim ? node.flops / settings_.peak * 1e9 : -1;
        const double intensity = node.flops / node.tensorBytes;
        const double rate = settings_.memoryBandwidth > 0
                                ? std::min(settings_.memoryBandwidth * intensity, settings_.peak)
                                : settings_.peak;
        return node.flops / rate * 1e9;
    }
    if (node.microseconds > 0) return node.microseconds * 1000;
    // Without a record ASTRA-sim passes over what has no operations either, and takes a nanosecond for the rest.
    if (settings_.astraSim && node.flops <= 0) return -1;
    return settings_.astraSim ? 1 : 0;
}

// Nodes start in the order of their ids, as far as what they need is free.
void ClusterMachine::issue(std::int32_t slot) {
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    for (;;) {
        constexpr std::uint32_t none = ~0U;
        std::uint32_t least = none;
        std::size_t unit = 0;
        for (std::size_t u = 0; u < rank.lanes.size(); ++u) {
            const Lane& lane = rank.lanes[u];
            if (lane.ready.empty() || (u != Free && lane.busy) || lane.ready.top() >= least) continue;
            least = lane.ready.top();
            unit = u;
        }
        if (least == none || problem_) return;
        rank.lanes[unit].ready.pop();
        start(slot, least, static_cast<Unit>(unit));
    }
}

void ClusterMachine::start(std::int32_t slot, std::uint32_t index, Unit unit) {
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    const TraceNode& node = rank.trace->nodes[index];
    const double time = node.work == TraceWork::Compute ? nanoseconds(node) : 0;
    if (node.work == TraceWork::Nothing || time < 0) {
        release(slot, index);
        return;
    }
    rank.lanes[unit].doing = index;
    if (keepsSpan(slot)) since_[key(slot, index)] = queue_.now();
    if (node.work == TraceWork::Compute)
        compute(slot, time, unit);
    else
        exchange(slot, index, unit);
}

void ClusterMachine::compute(std::int32_t slot, double nanoseconds, Unit unit) {
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    RankResult& result = outcome_.ranks[static_cast<std::size_t>(slot)];
    const SimTime time = fabric_.ticks(nanoseconds);
    (unit == Host ? result.host : result.compute) += time;
    rank.lanes[unit].busy = true;
    watch(rank, result);
    queue_.schedule(queue_.now() + time, UnitDone, static_cast<std::uint32_t>(slot) * units_ + unit);
}

// Those who waited for this node alone are ready.
void ClusterMachine::release(std::int32_t slot, std::uint32_t node) {
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    --rank.left;
    for (std::uint32_t u = rank.users->begin[node]; u < rank.users->begin[node + 1]; ++u) {
        const std::uint32_t user = rank.users->user[u];
        if (--rank.waits[user] == 0) rank.lanes[unitOf(rank.trace->nodes[user])].ready.push(user);
    }
    if (rank.left > 0) return;
    rank.finished = true;
    --unfinished_;
    outcome_.ranks[static_cast<std::size_t>(slot)].finish = queue_.now();
}

void ClusterMachine::done(std::int32_t slot, std::uint32_t node, Unit unit) {
    Rank& rank = ranks_[static_cast<std::size_t>(slot)];
    rank.lanes[unit].busy = false;
    if (unit >= Free) exchangeEnds(slot);
    if (unit == Device) watch(rank, outcome_.ranks[static_cast<std::size_t>(slot)]);
    if (keepsSpan(slot)) {
        const auto begin = since_.find(key(slot, node));
        outcome_.spans.push_back({slot, node, begin->second, queue_.now()});
        since_.erase(begin);
    }
    release(slot, node);
    issue(slot);
}

}  // namespace orrery
