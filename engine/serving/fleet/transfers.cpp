#include "serving/fleet/transfers.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

std::size_t at(std::int32_t replica) {
    return static_cast<std::size_t>(replica);
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

Transfers::Transfers(const TransferSpec& spec, std::size_t replicas)
    : spec_(spec), full_(replicas), sending_(replicas), taking_(replicas), spareOut_(replicas), spareIn_(replicas) {}

void Transfers::ask(const Move& move, SimTime now) {
    waiting_.push_back({move, now, false});
}

void Transfers::launch(const Move& move, SimTime now) {
    drain(now);
    Flow flow{move, move.bytes * (1 - spec_.hidden), 0, never, order_++};
    if (spec_.bytesPerSecond <= 0) flow.left = 0;
    if (flow.left <= 0) flow.arrives = now + toTicks(spec_.latency);
    flows_.push_back(flow);
    share(now);
}

// Moves all bytes on to `now` at the rates of the last instant.
void Transfers::drain(SimTime now) {
    const double seconds = toSeconds(now - now_);
    now_ = now;
    for (Flow& flow : flows_) {
        if (flow.arrives != never) continue;
        flow.left -= flow.rate * seconds;
        // Less than a tick's worth is what rounding leaves.
        if (flow.left > flow.rate / serving_ticks_per_second) continue;
        if (flow.rate > 0) flow.arrives = now + toTicks(spec_.latency);
    }
}

void Transfers::share(SimTime) {
    const auto active = [](const Flow& flow) { return flow.arrives == never; };
    if (spec_.sharing == LinkSharing::None) {
        for (Flow& flow : flows_)
            if (active(flow)) flow.rate = spec_.bytesPerSecond;
        return;
    }
    std::fill(sending_.begin(), sending_.end(), 0);
    std::fill(taking_.begin(), taking_.end(), 0);
    if (spec_.sharing == LinkSharing::Fifo) {
        for (Flow& flow : flows_) {  // in the order of their start
            if (!active(flow)) continue;
            auto& out = sending_[at(flow.move.from)];
            auto& in = taking_[at(flow.move.to)];
            const bool free = out == 0 && in == 0;
            flow.rate = free ? spec_.bytesPerSecond : 0;
            if (free) out = in = 1;
        }
        return;
    }
    // Max-min fair: the tightest end of all fixes the rate of its flows, then the next one.
    std::fill(spareOut_.begin(), spareOut_.end(), spec_.bytesPerSecond);
    std::fill(spareIn_.begin(), spareIn_.end(), spec_.bytesPerSecond);
    std::size_t open = 0;
    for (Flow& flow : flows_) {
        if (!active(flow)) continue;
        flow.rate = -1;
        ++open;
        ++sending_[at(flow.move.from)];
        ++taking_[at(flow.move.to)];
    }
    while (open > 0) {
        double least = std::numeric_limits<double>::infinity();
        std::size_t tightest = 0;
        bool out = true;
        for (std::size_t r = 0; r < full_.size(); ++r) {
            if (sending_[r] > 0 && spareOut_[r] / sending_[r] < least)
                least = spareOut_[r] / sending_[r], tightest = r, out = true;
            if (taking_[r] > 0 && spareIn_[r] / taking_[r] < least)
                least = spareIn_[r] / taking_[r], tightest = r, out = false;
        }
        for (Flow& flow : flows_) {
            if (!active(flow) || flow.rate >= 0) continue;
            if (at(out ? flow.move.from : flow.move.to) != tightest) continue;
            flow.rate = least;
            spareOut_[at(flow.move.from)] = std::max(0.0, spareOut_[at(flow.move.from)] - least);
            spareIn_[at(flow.move.to)] = std::max(0.0, spareIn_[at(flow.move.to)] - least);
            --sending_[at(flow.move.from)];
            --taking_[at(flow.move.to)];
            --open;
        }
    }
}

void Transfers::settle() {
    std::fill(full_.begin(), full_.end(), 0);
    std::erase_if(waiting_, [](const Waiting& one) { return one.gone; });
}

void Transfers::arrivals(SimTime now, std::vector<Move>& out) {
    if (flows_.empty()) return;
    drain(now);
    const auto first = out.size();
    for (const Flow& flow : flows_)
        if (flow.arrives <= now) out.push_back(flow.move);
    if (out.size() > first) std::erase_if(flows_, [&](const Flow& flow) { return flow.arrives <= now; });
    share(now);
}

SimTime Transfers::next() const {
    SimTime first = never;
    for (const Flow& flow : flows_) {
        if (flow.arrives != never)
            first = std::min(first, flow.arrives);
        else if (flow.rate > 0)
            first = std::min(first, now_ + std::max<SimTime>(1, toTicks(flow.left / flow.rate)));
    }
    if (spec_.retry > 0)
        for (const Waiting& one : waiting_) first = std::min(first, one.next);
    return first;
}

void Transfers::cancel(std::int32_t replica, SimTime now, std::vector<Move>& onTheirWay, std::vector<Move>& waiting) {
    drain(now);
    const auto concerns = [&](const Move& move) { return move.from == replica || move.to == replica; };
    for (const Flow& flow : flows_)
        if (concerns(flow.move)) onTheirWay.push_back(flow.move);
    for (const Waiting& one : waiting_)
        if (concerns(one.move)) waiting.push_back(one.move);
    std::erase_if(flows_, [&](const Flow& flow) { return concerns(flow.move); });
    std::erase_if(waiting_, [&](const Waiting& one) { return concerns(one.move); });
    share(now);
}

}  // namespace orrery
