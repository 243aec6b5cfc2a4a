#include "simulation/network/fluid_network.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

FluidNetwork::FluidNetwork(MessageFabric& fabric, TimeBuckets& queue) : fabric_(fabric), queue_(queue) {
    for (const MessageFabric::LinkRate& one : fabric.linkRates()) links_.push_back({one.rate, {}, 0, 0, false, false});
}

std::uint32_t FluidNetwork::pathOf(std::int32_t source, std::int32_t target, WayPart part) {
    const std::uint64_t pair =
        std::uint64_t(static_cast<std::uint32_t>(source)) << 32 | static_cast<std::uint32_t>(target);
    const auto [at, fresh] =
        pathOfPair_[static_cast<std::size_t>(part)].try_emplace(pair, static_cast<std::uint32_t>(paths_.size()));
    if (fresh) {
        Path path{static_cast<std::uint32_t>(pathLinks_.size()), 0, 0};
        path.latency = fabric_.way(source, target, pathLinks_);
        if (part != WayPart::Whole) {
            // Over one switch both links are alike.
            const std::int32_t link = part == WayPart::First ? pathLinks_[path.first] : pathLinks_.back();
            pathLinks_.resize(path.first);
            pathLinks_.push_back(link);
            path.latency /= 2;
        }
        path.count = static_cast<std::uint32_t>(pathLinks_.size()) - path.first;
        paths_.push_back(path);
    }
    return at->second;
}

void FluidNetwork::markDirty(const Path& path) {
    for (std::uint32_t i = 0; i < path.count; ++i) {
        const std::int32_t link = pathLinks_[path.first + i];
        Link& its = links_[static_cast<std::size_t>(link)];
        if (its.dirty) continue;
        its.dirty = true;
        dirty_.push_back(link);
    }
    if (planned_) return;
    planned_ = true;
    queue_.schedule(queue_.now(), Reshare, 0);
}

void FluidNetwork::sendPart(std::int32_t source, std::int32_t target, WayPart part, double bytes,
                            TimeBuckets::Event there) {
    const std::uint32_t path = pathOf(source, target, part);
    if (!(bytes > 0)) {
        queue_.schedule(queue_.now() + fabric_.ticks(paths_[path].latency), there.code, there.subject);
        return;
    }
    std::uint32_t at = 0;
    if (freeFlows_.empty()) {
        at = static_cast<std::uint32_t>(flows_.size());
        flows_.emplace_back();
    } else {
        at = freeFlows_.back();
        freeFlows_.pop_back();
    }
    Flow& flow = flows_[at];
    flow = {};
    flow.left = flow.bytes = bytes;
    flow.since = queue_.now();
    flow.path = path;
    flow.there = there;
    flow.active = true;
    const Path& way = paths_[path];
    for (std::uint32_t i = 0; i < way.count; ++i)
        links_[static_cast<std::size_t>(pathLinks_[way.first + i])].flows.push_back(at);
    markDirty(way);
}

void FluidNetwork::handle(TimeBuckets::Event event) {
    if (event.code == Reshare)
        reshare();
    else
        ended(event.subject);
}

void FluidNetwork::ended(std::uint32_t at) {
    Flow& flow = flows_[at];
    if (!flow.active || flow.ends != queue_.now()) return;  // its rate has changed since
    settle(flow, 0);
    flow.active = false;
    const Path& way = paths_[flow.path];
    for (std::uint32_t i = 0; i < way.count; ++i) {
        const auto index = static_cast<std::size_t>(pathLinks_[way.first + i]);
        Link& link = links_[index];
        const auto mine = std::find(link.flows.begin(), link.flows.end(), at);
        *mine = link.flows.back();
        link.flows.pop_back();
        MessageFabric::LinkUse& use = fabric_.use()[index];
        use.bytes += flow.bytes;
        use.busy = std::min(use.busy + fabric_.ticks(flow.bytes / link.rate), MessageFabric::furthest);
    }
    markDirty(way);
    freeFlows_.push_back(at);
    queue_.schedule(queue_.now() + fabric_.ticks(way.latency), flow.there.code, flow.there.subject);
}

