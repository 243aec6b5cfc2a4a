#include "serving/fleet/prefix_cache.h"
#include "serving/schedulers/all.h"
#include "serving/schedulers/waiting_queue.h"
#include "serving/fleet/speculation.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

class VllmV1 final : public Scheduler {
public:
    VllmV1(const SchedulerSpec& spec, RequestTable& requests, KvBlocks& blocks)
        : spec_(spec), requests_(requests), blocks_(blocks), waiting_(spec.byPriority) {
        const auto more = [&](std::string_view key, double fallback) {
            const auto at = spec.more.find(key);
            return at == spec.more.end() ? fallback : at->second;
        };
        // With several stages iterations are in flight anyway, and the next token of a sequence waits for the last
        // stage.
        async_ = more("async", 1) != 0 && spec.stages <= 1;
        watermark_ = static_cast<std::int64_t>(spec.watermark * static_cast<double>(blocks.total()));
        if (spec.prefixCache)
            cache_ = std::make_unique<PrefixCache>(blocks, static_cast<std::int64_t>(more("hostBlocks", 0)));
        hostSeconds_ = more("hostSecondsPerBlock", 0);
        running_.reserve(static_cast<std::size_t>(std::max(spec.maxSequences, 1)));
    }

    void add(RequestIndex r, SimTime) override {
        waiting_.add(requests_, r);
        pending_ += requests_.left(r);
    }

    void next(Batch& batch, SimTime) override {
        batch.clear();
        if (!async_) return plan(batch);
        if (planned_.empty()) plan(planned_);
        std::swap(batch, planned_);
        planned_.clear();
        if (batch.empty()) return;
        plan(planned_);
        batch.dropped.insert(batch.dropped.end(), planned_.dropped.begin(), planned_.dropped.end());
        planned_.dropped.clear();
    }

    void finish(const Batch& batch, SimTime) override {
        // Both are in order of admission, so one walk over the running ones meets every member of the batch.
        std::size_t from = 0, to = 0;
        for (std::size_t i = 0; i < batch.requests.size(); ++i) {
            const RequestIndex r = batch.requests[i];
            if (indexFrom(from, r) == running_.size()) {
                settle(r);
                continue;
            }
            while (running_[from].request != r) keep(to, from);
            Running& entry = running_[from];
            entry.flying -= batch.tokens[i];
            entry.owed -= entry.yields;
            entry.yields = entry.nextYields;
            entry.nextYields = 0;
            if (requests_.finished(r)) {
                blocks_.release(requests_, r);
                ++from;
            } else {
                if (cache_) cache_->name(requests_, r, requests_.computed[r]);
                keep(to, from);
            }
        }
        while (from < running_.size()) keep(to, from);
        running_.resize(to);
    }

    void evict(std::vector<RequestIndex>& out, bool all) override {
        for (const RequestIndex r : waiting_.all()) {
            requests_.state[r] = RequestState::Waiting;
            out.push_back(r);
        }
        waiting_.clear();
        for (const Stray& stray : strays_) requests_.computed[stray.request] = 0;
        strays_.clear();
        pending_ = 0;
        if (!all) return;
        for (const Running& entry : running_) {
            blocks_.release(requests_, entry.request);
            requests_.computed[entry.request] = 0;
            requests_.state[entry.request] = RequestState::Waiting;
            out.push_back(entry.request);
        }
        running_.clear();
        planned_.clear();
    }

    bool depart(RequestIndex r) override {
        const auto at =
            std::find_if(running_.begin(), running_.end(), [&](const Running& e) { return e.request == r; });
        if (at != running_.end()) running_.erase(at);
        const auto planned = std::find(planned_.requests.begin(), planned_.requests.end(), r);
        if (planned != planned_.requests.end()) {
            planned_.tokens.erase(planned_.tokens.begin() + (planned - planned_.requests.begin()));
            planned_.requests.erase(planned);
        }
        return true;
    }

    std::int32_t waiting() const override { return static_cast<std::int32_t>(waiting_.size()); }
    std::int32_t running() const override { return static_cast<std::int32_t>(running_.size()); }
    std::int64_t pendingTokens() const override { return pending_; }

private:
    // Tokens in flight belong to iterations that were planned and have not ended; tokens owed are those that they will
    // yield, at most.
    struct Running {
        RequestIndex request;
        std::int32_t flying = 0, owed = 0;
        std::int32_t yields = 0, nextYields = 0;  ///< owed by the oldest iteration in flight, and by the one behind it
        std::int32_t member = -1;                 ///< position in the batch that is being planned
    };

    std::size_t indexFrom(std::size_t from, RequestIndex r) const {
        while (from < running_.size() && running_[from].request != r) ++from;
        return from;
    }
    void keep(std::size_t& to, std::size_t& from) {
        if (to != from) running_[to] = running_[from];
        ++to;
        ++from;
    }
    // Preempted while its last iteration was in flight: the token counts, keys and values are gone.
    void settle(RequestIndex r) {
        const auto at = std::find_if(strays_.begin(), strays_.end(), [&](const Stray& s) { return s.request == r; });
        if (at == strays_.end()) return;
        pending_ -= at->text;
        strays_.erase(at);
        if (requests_.state[r] == RequestState::Preempted) {
            requests_.lose(r);
            pending_ += requests_.text(r);
        } else {
            waiting_.remove(requests_, r);
        }
    }

