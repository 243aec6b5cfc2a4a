#pragma once

// What most policies share: a line of requests that wait, the requests that hold blocks and are in no iteration, and
// what preemption and rejection write into the table.

#include "serving/schedulers/scheduler.h"
#include "serving/schedulers/request_queue.h"
#include "serving/fleet/speculation.h"

namespace orrery {

class SchedulerBase : public Scheduler {
public:
    SchedulerBase(const SchedulerSpec& spec, RequestTable& requests, KvBlocks& kv);
    void add(RequestIndex r, SimTime now) override;
    /// Frees what is finished and puts the rest back by ready().
    void finish(const Batch& batch, SimTime now) override;
    void evict(std::vector<RequestIndex>& out, bool all) override;
    bool depart(RequestIndex r) override;
    std::int32_t waiting() const override { return static_cast<std::int32_t>(waiting_.size()); }
    std::int32_t running() const override { return held_; }
    std::int64_t pendingTokens() const override { return waiting_.tokens(); }

protected:
    /// A request that goes on after its iteration; at the end of ready_ unless a policy orders it.
    virtual void ready(RequestIndex r) { ready_.push_back(r); }

    /// Its cache is gone and it stands first in line again.
    void restart(RequestIndex r, Batch& batch);
    void reject(RequestIndex r, RejectReason reason, Batch& batch);
    void release(RequestIndex r) {
        kv_.release(requests_, r);
        --held_;
    }
    /// First use of blocks by a request that waited.
    void admit(RequestIndex r, std::int32_t blocks) {
        kv_.take(requests_, r, blocks);
        requests_.state[r] = RequestState::Running;
        ++held_;
    }
    /// One more block for the next token (and drafts) of a decoding sequence, if the last one is full.
    std::int32_t growth(RequestIndex r) const {
        const std::int64_t missing =
            requests_.computed[r] + decodeTokens(r) - std::int64_t{requests_.blocks[r]} * kv_.tokensPerBlock();
        return missing <= 0 ? 0 : kv_.blocksFor(missing);
    }
    /// Of one decoding sequence in one iteration: the next one, and drafts that can be of use.
    std::int32_t decodeTokens(RequestIndex r) const {
        return spec_.lookahead == 0 ? 1
                                    : 1 + plannedDrafts(spec_.lookahead, requests_.output[r] - requests_.generated[r]);
    }
    /// Brings its cache from elsewhere: only needs blocks.
    bool comesWithCache(RequestIndex r) const { return requests_.computed[r] > 0 && requests_.decoding(r); }
    /// Longer than the model reads, or than the memory holds with `reserve` blocks left.
    bool neverFits(RequestIndex r, std::int64_t reserve) const;
    bool vidur() const { return vidur_; }

    SchedulerSpec spec_;
    RequestTable& requests_;
    KvBlocks& kv_;
    RequestQueue waiting_;
    std::vector<RequestIndex> ready_;  ///< hold blocks, in no iteration
    std::int32_t held_ = 0;            ///< hold blocks
    std::int32_t perBatch_ = 1;        ///< sequences of one iteration: all of them over the stages of the pipeline
    std::int64_t watermark_ = 0;       ///< blocks that admission leaves free

private:
    bool vidur_ = false;
};

}  // namespace orrery
