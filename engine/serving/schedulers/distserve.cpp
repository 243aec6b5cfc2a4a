// The engine of DistServe (Zhong et al., OSDI 2024; LLMServe/DistServe simdistserve/base/worker.py, Apache-2.0):
// prompts first come, first served, never split, as many at once as the token budget holds; decodes of all who are
// there, in the order in which they last ran. One replica may do both; then prompts go first unless the decoding
// requests hold more context than the back-pressure allows (its `vllm` backend).
//
// With `compatibility` `distserve` KV memory is not looked at, as there. Otherwise prompts wait for blocks, and when a
// decode finds none the newest request starts again.

#include "serving/schedulers/all.h"

#include <algorithm>
#include <deque>

namespace orrery {

namespace {

constexpr std::int64_t no_pressure = std::int64_t{1} << 60;

class DistServe final : public Scheduler {
public:
    DistServe(const SchedulerSpec& spec, RequestTable& requests, KvBlocks& memory)
        : maxBatch_(static_cast<std::size_t>(spec.maxSequences)),
          maxTokens_(spec.tokenBudget),
          counted_(spec.compatibility != "distserve"),
          t_(requests),
          kv_(memory) {
        const double context = numberOf(spec, "decode_tokens", 0);
        maxContext_ =
            context > 0 ? static_cast<std::int64_t>(std::min(context, 1e15)) : kv_.total() * kv_.tokensPerBlock();
        const double pressure = numberOf(spec, "back_pressure_tokens", 0);
        pressure_ = pressure > 0 ? static_cast<std::int64_t>(std::min(pressure, 1e15)) : no_pressure;
        watermark_ = static_cast<std::int64_t>(spec.watermark * static_cast<double>(kv_.total()));
    }

    void add(RequestIndex r, SimTime) override {
        if (counted_ && kv_.blocksFor(std::int64_t{t_.prompt[r]} + t_.output[r]) > kv_.total()) {
            tooLong_.push_back(r);
        } else if (t_.computed[r] == 0) {
            prompts_.push_back(r);
            pendingTokens_ += t_.left(r);
        } else {
            arrived_.push_back(r);
            admitCaches();
        }
    }

    void next(Batch& batch, SimTime) override {
        for (const RequestIndex r : tooLong_) {
            t_.state[r] = RequestState::Rejected;
            t_.reason[r] = RejectReason::TooLong;
            batch.dropped.push_back(r);
        }
        tooLong_.clear();
        admitCaches();
        if (!prompts_.empty() && heldContext() <= pressure_) fillPrompts(batch);
        if (batch.empty()) fillDecodes(batch);
        if (batch.empty() && !prompts_.empty()) fillPrompts(batch);  // whoever started again may fit now
        flying_ += batch.requests.size();
    }

    void finish(const Batch& batch, SimTime) override {
        flying_ -= batch.requests.size();
        for (const RequestIndex r : batch.requests) {
            if (t_.finished(r))
                kv_.release(t_, r);
            else if (t_.computed[r] > 0)
                decodes_.push_back(r);
            else
                prompts_.push_front(r);
        }
    }

    bool depart(RequestIndex r) override {
        const auto found = std::find(decodes_.begin(), decodes_.end(), r);
        if (found != decodes_.end()) decodes_.erase(found);
        return true;
    }

    void evict(std::vector<RequestIndex>& out, bool all) override {
        const auto take = [&](std::deque<RequestIndex>& from) {
            for (const RequestIndex r : from) {
                kv_.release(t_, r);
                t_.lose(r);
                t_.state[r] = RequestState::Waiting;
                out.push_back(r);
            }
            from.clear();
        };
        take(prompts_);
        pendingTokens_ = 0;
        if (!all) return;
        take(arrived_);
        take(decodes_);
    }

    std::int32_t waiting() const override { return static_cast<std::int32_t>(prompts_.size() + arrived_.size()); }
    std::int32_t running() const override { return static_cast<std::int32_t>(decodes_.size() + flying_); }
    std::int64_t pendingTokens() const override { return pendingTokens_; }

private:
    bool room(RequestIndex r, std::int64_t tokens, std::int64_t leave) {
        if (!counted_) return true;
        const std::int32_t more = kv_.blocksFor(tokens) - t_.blocks[r];
        if (more <= 0) return true;
        if (kv_.free() - more < leave) return false;
        kv_.take(t_, r, more);
        return true;
    }
    bool idle() const { return decodes_.empty() && flying_ == 0; }

