// vLLM before its unified scheduler: iterations are either prompts or decodes, prompts first (Kwon et al., SOSP 2023;
// vllm/core/scheduler.py, versions 0.1 to 0.8).

#include "serving/schedulers/all.h"
#include "serving/schedulers/scheduler_base.h"

#include <algorithm>

namespace orrery {

namespace {

class VllmV0 final : public SchedulerBase {
public:
    VllmV0(const SchedulerSpec& spec, RequestTable& requests, KvBlocks& kv)
        : SchedulerBase(spec, requests, kv), swapped_(requests) {
        const double bandwidth = numberOf(spec, "swap-bandwidth", 25e9);
        secondsPerBlock_ = bandwidth > 0 ? spec.kvBytesPerToken * kv.tokensPerBlock() / bandwidth : 0;
        hostBlocks_ = static_cast<std::int64_t>(numberOf(spec, "swap-blocks", 1e12));
    }

    void next(Batch& batch, SimTime) override {
        if (swapped_.empty()) admitPrompts(batch);
        if (!batch.empty()) return;
        const std::size_t before = batch.dropped.size();
        decode(batch);
        if (batch.dropped.size() == before) swapIn(batch);
    }

    void finish(const Batch& batch, SimTime) override {
        for (const RequestIndex r : batch.requests) {
            if (requests_.finished(r)) {
                release(r);
            } else {
                ready(r);
            }
        }
    }

    void evict(std::vector<RequestIndex>& out, bool all) override {
        while (all && !swapped_.empty()) {
            const RequestIndex r = swapped_.popFront();
            hostBlocks_ += kv_.blocksFor(requests_.computed[r]);
            requests_.lose(r);
            requests_.state[r] = RequestState::Waiting;
            out.push_back(r);
        }
        SchedulerBase::evict(out, all);
    }
    std::int32_t waiting() const override { return static_cast<std::int32_t>(waiting_.size() + swapped_.size()); }

private:
    // In order of arrival; equals stay in the order in which they came.
    void ready(RequestIndex r) override {
        const auto& arrived = requests_.arrived;
        if (ready_.empty() || arrived[ready_.back()] <= arrived[r]) {
            ready_.push_back(r);
            return;
        }
        const auto place = std::upper_bound(ready_.begin(), ready_.end(), r,
                                            [&](RequestIndex a, RequestIndex b) { return arrived[a] < arrived[b]; });
        ready_.insert(place, r);
    }

    void admitPrompts(Batch& batch) {
        std::int64_t tokens = 0, longest = 0;
        while (!waiting_.empty()) {
            const RequestIndex r = waiting_.front();
            const bool cache = comesWithCache(r);
            const std::int64_t left = cache ? 0 : requests_.left(r);
            if (left > spec_.tokenBudget || neverFits(r, watermark_)) {
                reject(waiting_.popFront(), RejectReason::TooLong, batch);
                continue;
            }
            const std::int32_t blocks = kv_.blocksFor(requests_.text(r));
            if (kv_.free() - blocks < watermark_) break;
            // The first releases padded every prompt of an iteration to the longest, and Vidur still counts so.
            longest = std::max(longest, left);
            const auto count = static_cast<std::int64_t>(batch.requests.size()) + 1;
            if ((vidur() ? count * longest : tokens + left) > spec_.tokenBudget) break;
            if (held_ >= spec_.maxSequences || count > perBatch_) break;
            waiting_.popFront();
            admit(r, blocks);
            if (cache) {
                ready(r);
                continue;
            }
            batch.add(r, static_cast<std::int32_t>(left));
            tokens += left;
        }
    }

    // Every sequence needs a free block in sight, whether its last one is full or not.
    void decode(Batch& batch) {
        std::size_t first = 0, end = ready_.size();
        const auto limit = static_cast<std::size_t>(perBatch_);
        for (; first < end && batch.requests.size() < limit; ++first) {
            const RequestIndex r = ready_[first];
            const std::int32_t blocks = growth(r);
            const std::int64_t needed = std::max(1, blocks);
            while (kv_.free() < needed && end > first + 1) preempt(ready_[--end], batch);
            if (kv_.free() < needed) {
                preempt(r, batch);
                ++first;
                break;
            }
            if (blocks > 0) kv_.take(requests_, r, blocks);
            batch.add(r, decodeTokens(r));
        }
        ready_.resize(end);
        ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(first));
    }

    void preempt(RequestIndex r, Batch& batch) {
        const std::int32_t blocks = kv_.blocksFor(requests_.computed[r]);
        if (!spec_.swap || blocks > hostBlocks_) {
            restart(r, batch);
            return;
        }
        hostBlocks_ -= blocks;
        batch.delay += blocks * secondsPerBlock_;
        release(r);
        requests_.state[r] = RequestState::Swapped;
        ++requests_.preemptions[r];
        batch.dropped.push_back(r);
        swapped_.pushBack(r);
    }

    void swapIn(Batch& batch) {
        while (!swapped_.empty() && static_cast<std::int32_t>(batch.requests.size()) < perBatch_ &&
               held_ < spec_.maxSequences) {
            const RequestIndex r = swapped_.front();
            const std::int32_t blocks = kv_.blocksFor(requests_.text(r) + spec_.lookahead);
            // With nothing else running, no watermark keeps the last one out.
            if (kv_.free() - blocks < (held_ > 0 ? watermark_ : 0)) {
                if (held_ > 0) return;
                swapped_.popFront();
                requests_.lose(r);
                reject(r, RejectReason::TooLong, batch);
                continue;
            }
            swapped_.popFront();
            const std::int32_t moved = kv_.blocksFor(requests_.computed[r]);
            hostBlocks_ += moved;
            batch.delay += moved * secondsPerBlock_;
            admit(r, blocks);
            batch.add(r, decodeTokens(r));
        }
    }

    RequestQueue swapped_;
    double secondsPerBlock_ = 0;
    std::int64_t hostBlocks_ = 0;
};

}  // namespace

SchedulerCard vllmV0() {
    return {"vllm-v0",
            "vLLM V0",
            "Prompts first and whole, apart from decodes; the youngest sequence is preempted when blocks run out. Fast "
            "first tokens, but every new prompt stalls those that decode.",
            "Kwon et al., SOSP 2023; vLLM 0.1 to 0.8 (vllm/core/scheduler.py); compatibility `vidur`: Vidur 7d47513",
            {{"maxSequences", "Sequences", 128, "that hold blocks at one time"},
             {"tokenBudget", "Tokens per iteration", 4096, "of prompts; a longer prompt is rejected"},
             {"watermark", "Watermark", 0.01, "share of blocks that admission leaves free"},
             {"swap", "Swap", 0, "1: preempted sequences move to host memory instead of starting again"},
             {"swap-bandwidth", "Swap bandwidth", 25e9, "bytes per second between device and host"},
             {"swap-blocks", "Swap blocks", 1e12, "blocks that host memory holds"}},
            [](const SchedulerSpec& spec, RequestTable& requests, KvBlocks& kv) -> std::unique_ptr<Scheduler> {
                return std::make_unique<VllmV0>(spec, requests, kv);
            }};
}

}  // namespace orrery
