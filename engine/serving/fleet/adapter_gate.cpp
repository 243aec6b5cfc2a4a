#include "serving/fleet/adapter_gate.h"

#include <algorithm>

namespace orrery {

AdapterGate::AdapterGate(std::unique_ptr<Scheduler> policy, const RequestTable& requests, std::int32_t count,
                         double loadSeconds)
    : policy_(std::move(policy)),
      requests_(requests),
      count_(static_cast<std::size_t>(std::max(1, count))),
      loadSeconds_(loadSeconds) {}

bool AdapterGate::fits(RequestIndex r) const {
    const std::int32_t adapter = adapterOf(r);
    return adapter < 0 || requests_.computed[r] > 0 || active_.size() < count_ || active_.contains(adapter);
}

void AdapterGate::enter(RequestIndex r, SimTime now) {
    if (adapterOf(r) >= 0 && inside_.insert(r).second) ++active_[adapterOf(r)];
    policy_->add(r, now);
}

void AdapterGate::leave(RequestIndex r) {
    if (inside_.erase(r) == 0) return;
    const auto at = active_.find(adapterOf(r));
    if (--at->second == 0) active_.erase(at);
}

bool AdapterGate::admit(SimTime now) {
    bool any = false;
    for (std::size_t i = 0; i < held_.size();) {
        if (!fits(held_[i])) {
            ++i;
            continue;
        }
        const RequestIndex r = held_[i];
        held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
        heldTokens_ -= requests_.left(r);
        enter(r, now);
        any = true;
    }
    return any;
}

void AdapterGate::add(RequestIndex r, SimTime now) {
    if (fits(r)) return enter(r, now);
    held_.push_back(r);
    heldTokens_ += requests_.left(r);
}

void AdapterGate::next(Batch& batch, SimTime now) {
    dropped_.clear();
    bool freed = true;
    while (freed) {
        policy_->next(batch, now);
        freed = false;
        for (const RequestIndex r : batch.dropped) {
            dropped_.push_back(r);
            if (requests_.state[r] != RequestState::Rejected || !inside_.contains(r)) continue;
            leave(r);
            freed = true;
        }
        freed = freed && admit(now) && batch.empty();
    }
    batch.dropped = dropped_;
    use_ = {};
    if (!batch.empty()) load(batch);
}

void AdapterGate::load(Batch& batch) {
    ++iteration_;
    for (std::size_t i = 0; i < batch.requests.size(); ++i) {
        const std::int32_t adapter = adapterOf(batch.requests[i]);
        if (adapter < 0) continue;
        use_.tokens += batch.tokens[i];
        std::uint64_t& seen = seen_[adapter];
        if (seen == iteration_) continue;
        seen = iteration_;
        ++use_.adapters;
        if (const auto found = resident_.find(adapter); found != resident_.end()) {
            found->second = iteration_;
            continue;
        }
        ++use_.loads;
        if (resident_.size() >= count_) {
            const auto oldest = std::min_element(resident_.begin(), resident_.end(), [](const auto& a, const auto& b) {
                return a.second != b.second ? a.second < b.second : a.first < b.first;
            });
            if (oldest->second == iteration_) continue;  // every slot is in use now: it only passes through
            resident_.erase(oldest);
        }
        resident_.emplace(adapter, iteration_);
    }
    batch.delay += use_.loads * loadSeconds_;
}

void AdapterGate::finish(const Batch& batch, SimTime now) {
    policy_->finish(batch, now);
    for (const RequestIndex r : batch.requests)
        if (requests_.state[r] == RequestState::Done) leave(r);
    admit(now);
}

void AdapterGate::evict(std::vector<RequestIndex>& out, bool all) {
    const std::size_t before = out.size();
    policy_->evict(out, all);
    for (std::size_t i = before; i < out.size(); ++i) leave(out[i]);
    out.insert(out.end(), held_.begin(), held_.end());
    held_.clear();
    heldTokens_ = 0;
    if (all) resident_.clear();
}

bool AdapterGate::depart(RequestIndex r) {
    if (!policy_->depart(r)) return false;
    leave(r);
    return true;
}

}  // namespace orrery
