// Sarathi-Serve (Agrawal et al., OSDI 2024; microsoft/sarathi-serve): every iteration decodes all it can and fills the
// rest of a budget of tokens with chunks of prompts, so that no prompt stalls those that decode.

#include "serving/schedulers/all.h"
#include "serving/schedulers/scheduler_base.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

class Sarathi final : public SchedulerBase {
public:
    Sarathi(const SchedulerSpec& spec, RequestTable& requests, KvBlocks& kv) : SchedulerBase(spec, requests, kv) {
        const auto steps = static_cast<std::int32_t>(numberOf(spec, "chunk-stages", 0));
        if (steps < 1) return;
        // Chunks shrink as a prompt proceeds and its attention grows: evenly spaced from high to low, in multiples
        // of 32.
        const double low = numberOf(spec, "chunk-low", 0), high = numberOf(spec, "chunk-high", 0);
        const double unit = std::min(32., std::max(low, 1.));
        for (std::int32_t i = 0; i < std::min(steps, 10'000); ++i) {
            const double even = steps > 1 ? std::floor(high + (low - high) * i / (steps - 1)) : high;
            chunks_.push_back(std::max(1, static_cast<std::int32_t>(std::nearbyint(even / unit) * unit)));
        }
        const double all = numberOf(spec, "chunk-schedule-tokens", 0);
        stageTokens_ = std::max(1, static_cast<std::int32_t>(std::ceil(std::max(all, 1.) / steps)));
    }

    void next(Batch& batch, SimTime) override {
        // Vidur takes them in the order in which their iterations returned them; engines by arrival.
        if (!vidur()) sortByArrival();
        std::int32_t tokens = decode(batch);
        tokens = continuePrompts(batch, tokens);
        std::swap(ready_, left_);
        sortByArrival();
        admitPrompts(batch, tokens);
    }

private:
    void sortByArrival() {
        const auto earlier = [&](RequestIndex a, RequestIndex b) {
            return requests_.arrived[a] < requests_.arrived[b];
        };
        if (!std::is_sorted(ready_.begin(), ready_.end(), earlier))
            std::stable_sort(ready_.begin(), ready_.end(), earlier);
    }

    // Leaves in left_ what was not looked at, and in prompts_ those whose prompt is not done.
    std::int32_t decode(Batch& batch) {
        prompts_.clear();
        left_.clear();
        std::int32_t tokens = 0;
        std::size_t first = 0, end = ready_.size();
        const auto limit = static_cast<std::size_t>(perBatch_);
        while (first < end && batch.requests.size() < limit) {
            const RequestIndex r = ready_[first++];
            if (!requests_.decoding(r)) {
                prompts_.push_back(r);
                continue;
            }
            const std::int32_t blocks = growth(r);
            const std::int64_t needed = std::max(1, blocks);
            while (kv_.free() < needed && first < end) restart(ready_[--end], batch);
            if (kv_.free() < needed) {
                restart(r, batch);
                continue;
            }
            if (blocks > 0) kv_.take(requests_, r, blocks);
            const std::int32_t count = decodeTokens(r);
            batch.add(r, count);
            tokens += count;
        }
        left_.assign(ready_.begin() + static_cast<std::ptrdiff_t>(first),
                     ready_.begin() + static_cast<std::ptrdiff_t>(end));
        return tokens;
    }

    std::int32_t continuePrompts(Batch& batch, std::int32_t tokens) {
        std::size_t skipped = 0;
        for (const RequestIndex r : prompts_) {
            const std::int32_t count = std::min(requests_.left(r), chunkOf(r) - tokens);
            // Vidur lets prompts that go on exceed the sequences of a batch.
            if (count <= 0 || (!vidur() && static_cast<std::int32_t>(batch.requests.size()) >= perBatch_)) {
                prompts_[skipped++] = r;
                continue;
            }
            batch.add(r, count);
            tokens += count;
        }
        left_.insert(left_.begin(), prompts_.begin(), prompts_.begin() + static_cast<std::ptrdiff_t>(skipped));
        return tokens;
    }

    void admitPrompts(Batch& batch, std::int32_t tokens) {
        while (!waiting_.empty()) {
            const RequestIndex r = waiting_.front();
            if (neverFits(r, watermark_)) {
                reject(waiting_.popFront(), RejectReason::TooLong, batch);
                continue;
            }
            if (held_ >= spec_.maxSequences || static_cast<std::int32_t>(batch.requests.size()) >= perBatch_) return;
            const std::int32_t blocks = kv_.blocksFor(requests_.text(r));
            if (kv_.free() - blocks < watermark_) return;
            if (comesWithCache(r)) {
                admit(waiting_.popFront(), blocks);
                const std::int32_t count = decodeTokens(r);
                batch.add(r, count);
                tokens += count;
                continue;
            }
            const std::int32_t count = std::min(requests_.left(r), chunkOf(r) - tokens);
            if (count <= 0) return;
            admit(waiting_.popFront(), blocks);
            batch.add(r, count);
            tokens += count;
        }
    }

    std::int32_t chunkOf(RequestIndex r) const {
        if (chunks_.empty()) return spec_.chunk;
        const auto stage = static_cast<std::size_t>(requests_.computed[r] / stageTokens_);
        return chunks_[std::min(stage, chunks_.size() - 1)];
    }

    std::vector<RequestIndex> prompts_, left_;
    std::vector<std::int32_t> chunks_;  ///< by stage of a prompt; empty: the same for all
    std::int32_t stageTokens_ = 1;
};

}  // namespace

SchedulerCard sarathi() {
    return {
        "sarathi",
        "Sarathi-Serve",
        "Decodes never wait: prompts are cut into chunks that fill what the decodes leave of a budget of tokens. "
        "Steady "
        "gaps between tokens, somewhat later first tokens.",
        "Agrawal et al., OSDI 2024; microsoft/sarathi-serve; compatibility `vidur`: Vidur 7d47513",
        {{"maxSequences", "Sequences", 128, "that hold blocks at one time"},
         {"chunk", "Chunk", 512, "tokens of one iteration, decodes included"},
         {"watermark", "Watermark", 0.01, "share of blocks that admission leaves free"},
         {"chunk-stages", "Stages of chunks", 0, "0: chunks of one size; otherwise from high to low in as many steps"},
         {"chunk-high", "Largest chunk", 2048, "of a prompt's first stage"},
         {"chunk-low", "Smallest chunk", 512, "of a prompt's last stage"},
         {"chunk-schedule-tokens", "Tokens of all stages", 8192, "later tokens of a prompt belong to the last stage"}},
        [](const SchedulerSpec& spec, RequestTable& requests, KvBlocks& kv) -> std::unique_ptr<Scheduler> {
            return std::make_unique<Sarathi>(spec, requests, kv);
        }};
}

}  // namespace orrery
