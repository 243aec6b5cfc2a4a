#include "serving/routers/all.h"
#include "serving/routers/router_base.h"

#include <algorithm>
#include <limits>

namespace orrery {

namespace {

using Pool = std::vector<std::int32_t>;

/// Prompt, mixed and token pool (Patel et al., ISCA 2024, §IV-D; splitwise-sim MixedPoolScheduler): a prompt queue that
/// is too long, or a full memory, borrows a machine of the other pool until that has nothing left to do. Memory is
/// booked for a request's whole length when it is placed.
class SplitwisePools final : public Router {
public:
    SplitwisePools(const RouterSpec& spec, const FleetView& view)
        : view_(view), longest_(spec.queueTokens), tokens_(view.size()), booked_(view.size()), mixedNow_(view.size()) {
        for (std::size_t i = 0; i < view.size(); ++i)
            home(static_cast<std::int32_t>(i)).push_back(static_cast<std::int32_t>(i));
        held_.resize(view.requests->size());
    }

    Route place(RequestIndex r, SimTime) override {
        asking_ = r;
        const std::int64_t prompt = view_.requests->prompt[r];
        const std::int64_t output = view_.requests->output[r];
        std::int32_t first = shortQueue(prompts_, prompt);
        if (first < 0) first = shortQueue(mixed_, prompt);
        std::int32_t second = roomy(decodes_, prompt + output);
        if (second < 0) second = roomy(mixed_, prompt + output);
        // Machines that always do both keep what they prompt.
        if (first >= 0 && view_.fleet->replicas[at(first)].role == ReplicaRole::Whole) second = first;
        if (first < 0) first = borrow(decodes_, tokens_);
        if (second < 0) second = borrow(prompts_, booked_);
        if (first < 0 || second < 0) {
            for (const Pool* pool : {&prompts_, &mixed_, &decodes_})
                if (const std::int32_t i = least(*pool, tokens_); i >= 0 && (second < 0 || tokens(i) < tokens(second)))
                    second = i;
            first = second;
        }
        if (first < 0) return {};
        Held& held = held_[r];
        held = {first, second, prompt + 1, output - 1};
        if (first != second) booked_[at(first)] += prompt + 1;
        booked_[at(second)] += prompt + output;
        tokens_[at(first)] += prompt;
        tokens_[at(second)] += 1;
        return {first, first == second ? -1 : second, RejectReason::None};
    }
    std::int32_t decodeOn(RequestIndex r, std::int32_t, SimTime) override {
        asking_ = r;
        const std::int32_t second = held_[r].second;
        if (second >= 0 && view_.accepts[at(second)]) return second;
        for (const Pool* pool : {&decodes_, &mixed_, &prompts_})
            if (const std::int32_t i = least(*pool, booked_); i >= 0) return i;
        return -1;
    }
    void prefillDone(RequestIndex r, std::int32_t replica, SimTime) override {
        tokens_[at(replica)] -= view_.requests->prompt[r];
    }
    void moved(RequestIndex r, std::int32_t from, std::int32_t, SimTime) override {
        booked_[at(from)] -= held_[r].prompt;
    }
    void ended(RequestIndex r, std::int32_t replica, SimTime) override {
        if (replica < 0 || held_[r].second < 0) return;
        tokens_[at(held_[r].second)] -= 1;
        booked_[at(held_[r].second)] -= held_[r].prompt + held_[r].rest;
    }
    void emptied(std::int32_t replica, SimTime) override {
        if (!mixedNow_[at(replica)]) return;
        mixedNow_[at(replica)] = 0;
        mixed_.erase(std::find(mixed_.begin(), mixed_.end(), replica));
        home(replica).push_back(replica);
    }

private:
    struct Held {
        std::int32_t first = -1, second = -1;
        std::int64_t prompt = 0, rest = 0;  ///< tokens of memory
    };
    static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
    Pool& home(std::int32_t i) {
        switch (view_.fleet->replicas[at(i)].role) {
            case ReplicaRole::Prefill:
                return prompts_;
            case ReplicaRole::Decode:
                return decodes_;
            case ReplicaRole::Whole:
                break;
        }
        return mixed_;
    }
    std::int64_t tokens(std::int32_t i) const { return tokens_[at(i)]; }
    std::int32_t least(const Pool& pool, const std::vector<std::int64_t>& by) const {
        std::int32_t best = -1;
        for (const std::int32_t i : pool)
            if (view_.accepts[at(i)] && serves(view_.fleet->replicas[at(i)], *view_.requests->stream, asking_) &&
                (best < 0 || by[at(i)] < by[at(best)]))
                best = i;
        return best;
    }
    std::int32_t shortQueue(const Pool& pool, std::int64_t prompt) const {
        const std::int32_t i = least(pool, tokens_);
        if (i < 0) return -1;
        const bool isLong = view_.schedulers[at(i)]->pendingTasks() > 0 && tokens(i) + prompt > longest_;
        return isLong ? -1 : i;
    }
    std::int32_t roomy(const Pool& pool, std::int64_t needed) const {
        const std::int32_t i = least(pool, booked_);
        if (i < 0) return -1;
        const KvBlocks& memory = *view_.memory[at(i)];
        return booked_[at(i)] + needed > memory.total() * memory.tokensPerBlock() ? -1 : i;
    }
    std::int32_t borrow(Pool& pool, const std::vector<std::int64_t>& by) {
        const std::int32_t i = least(pool, by);
        if (i < 0) return -1;
        pool.erase(std::find(pool.begin(), pool.end(), i));
        mixed_.push_back(i);
        mixedNow_[at(i)] = 1;
        return i;
    }

    const FleetView& view_;
    double longest_;
    RequestIndex asking_ = no_request;
    Pool prompts_, mixed_, decodes_;
    std::vector<std::int64_t> tokens_, booked_;
    std::vector<std::uint8_t> mixedNow_;
    std::vector<Held> held_;
};

}  // namespace

RouterCard splitwisePools() {
    return {
        "splitwise-pools", "Splitwise (prompt, mixed and token pool)",
        "Prompts to the prefill replica with the fewest queued tokens, decodes to the decode replica with the least "
        "booked memory; when either is overloaded, a replica of the other pool helps out until it is empty.",
        "Patel et al., ISCA 2024; splitwise-sim MixedPoolScheduler",
        [](const RouterSpec& spec, const FleetView& view) -> std::unique_ptr<Router> {
            return std::make_unique<SplitwisePools>(spec, view);
        }};
}

}  // namespace orrery