    void admitCaches() {
        while (!arrived_.empty()) {
            const RequestIndex r = arrived_.front();
            if (!room(r, t_.text(r), idle() ? 0 : watermark_)) break;
            arrived_.pop_front();
            decodes_.push_back(r);
        }
    }

    void fillPrompts(Batch& batch) {
        std::int64_t left = maxTokens_;
        while (!prompts_.empty() && batch.requests.size() < maxBatch_) {
            const RequestIndex r = prompts_.front();
            const std::int32_t tokens = t_.left(r);
            if (tokens > left && !(batch.empty() && tokens > maxTokens_)) break;
            if (!room(r, t_.text(r) + 1, idle() && batch.empty() ? 0 : watermark_)) break;
            prompts_.pop_front();
            pendingTokens_ -= tokens;
            left -= tokens;
            batch.add(r, tokens);
            t_.state[r] = RequestState::Running;
        }
    }

    void fillDecodes(Batch& batch) {
        std::int64_t left = maxContext_;
        while (!decodes_.empty() && batch.requests.size() < maxBatch_) {
            const RequestIndex r = decodes_.front();
            if (t_.text(r) > left && !batch.empty()) break;
            decodes_.pop_front();
            if (!makeRoom(r, batch)) continue;
            left -= t_.text(r);
            batch.add(r, 1);
            t_.state[r] = RequestState::Running;
        }
    }

    // The newest of those that wait for their turn starts again, at last the one that asks.
    bool makeRoom(RequestIndex r, Batch& batch) {
        while (!room(r, t_.text(r) + 1, 0)) {
            auto victim = std::max_element(decodes_.begin(), decodes_.end(), [&](RequestIndex a, RequestIndex b) {
                return t_.arrived[a] != t_.arrived[b] ? t_.arrived[a] < t_.arrived[b] : a < b;
            });
            const bool self = victim == decodes_.end() || t_.arrived[*victim] < t_.arrived[r];
            const RequestIndex who = self ? r : *victim;
            if (!self) decodes_.erase(victim);
            kv_.release(t_, who);
            t_.lose(who);
            t_.state[who] = RequestState::Preempted;
            ++t_.preemptions[who];
            ++t_.restarts[who];
            batch.dropped.push_back(who);
            prompts_.push_front(who);
            pendingTokens_ += t_.left(who);
            if (self) return false;
        }
        return true;
    }

    std::int64_t heldContext() const {
        if (pressure_ == no_pressure) return 0;
        std::int64_t sum = 0;
        for (const RequestIndex r : decodes_) sum += t_.computed[r];
        return sum;
    }

    std::size_t maxBatch_;
    std::int64_t maxTokens_, maxContext_ = 0, pressure_ = 0, watermark_ = 0;
    bool counted_;
    RequestTable& t_;
    KvBlocks& kv_;
    std::deque<RequestIndex> prompts_, arrived_, decodes_;
    std::vector<RequestIndex> tooLong_;
    std::size_t flying_ = 0;
    std::int64_t pendingTokens_ = 0;
};

std::unique_ptr<Scheduler> make(const SchedulerSpec& spec, RequestTable& requests, KvBlocks& memory) {
    return std::make_unique<DistServe>(spec, requests, memory);
}

}  // namespace

SchedulerCard distserve() {
    return {
        "distserve",
        "DistServe (whole prompts, then decodes)",
        "Prompts are computed whole, first come, first served; all others decode together. Meant for pools that either "
        "prompt or decode.",
        "Zhong et al., OSDI 2024; simdistserve",
        {{"maxSequences", "Batch", 1e7, "requests in one iteration"},
         {"tokenBudget", "Tokens", 65536, "prompt tokens of one iteration"},
         {"watermark", "Watermark", 0.01, "share of blocks that admission leaves free"},
         {"decode_tokens", "Context", 0, "tokens of context that decode in one iteration; 0: all that fit in memory"},
         {"back_pressure_tokens", "Back-pressure", 0,
          "tokens of waiting context beyond which decodes go before prompts; 0: never"}},
        make};
}

}  // namespace orrery
