#pragma once

// A policy behind a gate that lets sequences of at most so many LoRA adapters in at a time (vLLM's max_loras), and the
// books of which adapters are resident: least recently used leave first. Whom it holds back waits until an adapter has
// no sequence left inside; others overtake. What comes with a cache of its own passes, and then more adapters than
// there are slots may share an iteration: those are loaded for each.

#include "serving/schedulers/scheduler.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace orrery {

class AdapterGate final : public Scheduler {
public:
    /// The stream of `requests` says who asks for which (RequestStream::adapter).
    AdapterGate(std::unique_ptr<Scheduler> policy, const RequestTable& requests, std::int32_t count,
                double loadSeconds);

    /// Of the iteration that next() gave out last.
    struct Use {
        std::int32_t adapters = 0, tokens = 0;  ///< different ones; tokens that pass one
        std::int32_t loads = 0;                 ///< of those that were not resident; Batch::delay has their time
    };
    const Use& newest() const { return use_; }

    void add(RequestIndex r, SimTime now) override;
    void next(Batch& batch, SimTime now) override;
    void finish(const Batch& batch, SimTime now) override;
    void evict(std::vector<RequestIndex>& out, bool all) override;
    bool depart(RequestIndex r) override;
    bool adoptsBlocks() const override { return policy_->adoptsBlocks(); }
    std::int32_t waiting() const override { return policy_->waiting() + static_cast<std::int32_t>(held_.size()); }
    std::int32_t running() const override { return policy_->running(); }
    std::int32_t pendingTasks() const override {
        return policy_->pendingTasks() + static_cast<std::int32_t>(held_.size());
    }
    std::int64_t pendingTokens() const override { return policy_->pendingTokens() + heldTokens_; }
    std::int64_t blocksToArrive(RequestIndex r, std::int64_t ofItsText) const override {
        return policy_->blocksToArrive(r, ofItsText);
    }

private:
    std::int32_t adapterOf(RequestIndex r) const { return requests_.stream->adapter[r]; }
    bool fits(RequestIndex r) const;
    void enter(RequestIndex r, SimTime now);
    void leave(RequestIndex r);
    bool admit(SimTime now);
    void load(Batch& batch);

    std::unique_ptr<Scheduler> policy_;
    const RequestTable& requests_;
    std::size_t count_;
    double loadSeconds_;
    std::deque<RequestIndex> held_;
    std::int64_t heldTokens_ = 0;
    std::unordered_set<RequestIndex> inside_;
    std::unordered_map<std::int32_t, std::int32_t> active_;     ///< sequences inside, by adapter
    std::unordered_map<std::int32_t, std::uint64_t> resident_;  ///< iteration that used it last
    std::unordered_map<std::int32_t, std::uint64_t> seen_;      ///< iteration in which it was counted
    std::uint64_t iteration_ = 0;
    Use use_;
    std::vector<RequestIndex> dropped_;
};

}  // namespace orrery
