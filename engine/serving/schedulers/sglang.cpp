#include "serving/fleet/prefix_cache.h"
#include "serving/schedulers/all.h"
#include "serving/fleet/speculation.h"

#include <algorithm>
#include <deque>

namespace orrery {

namespace {

// SGLang (Zheng et al., NeurIPS 2024) as sglang/srt/managers/scheduler.py, schedule_policy.py and schedule_batch.py
// have it in v0.4, without overlapped scheduling and mixed chunks:
//   - prompts first; one prompt at a time may be in chunks, and goes on before others begin
//   - a request is admitted if its prompt and all tokens that it may still yield fit beside what the running ones may
//     still yield, times a ratio. The ratio starts at 0.7, falls with every decoding iteration to 0.098 in 600 of them,
//     and is set anew from what had been yielded when memory ran out
//   - without memory those that have yielded least are retracted, of equals the longest prompt
//   - waiting requests are ordered by the longest prefix in the cache while there are no more than 128 of them
class SgLang final : public Scheduler {
public:
    SgLang(const SchedulerSpec& spec, RequestTable& requests, KvBlocks& blocks)
        : spec_(spec), requests_(requests), blocks_(blocks) {
        if (spec.prefixCache) cache_ = std::make_unique<PrefixCache>(blocks);
        firstRatio_ = std::min(1.0, 0.7 * numberOf(spec, "conservativeness", 1));
        leastRatio_ = 0.14 * firstRatio_;
        ratio_ = firstRatio_;
    }

    void add(RequestIndex r, SimTime) override {
        waiting_.push_back(r);
        pending_ += requests_.left(r);
    }

    void next(Batch& batch, SimTime) override {
        batch.clear();
        prefill(batch);
        if (batch.empty()) decode(batch);
        for (const RequestIndex r : batch.requests) flying_.push_back(r);
    }

    void finish(const Batch& batch, SimTime) override {
        for (const RequestIndex r : batch.requests) {
            flying_.erase(std::find(flying_.begin(), flying_.end(), r));
            if (requests_.state[r] == RequestState::Waiting) continue;
            const auto at = std::find(running_.begin(), running_.end(), r);
            if (requests_.finished(r)) {
                blocks_.release(requests_, r);
                if (at != running_.end()) running_.erase(at);
                continue;
            }
            if (cache_) cache_->name(requests_, r, requests_.computed[r]);
        }
        if (running_.empty() && waiting_.empty() && chunked_ == no_request) ratio_ = firstRatio_;
    }

    void evict(std::vector<RequestIndex>& out, bool all) override {
        for (const RequestIndex r : waiting_) out.push_back(r);
        for (const RequestIndex r : waiting_) requests_.state[r] = RequestState::Waiting;
        waiting_.clear();
        pending_ = 0;
        if (!all) return;
        if (chunked_ != no_request) running_.push_back(chunked_);
        chunked_ = no_request;
        for (const RequestIndex r : running_) {
            blocks_.release(requests_, r);
            requests_.computed[r] = 0;
            requests_.state[r] = RequestState::Waiting;
            out.push_back(r);
        }
        running_.clear();
    }

    bool depart(RequestIndex r) override {
        std::erase(running_, r);
        if (chunked_ == r) chunked_ = no_request;
        return true;
    }

    std::int32_t waiting() const override { return static_cast<std::int32_t>(waiting_.size()); }
    std::int32_t running() const override {
        return static_cast<std::int32_t>(running_.size()) + (chunked_ != no_request ? 1 : 0);
    }
    std::int64_t pendingTokens() const override { return pending_; }

private:
    static constexpr std::int32_t most_yield = 4096;  ///< CLIP_MAX_NEW_TOKENS
    static constexpr std::size_t most_sorted = 128;
    static constexpr double decay_steps = 600, retract_steps = 20;

    std::int32_t mayYield(RequestIndex r) const {
        return std::min(requests_.output[r] - requests_.generated[r], most_yield);
    }
    std::int32_t room(RequestIndex r, std::int64_t tokens) const {
        return std::max(0, blocks_.blocksFor(tokens) - requests_.blocks[r]);
    }
    void grow(RequestIndex r, std::int64_t tokens) {
        const std::int32_t count = room(r, tokens);
        if (cache_)
            cache_->take(requests_, r, count);
        else
            blocks_.take(requests_, r, count);
    }
    bool inFlight(RequestIndex r) const { return std::find(flying_.begin(), flying_.end(), r) != flying_.end(); }