    struct Stray {
        RequestIndex request;
        std::int32_t text;  ///< when it was preempted
    };

    std::int32_t room(RequestIndex r, std::int64_t tokens) const {
        return std::max(0, blocks_.blocksFor(tokens) - requests_.blocks[r]);
    }
    void grow(RequestIndex r, std::int32_t count) {
        if (cache_)
            cache_->take(requests_, r, count);
        else
            blocks_.take(requests_, r, count);
    }

    void plan(Batch& batch) {
        std::int32_t budget = spec_.tokenBudget;
        const bool preempted = continueRunning(batch, budget);
        if (!preempted) admit(batch, budget);
        launch(batch);
    }

    bool continueRunning(Batch& batch, std::int32_t& budget) {
        bool preempted = false;
        for (std::size_t i = 0; i < running_.size() && budget > 0;) {
            const RequestIndex r = running_[i].request;
            const std::int32_t tokens = wanted(running_[i], budget);
            if (tokens <= 0) {
                ++i;
                continue;
            }
            const std::int64_t until = requests_.computed[r] + running_[i].flying + tokens;
            bool fits = true;
            while (room(r, until) > blocks_.free()) {
                preempted = true;
                const std::size_t victim = chooseVictim();
                const bool itself = victim == i;
                preempt(victim, batch, budget);
                if (victim < i) --i;
                if (itself) {
                    fits = false;
                    break;
                }
            }
            if (!fits) break;
            grow(r, room(r, until));
            running_[i].member = static_cast<std::int32_t>(batch.requests.size());
            batch.add(r, tokens);
            budget -= tokens;
            ++i;
        }
        return preempted;
    }

    std::int32_t wanted(const Running& entry, std::int32_t budget) const {
        const RequestIndex r = entry.request;
        const std::int32_t rest = output(r) - requests_.generated[r] - entry.owed;
        if (rest <= 0) return 0;
        std::int32_t tokens = requests_.left(r) + entry.owed - entry.flying;
        if (tokens <= 0) return 0;
        if (spec_.lookahead > 0 && tokens == 1 && requests_.generated[r] + entry.owed > 0)
            tokens += plannedDrafts(spec_.lookahead, rest);
        return limited(tokens, budget);
    }
    std::int32_t limited(std::int32_t tokens, std::int32_t budget) const {
        if (spec_.longPrompt > 0) tokens = std::min(tokens, spec_.longPrompt);
        return std::min(tokens, budget);
    }

    std::size_t chooseVictim() const {
        if (!spec_.byPriority) return running_.size() - 1;
        std::size_t worst = 0;
        for (std::size_t i = 1; i < running_.size(); ++i)
            if (WaitingQueue::before(requests_, running_[worst].request, running_[i].request)) worst = i;
        return worst;
    }

    void preempt(std::size_t index, Batch& batch, std::int32_t& budget) {
        const Running entry = running_[index];
        const RequestIndex r = entry.request;
        if (entry.member >= 0) {
            const auto at = static_cast<std::size_t>(entry.member);
            budget += batch.tokens[at];
            batch.requests.erase(batch.requests.begin() + entry.member);
            batch.tokens.erase(batch.tokens.begin() + entry.member);
            for (Running& other : running_)
                if (other.member > entry.member) --other.member;
        }
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
        blocks_.release(requests_, r);
        requests_.state[r] = RequestState::Preempted;
        ++requests_.preemptions[r];
        ++requests_.restarts[r];
        batch.dropped.push_back(r);
        waiting_.addPreempted(requests_, r);
        pending_ += requests_.text(r);
        // What is in flight still counts: its token is yielded, and only then everything is forgotten.
        if (entry.flying > 0)
            strays_.push_back({r, requests_.text(r)});
        else
            requests_.lose(r);
    }

    void admit(Batch& batch, std::int32_t& budget) {
        const auto most = static_cast<std::size_t>(spec_.maxSequences);
        while (!waiting_.empty() && budget > 0 && running_.size() < most) {
            const RequestIndex r = waiting_.front();
            if (neverFits(r)) {
                drop(batch, r);
                continue;
            }
            const std::int32_t text = requests_.text(r);
            PrefixCache::Hit hit;
            std::int32_t have = requests_.computed[r];
            if (cache_ && have == 0) {
                hit = cache_->find(requests_, r, (text - 1) / blocks_.tokensPerBlock());
                have = (hit.blocks + hit.host) * blocks_.tokensPerBlock();
            }
            std::int32_t tokens = text - have;
            if (!spec_.chunkedPrefill && tokens > budget) {
                // Grown beyond the budget by what it generated before it was preempted: alone, or never.
                if (!batch.empty() || tokens <= spec_.tokenBudget) break;
            } else {
                tokens = limited(tokens, budget);
            }
            const std::int32_t whole = blocks_.blocksFor(spec_.reserveWholePrompt ? text : have + tokens);
            const std::int64_t spared = running_.empty() ? 0 : watermark_;
            if (whole - hit.blocks + spared > blocks_.free() - hit.idle) break;

            waiting_.pop(requests_);
            pending_ -= requests_.left(r);
            if (cache_) {
                cache_->share(requests_, r, hit.blocks);
                if (requests_.restarts[r] == 0) requests_.cached[r] = have;
                batch.delay += hit.host * hostSeconds_;
                requests_.computed[r] = have;
            }
            grow(r, room(r, have + tokens));
            requests_.state[r] = RequestState::Running;
            Running entry{.request = r};
            entry.member = static_cast<std::int32_t>(batch.requests.size());
            running_.push_back(entry);
            batch.add(r, tokens);
            budget -= tokens;
        }
    }

