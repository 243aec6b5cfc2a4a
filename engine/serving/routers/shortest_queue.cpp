#include "serving/routers/all.h"
#include "serving/routers/router_base.h"

#include <array>

namespace orrery {

namespace {

/// Requests differ by orders of magnitude in length: what waits is counted in tokens. Decodes go where most memory is
/// left, those on their way counted as they will arrive.
class ShortestQueue final : public RouterBase {
public:
    using RouterBase::RouterBase;

private:
    std::int32_t choose(RequestIndex, bool decode, SimTime) override {
        return least([&](std::size_t i) {
            if (!decode) return static_cast<double>(view_.schedulers[i]->pendingTokens());
            const KvBlocks& memory = *view_.memory[i];
            return static_cast<double>(memory.used()) / static_cast<double>(memory.total());
        });
    }
    template <class Load>
    std::int32_t least(Load&& load) const {
        std::int32_t best = -1;
        double fewest = 0;
        for (const std::int32_t i : candidates_) {
            const double value = load(static_cast<std::size_t>(i));
            const bool better = best < 0 || value < fewest || (value == fewest && outstanding(i) < outstanding(best));
            if (better) best = i, fewest = value;
        }
        return best;
    }
};

/// The schedulers of splitwise-sim (scheduler.py), which choose both machines when a request arrives. Their books count
/// a prompt's tokens and one more from its arrival until its prompt, then its decode, is done; those that ship caches
/// (kv_token_jsq) forget to book what arrives and only take off.
class SplitwiseBooks final : public RouterBase {
public:
    enum class By { Tokens, Requests, Turns };
    SplitwiseBooks(By by, const FleetView& view) : RouterBase(view), by_(by), tokens_(view.size()) {
        for (const ReplicaSpec& replica : view.fleet->replicas) split_ |= replica.role == ReplicaRole::Decode;
    }
    Route place(RequestIndex r, SimTime now) override {
        Route placed = RouterBase::place(r, now);
        if (placed.replica < 0) return placed;
        if (split_)
            placed.decode = RouterBase::decodeOn(r, placed.replica, now);
        else
            tokens_[static_cast<std::size_t>(placed.replica)] += view_.requests->prompt[r] + 1;
        return placed;
    }
    void prefillDone(RequestIndex r, std::int32_t replica, SimTime) override {
        tokens_[static_cast<std::size_t>(replica)] -= view_.requests->prompt[r];
    }
    void ended(RequestIndex, std::int32_t replica, SimTime) override {
        if (replica >= 0) tokens_[static_cast<std::size_t>(replica)] -= 1;
    }

private:
    std::int32_t choose(RequestIndex, bool decode, SimTime) override {
        if (by_ == By::Turns) return candidates_[turn_[decode ? 1 : 0]++ % candidates_.size()];
        std::int32_t best = candidates_.front();
        for (const std::int32_t i : candidates_)
            if (load(i) < load(best)) best = i;
        return best;
    }
    std::int64_t load(std::int32_t replica) const {
        const auto i = static_cast<std::size_t>(replica);
        if (by_ == By::Tokens) return tokens_[i];
        return view_.schedulers[i]->waiting() + view_.schedulers[i]->running();
    }
    By by_;
    std::array<std::size_t, 2> turn_{};
    std::vector<std::int64_t> tokens_;
    bool split_ = false;
};

}  // namespace

RouterCard shortestQueue() {
    return {"shortest-queue", "Shortest queue by tokens",
            "To the replica with the fewest prompt tokens that wait; decodes to the one with most memory left.",
            "join the shortest queue; compatibility `splitwise`, `splitwise-requests`, `splitwise-turns`: "
            "splitwise-sim's TokenJSQ, JSQ and round robin",
            [](const RouterSpec& spec, const FleetView& view) -> std::unique_ptr<Router> {
                using By = SplitwiseBooks::By;
                if (spec.compatibility == "splitwise") return std::make_unique<SplitwiseBooks>(By::Tokens, view);
                if (spec.compatibility == "splitwise-requests")
                    return std::make_unique<SplitwiseBooks>(By::Requests, view);
                if (spec.compatibility == "splitwise-turns") return std::make_unique<SplitwiseBooks>(By::Turns, view);
                return std::make_unique<ShortestQueue>(view);
            }};
}

}  // namespace orrery
