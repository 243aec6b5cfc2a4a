#include "widgets/serving/replay.h"

#include <algorithm>

namespace orrery::ui {

Replay::Replay(ServingRunPtr run) : run_(std::move(run)) {
    const std::size_t replicas = run_->fleet->replicas.size();
    const BatchLog& log = run_->result.batches;
    const RequestTable& requests = run_->result.requests;
    batches_.resize(replicas);
    requests_.resize(replicas);
    longestWait_.assign(replicas, 0);
    for (std::uint32_t b = 0; b < log.size(); ++b) {
        const auto replica = static_cast<std::size_t>(log.replica[b]);
        if (replica >= batches_.size()) {  // an autoscaler has added it
            batches_.resize(replica + 1);
            requests_.resize(replica + 1);
            longestWait_.resize(replica + 1, 0);
        }
        batches_[replica].push_back(b);
    }
    // A request that moves waits where it was sent first, not where it ends.
    std::vector<std::int32_t> home(requests.replica.begin(), requests.replica.end());
    readEvents(home);
    for (auto& list : batches_) std::ranges::sort(list, {}, [&](std::uint32_t b) { return log.begin[b]; });
    for (RequestIndex r = 0; r < requests.size(); ++r) {
        const std::int32_t replica = home[r];
        if (replica < 0 || static_cast<std::size_t>(replica) >= requests_.size()) continue;
        requests_[static_cast<std::size_t>(replica)].push_back(r);
        const SimTime until = requests.scheduled[r] >= 0 ? requests.scheduled[r] : run_->result.end;
        SimTime& longest = longestWait_[static_cast<std::size_t>(replica)];
        longest = std::max(longest, until - requests.arrived[r]);
    }
    for (auto& list : requests_) std::ranges::sort(list, {}, [&](RequestIndex r) { return requests.arrived[r]; });
    begins_ = log.begin;
    std::ranges::sort(begins_);
}

void Replay::readEvents(std::vector<std::int32_t>& home) {
    std::vector<bool> routed(home.size(), false);
    transfers_.resize(batches_.size());
    std::vector<SimTime> begun(home.size(), -1);
    for (const ServingEvent& event : run_->result.events) {
        if (event.request >= home.size() || event.replica < 0) continue;
        if (event.kind == ServingEvent::Kind::Route && !routed[event.request]) {
            routed[event.request] = true;
            home[event.request] = event.replica;
        } else if (event.kind == ServingEvent::Kind::TransferBegin) {
            begun[event.request] = event.at;
        } else if (event.kind == ServingEvent::Kind::TransferEnd && begun[event.request] >= 0) {
            const auto to = static_cast<std::size_t>(event.replica);
            if (to < transfers_.size()) transfers_[to].push_back({begun[event.request], event.at, event.request});
        }
    }
    for (auto& list : transfers_) std::ranges::sort(list, {}, &Transfer::begin);
}

Replay::ReplicaAt Replay::at(std::size_t replica, SimTime time, std::size_t sequences) const {
    ReplicaAt now;
    if (!run_ || replica >= batches_.size()) return now;
    const BatchLog& log = run_->result.batches;
    const RequestTable& requests = run_->result.requests;
    const std::size_t spec = std::min(replica, run_->fleet->replicas.size() - 1);
    now.totalBlocks = run_->fleet->replicas[spec].kvBlocks;

    const auto& own = requests_[replica];
    const auto arrived = [&](RequestIndex r) { return requests.arrived[r]; };
    for (auto it = std::ranges::lower_bound(own, time - longestWait_[replica], {}, arrived);
         it != own.end() && requests.arrived[*it] <= time; ++it) {
        const SimTime scheduled = requests.scheduled[*it];
        const SimTime gone = scheduled >= 0 ? scheduled : requests.ended[*it] >= 0 ? requests.ended[*it] : end() + 1;
        if (gone <= time) continue;
        ++now.waitingCount;
        if (now.waiting.size() < sequences) now.waiting.push_back(*it);
    }

    if (replica < transfers_.size())
        for (const Transfer& transfer : transfers_[replica]) {
            if (transfer.begin > time) break;
            if (transfer.end > time && now.arriving.size() < sequences) now.arriving.push_back(transfer.request);
        }

    const auto& list = batches_[replica];
    auto next = std::ranges::upper_bound(list, time, {}, [&](std::uint32_t b) { return log.begin[b]; });
    if (next == list.begin()) return now;
    const std::uint32_t b = *--next;
    now.batch = static_cast<int>(b);
    now.busy = log.end[b] > time;
    const double length = static_cast<double>(std::max<SimTime>(1, log.end[b] - log.begin[b]));
    now.share = std::clamp(static_cast<double>(time - log.begin[b]) / length, 0.0, 1.0);
    now.usedBlocks = log.usedBlocks[b];
    now.preempted = log.preempted[b];
    now.waitingCount = std::max(now.waitingCount, now.busy ? log.waiting[b] : 0);
    if (!hasMembers() || !now.busy) return now;
    const std::uint64_t first = log.memberBegin[b];
    const std::uint64_t last = std::min<std::uint64_t>(log.memberBegin[b + 1], first + sequences);
    for (std::uint64_t m = first; m < last; ++m) {
        const RequestIndex r = log.member[m];
        const bool prompt = log.memberTokens[m] > 1 + run_->fleet->replicas[spec].speculation.drafts ||
                            requests.firstToken[r] < 0 || requests.firstToken[r] > log.begin[b];
        now.members.push_back({r, log.memberTokens[m], prompt});
    }
    return now;
}

SimTime Replay::neighbour(SimTime time, bool backwards) const {
    if (backwards) {
        const auto it = std::ranges::lower_bound(begins_, time);
        return it == begins_.begin() ? time : *std::prev(it);
    }
    const auto it = std::ranges::upper_bound(begins_, time);
    return it == begins_.end() ? time : *it;
}

}  // namespace orrery::ui