    // Longer than the model's window or than the whole memory: waiting would not help.
    bool neverFits(RequestIndex r) const {
        const std::int64_t all = static_cast<std::int64_t>(requests_.text(r)) + output(r) - requests_.generated[r];
        if (spec_.maxModelLength > 0 && all > spec_.maxModelLength) return true;
        if (!spec_.chunkedPrefill && requests_.generated[r] == 0 && requests_.left(r) > spec_.tokenBudget) return true;
        return blocks_.blocksFor(all - 1 + spec_.lookahead) > blocks_.total();
    }
    void drop(Batch& batch, RequestIndex r) {
        waiting_.pop(requests_);
        pending_ -= requests_.left(r);
        requests_.state[r] = RequestState::Rejected;
        requests_.reason[r] = RejectReason::TooLong;
        batch.dropped.push_back(r);
    }

    void launch(const Batch& batch) {
        for (Running& entry : running_) {
            if (entry.member < 0) continue;
            const auto at = static_cast<std::size_t>(entry.member);
            const RequestIndex r = entry.request;
            entry.member = -1;
            const std::int32_t tokens = batch.tokens[at];
            const std::int32_t lacking = requests_.left(r) + entry.owed - entry.flying;
            const std::int32_t yields = std::max(0, tokens - lacking + 1);
            if (cache_)
                cache_->name(requests_, r, std::min(requests_.computed[r] + entry.flying + tokens, requests_.text(r)));
            if (async_) {
                entry.owed += yields;
                (entry.flying > 0 ? entry.nextYields : entry.yields) = yields;
            }
            entry.flying += tokens;
        }
    }

    std::int32_t output(RequestIndex r) const { return requests_.output[r]; }

    const SchedulerSpec spec_;
    RequestTable& requests_;
    KvBlocks& blocks_;
    std::unique_ptr<PrefixCache> cache_;
    WaitingQueue waiting_;
    std::vector<Running> running_;  ///< in order of admission
    std::vector<Stray> strays_;     ///< preempted with an iteration in flight
    Batch planned_;                 ///< asynchronous: what follows the iteration that is in flight
    std::int64_t watermark_ = 0, pending_ = 0;
    double hostSeconds_ = 0;
    bool async_ = true;
};

}  // namespace

SchedulerCard vllmV1() {
    return {
        .id = "vllm-v1",
        .title = "vLLM V1",
        .summary =
            "Prompts and decoding share one token budget in every iteration, long prompts in chunks. Without "
            "memory the newest sequence starts again.",
        .lineage = "vLLM v0.19, vllm/v1/core/sched/scheduler.py; PagedAttention: Kwon et al., SOSP 2023",
        .options =
            {
                {"maxSequences", "Sequences", 128, "most that run at once (max_num_seqs)"},
                {"tokenBudget", "Token budget", 2048, "tokens of one iteration (max_num_batched_tokens)"},
                {"longPrompt", "Prompt chunk", 0,
                 "tokens of one prompt per iteration at most "
                 "(long_prefill_token_threshold); 0: no limit"},
                {"maxModelLength", "Longest text", 0, "tokens of prompt and output (max_model_len); 0: no limit"},
                {"watermark", "Watermark", 0, "share of blocks that admission leaves free while something runs"},
                {"chunkedPrefill", "Chunked prompts", 1, "a prompt may be computed in several iterations"},
                {"reserveWholePrompt", "Room for whole prompts", 1,
                 "admission asks for blocks of the whole prompt, "
                 "not of its first chunk "
                 "(scheduler_reserve_full_isl)"},
                {"prefixCache", "Prefix cache", 0, "prompts that begin alike share blocks"},
                {"byPriority", "By priority", 0, "queue and victims by priority, then arrival"},
                {"lookahead", "Draft tokens", 0, "that are verified with every decoded token"},
                {"async", "Asynchronous scheduling", 1, "the next iteration is planned while one runs", true},
                {"hostBlocks", "Blocks in host memory", 0, "second tier of the prefix cache"},
                {"hostSecondsPerBlock", "Seconds per block from host", 0, "to copy a block of the second tier back"},
            },
        .make = [](const SchedulerSpec& spec, RequestTable& requests, KvBlocks& blocks) -> std::unique_ptr<Scheduler> {
            return std::make_unique<VllmV1>(spec, requests, blocks);
        },
    };
}

}  // namespace orrery