// Links that share flows with those that have changed, and their flows.
void FluidNetwork::collect() {
    someLinks_.clear();
    someFlows_.clear();
    for (const std::int32_t link : dirty_) {
        Link& its = links_[static_cast<std::size_t>(link)];
        its.dirty = false;
        its.touched = true;
        someLinks_.push_back(link);
    }
    dirty_.clear();
    for (std::size_t next = 0; next < someLinks_.size(); ++next) {
        for (const std::uint32_t f : links_[static_cast<std::size_t>(someLinks_[next])].flows) {
            Flow& flow = flows_[f];
            if (flow.touched) continue;
            flow.touched = true;
            someFlows_.push_back(f);
            const Path& way = paths_[flow.path];
            for (std::uint32_t i = 0; i < way.count; ++i) {
                const std::int32_t link = pathLinks_[way.first + i];
                Link& its = links_[static_cast<std::size_t>(link)];
                if (its.touched) continue;
                its.touched = true;
                someLinks_.push_back(link);
            }
        }
    }
}

// The tightest links of all fix the rates of their flows, then the next ones.
void FluidNetwork::fill() {
    for (const std::int32_t link : someLinks_) {
        Link& its = links_[static_cast<std::size_t>(link)];
        its.spare = its.rate;
        its.users = static_cast<std::uint32_t>(its.flows.size());
    }
    for (const std::uint32_t f : someFlows_) flows_[f].next = -1;
    for (std::size_t open = someFlows_.size(); open > 0;) {
        double least = std::numeric_limits<double>::infinity();
        for (const std::int32_t link : someLinks_) {
            const Link& its = links_[static_cast<std::size_t>(link)];
            if (its.users > 0) least = std::min(least, its.spare / its.users);
        }
        // Links that are equally tight but for rounding are full together.
        const double tight = least * (1 + 1e-9);
        for (const std::int32_t link : someLinks_) {
            Link& its = links_[static_cast<std::size_t>(link)];
            if (its.users == 0 || its.spare / its.users > tight) continue;
            for (const std::uint32_t f : its.flows) {
                Flow& flow = flows_[f];
                if (flow.next >= 0) continue;
                flow.next = least;
                --open;
                const Path& way = paths_[flow.path];
                for (std::uint32_t i = 0; i < way.count; ++i) {
                    Link& passed = links_[static_cast<std::size_t>(pathLinks_[way.first + i])];
                    passed.spare = std::max(0.0, passed.spare - least);
                    --passed.users;
                }
            }
        }
    }
}

// Counts what has left at the old rate, and goes on at another one.
void FluidNetwork::settle(Flow& flow, double rate) {
    const SimTime now = queue_.now();
    if (now > flow.since) {
        flow.left = std::max(0.0, flow.left - flow.rate * static_cast<double>(now - flow.since) / 1000);
        if (LinkUseOverTime& use = fabric_.useOverTime(); use.wanted() && flow.rate > 0) {
            const Path& way = paths_[flow.path];
            for (std::uint32_t i = 0; i < way.count; ++i) {
                const auto link = static_cast<std::size_t>(pathLinks_[way.first + i]);
                use.add(link, flow.since, now, flow.rate / links_[link].rate);
            }
        }
    }
    flow.since = now;
    flow.rate = rate;
}

void FluidNetwork::reshare() {
    planned_ = false;
    collect();
    fill();
    reshared_ += someFlows_.size();
    for (const std::int32_t link : someLinks_) links_[static_cast<std::size_t>(link)].touched = false;
    for (const std::uint32_t f : someFlows_) {
        Flow& flow = flows_[f];
        flow.touched = false;
        if (flow.next == flow.rate) continue;
        settle(flow, flow.next);
        const double picoseconds = flow.rate > 0 ? std::ceil(flow.left / flow.rate * 1000) : 0;
        const auto most = static_cast<double>(MessageFabric::furthest);
        const SimTime takes =
            flow.rate > 0 && picoseconds < most ? static_cast<SimTime>(picoseconds) : MessageFabric::furthest;
        flow.ends = std::min(flow.since + takes, MessageFabric::furthest);
        queue_.schedule(flow.ends, FlowEnds, f);
    }
}

}  // namespace orrery
