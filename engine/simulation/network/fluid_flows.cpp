#include "simulation/network/fluid_flows.h"

#include <algorithm>
#include <cassert>

namespace orrery {

namespace {

std::size_t linkAt(std::int32_t link) {
    return static_cast<std::size_t>(link);
}

}  // namespace

std::string_view toText(LinkSharing sharing) {
    switch (sharing) {
        case LinkSharing::None:
            return "none";
        case LinkSharing::Fifo:
            return "fifo";
        case LinkSharing::Fair:
            return "fair";
    }
    return "";
}

FluidFlows::FluidFlows(std::vector<double> capacities, LinkSharing sharing, double latency)
    : capacities_(std::move(capacities)),
      spare_(capacities_.size()),
      users_(capacities_.size()),
      sharing_(sharing),
      latency_(latency) {}

void FluidFlows::start(std::uint32_t subject, std::span<const std::int32_t> path, double bytes, SimTime now) {
    assert(path.size() <= longest_path);
    drain(now);
    Flow flow;
    flow.subject = subject;
    flow.links = static_cast<std::uint8_t>(path.size());
    std::copy(path.begin(), path.end(), flow.path.begin());
    flow.left = bytes;
    if (flow.left <= 0 || path.empty()) flow.arrives = now + toTicks(latency_);
    flows_.push_back(flow);
    share();
}

// Moves all bytes on to `now` at the rates of the last instant.
void FluidFlows::drain(SimTime now) {
    const double seconds = toSeconds(now - now_);
    now_ = now;
    for (Flow& flow : flows_) {
        if (flow.arrives != never) continue;
        flow.left -= flow.rate * seconds;
        // Less than a tick's worth is what rounding leaves.
        if (flow.left > flow.rate / picoseconds_per_second) continue;
        if (flow.rate > 0) flow.arrives = now + toTicks(latency_);
    }
}

double FluidFlows::narrowest(const Flow& flow) const {
    double least = std::numeric_limits<double>::infinity();
    for (const std::int32_t link : flow.way()) least = std::min(least, capacities_[linkAt(link)]);
    return least;
}

void FluidFlows::share() {
    if (sharing_ == LinkSharing::Fair) return shareFairly();
    if (sharing_ == LinkSharing::Fifo) return shareInTurn();
    for (Flow& flow : flows_)
        if (flow.arrives == never) flow.rate = narrowest(flow);
}

void FluidFlows::shareInTurn() {
    std::fill(users_.begin(), users_.end(), 0);
    for (Flow& flow : flows_) {  // in the order of their start
        if (flow.arrives != never) continue;
        const auto way = flow.way();
        const bool free =
            std::all_of(way.begin(), way.end(), [&](std::int32_t link) { return users_[linkAt(link)] == 0; });
        flow.rate = free ? narrowest(flow) : 0;
        if (!free) continue;
        for (const std::int32_t link : way) users_[linkAt(link)] = 1;
    }
}

// The tightest link of all fixes the rate of its flows, then the next one.
void FluidFlows::shareFairly() {
    std::fill(users_.begin(), users_.end(), 0);
    std::copy(capacities_.begin(), capacities_.end(), spare_.begin());
    std::size_t open = 0;
    for (Flow& flow : flows_) {
        if (flow.arrives != never) continue;
        flow.rate = -1;
        ++open;
        for (const std::int32_t link : flow.way()) ++users_[linkAt(link)];
    }
    while (open > 0) {
        double least = std::numeric_limits<double>::infinity();
        std::int32_t tightest = -1;
        for (std::size_t link = 0; link < capacities_.size(); ++link) {
            if (users_[link] > 0 && spare_[link] / users_[link] < least) {
                least = spare_[link] / users_[link];
                tightest = static_cast<std::int32_t>(link);
            }
        }
        for (Flow& flow : flows_) {
            if (flow.arrives != never || flow.rate >= 0) continue;
            const auto way = flow.way();
            if (tightest >= 0 && std::find(way.begin(), way.end(), tightest) == way.end()) continue;
            flow.rate = least;
            for (const std::int32_t link : way) {
                spare_[linkAt(link)] = std::max(0.0, spare_[linkAt(link)] - least);
                --users_[linkAt(link)];
            }
            --open;
        }
    }
}

void FluidFlows::arrivals(SimTime now, std::vector<std::uint32_t>& out) {
    if (flows_.empty()) return;
    drain(now);
    const auto first = out.size();
    for (const Flow& flow : flows_)
        if (flow.arrives <= now) out.push_back(flow.subject);
    if (out.size() > first) std::erase_if(flows_, [&](const Flow& flow) { return flow.arrives <= now; });
    share();
}

SimTime FluidFlows::next() const {
    SimTime first = never;
    for (const Flow& flow : flows_) {
        if (flow.arrives != never)
            first = std::min(first, flow.arrives);
        else if (flow.rate > 0)
            first = std::min(first, now_ + std::max<SimTime>(1, toTicks(flow.left / flow.rate)));
    }
    return first;
}

}  // namespace orrery