    PrefixCache::Hit hitOf(RequestIndex r) const {
        if (!cache_ || requests_.computed[r] > 0) return {};
        return cache_->find(requests_, r, (requests_.text(r) - 1) / blocks_.tokensPerBlock());
    }
    void order() {
        if (!cache_ || waiting_.size() > most_sorted || waiting_.size() < 2) return;
        hits_.clear();
        for (const RequestIndex r : waiting_) hits_.emplace_back(-hitOf(r).blocks, r);
        std::stable_sort(hits_.begin(), hits_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        std::transform(hits_.begin(), hits_.end(), waiting_.begin(), [](const auto& hit) { return hit.second; });
    }

    void prefill(Batch& batch) {
        if (waiting_.empty() && chunked_ == no_request) return;
        const std::int32_t size = blocks_.tokensPerBlock();
        double spared = 0;
        for (const RequestIndex r : running_) spared += ratio_ * mayYield(r);
        double rest = static_cast<double>(blocks_.free() * size) - spared;
        std::int32_t chunk = spec_.chunkedPrefill ? spec_.chunk : spec_.tokenBudget, input = spec_.tokenBudget;
        if (chunked_ != no_request) {
            if (inFlight(chunked_)) return;
            const std::int32_t tokens = std::min({requests_.left(chunked_), chunk, input});
            if (room(chunked_, requests_.computed[chunked_] + tokens) > blocks_.free()) return;
            grow(chunked_, requests_.computed[chunked_] + tokens);
            batch.add(chunked_, tokens);
            chunk -= tokens;
            input -= tokens;
            rest -= tokens + mayYield(chunked_);
            if (tokens < requests_.left(chunked_)) return;
            running_.push_back(chunked_);
            chunked_ = no_request;
        }
        order();
        auto places = static_cast<std::int64_t>(spec_.maxSequences) - running();
        while (!waiting_.empty() && chunk > 0 && input > 0 && places > 0) {
            const RequestIndex r = waiting_.front();
            if (neverFits(r)) {
                reject(r, batch);
                continue;
            }
            const PrefixCache::Hit hit = hitOf(r);
            const std::int32_t have = requests_.computed[r] + hit.blocks * size;
            std::int32_t tokens = requests_.text(r) - have;
            const bool alone = running() == 0 && batch.empty();
            if (tokens + mayYield(r) >= rest - hit.idle * size && !alone) break;
            if (tokens > input && !batch.empty()) break;
            tokens = std::min(tokens, spec_.chunkedPrefill ? std::min(chunk, input) : tokens);
            if (blocks_.blocksFor(have + tokens) - hit.blocks > blocks_.free() - hit.idle) break;
            const bool whole = have + tokens == requests_.text(r);

            waiting_.pop_front();
            pending_ -= requests_.left(r);
            if (cache_ && requests_.computed[r] == 0) {
                cache_->share(requests_, r, hit.blocks);
                if (requests_.restarts[r] == 0) requests_.cached[r] = have;
                requests_.computed[r] = have;
            }
            grow(r, have + tokens);
            if (cache_) cache_->name(requests_, r, have + tokens);
            requests_.state[r] = RequestState::Running;
            batch.add(r, tokens);
            chunk -= tokens;
            input -= tokens;
            rest -= tokens + mayYield(r);
            --places;
            if (!whole) {
                chunked_ = r;
                break;
            }
            running_.push_back(r);
        }
    }

    bool neverFits(RequestIndex r) const {
        const std::int64_t all = static_cast<std::int64_t>(requests_.prompt[r]) + requests_.output[r];
        if (spec_.maxModelLength > 0 && all > spec_.maxModelLength) return true;
        return blocks_.blocksFor(all - 1 + spec_.lookahead) > blocks_.total();
    }
    void reject(RequestIndex r, Batch& batch) {
        waiting_.pop_front();
        pending_ -= requests_.left(r);
        requests_.state[r] = RequestState::Rejected;
        requests_.reason[r] = RejectReason::TooLong;
        batch.dropped.push_back(r);
    }

    std::int32_t draftsOf(RequestIndex r) const {
        return spec_.lookahead > 0 ? plannedDrafts(spec_.lookahead, requests_.output[r] - requests_.generated[r]) : 0;
    }
    void retract(RequestIndex r, Batch& batch) {
        blocks_.release(requests_, r);
        requests_.lose(r);
        requests_.state[r] = RequestState::Preempted;
        ++requests_.preemptions[r];
        ++requests_.restarts[r];
        batch.dropped.push_back(r);
        waiting_.push_back(r);
        pending_ += requests_.left(r);
    }

    void decode(Batch& batch) {
        ready_.clear();
        std::int64_t need = 0;
        for (const RequestIndex r : running_)
            if (!inFlight(r)) {
                ready_.push_back(r);
                need += room(r, requests_.computed[r] + 1 + draftsOf(r));
            }
        if (ready_.empty()) return;
        bool retracted = false;
        while (need > blocks_.free()) {
            RequestIndex victim = no_request;
            if (ready_.size() > 1) {
                const auto least = std::min_element(ready_.begin(), ready_.end(), [&](RequestIndex a, RequestIndex b) {
                    if (requests_.generated[a] != requests_.generated[b])
                        return requests_.generated[a] < requests_.generated[b];
                    return requests_.prompt[a] > requests_.prompt[b];
                });
                victim = *least;
                need -= room(victim, requests_.computed[victim] + 1 + draftsOf(victim));
                ready_.erase(least);
                std::erase(running_, victim);
            } else if (chunked_ != no_request && !inFlight(chunked_)) {
                victim = chunked_;
                chunked_ = no_request;
            } else {
                return;  // an iteration in flight will free some
            }
            retract(victim, batch);
            retracted = true;
        }
        double yielded = 0, most = 0;
        for (const RequestIndex r : ready_) {
            const std::int32_t tokens = 1 + draftsOf(r);
            grow(r, requests_.computed[r] + tokens);
            batch.add(r, tokens);
            yielded += requests_.generated[r];
            most += requests_.output[r];
        }
        if (retracted)
            ratio_ =
                std::min(1.0, (yielded + retract_steps * static_cast<double>(ready_.size())) / std::max(1.0, most));
        else
            ratio_ = std::max(leastRatio_, ratio_ - (firstRatio_ - leastRatio_) / decay_steps);
    }

    const SchedulerSpec spec_;
    RequestTable& requests_;
    KvBlocks& blocks_;
    std::unique_ptr<PrefixCache> cache_;
    std::deque<RequestIndex> waiting_;
    std::vector<RequestIndex> running_;  ///< prompts done or to be done by what is in flight
    RequestIndex chunked_ = no_request;  ///< the prompt that is computed in parts
    std::vector<RequestIndex> flying_, ready_;
    std::vector<std::pair<std::int32_t, RequestIndex>> hits_;
    std::int64_t pending_ = 0;
    double ratio_ = 0, firstRatio_ = 0, leastRatio_ = 0;
};

}  // namespace

SchedulerCard sgLang() {
    return {
        .id = "sglang",
        .title = "SGLang",
        .summary =
            "Prompts go first, those with the longest cached prefix before others. Admission expects running "
            "requests to yield a share of what they may, and learns that share.",
        .lineage = "SGLang v0.4, sglang/srt/managers; Zheng et al., “SGLang”, NeurIPS 2024",
        .options =
            {
                {"maxSequences", "Sequences", 128, "most that run at once (max_running_requests)"},
                {"tokenBudget", "Prompt tokens", 16384, "of one iteration (max_prefill_tokens)"},
                {"chunk", "Prompt chunk", 8192, "tokens of one prompt per iteration (chunked_prefill_size)"},
                {"chunkedPrefill", "Chunked prompts", 1, "a prompt may be computed in several iterations"},
                {"maxModelLength", "Longest text", 0, "tokens of prompt and output; 0: no limit"},
                {"prefixCache", "Prefix cache", 1, "prompts that begin alike share blocks (radix cache)"},
                {"lookahead", "Draft tokens", 0, "that are verified with every decoded token"},
                {"conservativeness", "Conservativeness", 1,
                 "times 0.7: the share of possible tokens that admission "
                 "expects at first (schedule_conservativeness)"},
            },
        .make = [](const SchedulerSpec& spec, RequestTable& requests, KvBlocks& blocks) -> std::unique_ptr<Scheduler> {
            return std::make_unique<SgLang>(spec, requests, blocks);
        },
    };
}

}  // namespace orrery
