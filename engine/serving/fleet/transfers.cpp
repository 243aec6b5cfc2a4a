#include "serving/fleet/transfers.h"

#include <algorithm>
#include <array>

namespace orrery {

Transfers::Transfers(const TransferSpec& spec, std::size_t replicas)
    : spec_(spec),
      flows_(std::vector<double>(2 * replicas, spec.bytesPerSecond), spec.sharing, spec.latency),
      full_(replicas) {}

void Transfers::ask(const Move& move, SimTime now) {
    waiting_.push_back({move, now, false});
}

void Transfers::launch(const Move& move, SimTime now) {
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(moves_.size()));
        moves_.emplace_back();
    }
    const std::uint32_t subject = free_.back();
    free_.pop_back();
    moves_[subject] = move;
    const std::array<std::int32_t, 2> path{2 * move.from, 2 * move.to + 1};
    flows_.start(subject, path, spec_.bytesPerSecond > 0 ? move.bytes * (1 - spec_.hidden) : 0, now);
}

void Transfers::settle() {
    std::fill(full_.begin(), full_.end(), 0);
    std::erase_if(waiting_, [](const Waiting& one) { return one.gone; });
}

void Transfers::take(std::vector<Move>& out) {
    for (const std::uint32_t subject : ended_) out.push_back(moves_[subject]);
    free_.insert(free_.end(), ended_.begin(), ended_.end());
    ended_.clear();
}

void Transfers::arrivals(SimTime now, std::vector<Move>& out) {
    flows_.arrivals(now, ended_);
    take(out);
}

SimTime Transfers::next() const {
    SimTime first = flows_.next();
    if (spec_.retry > 0)
        for (const Waiting& one : waiting_) first = std::min(first, one.next);
    return first;
}

void Transfers::cancel(std::int32_t replica, SimTime now, std::vector<Move>& onTheirWay, std::vector<Move>& waiting) {
    const auto concerns = [&](const Move& move) { return move.from == replica || move.to == replica; };
    flows_.cancel([&](std::uint32_t subject) { return concerns(moves_[subject]); }, now, ended_);
    take(onTheirWay);
    for (const Waiting& one : waiting_)
        if (concerns(one.move)) waiting.push_back(one.move);
    std::erase_if(waiting_, [&](const Waiting& one) { return concerns(one.move); });
}

}  // namespace orrery
