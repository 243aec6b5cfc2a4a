#include "serving/routers/all.h"
#include "serving/routers/prefix_directory.h"
#include "serving/routers/router_base.h"

#include <algorithm>

namespace orrery {

namespace {

/// Predicts with the replicas' own iteration times: what waits there, in iterations of its token budget, then this
/// prompt. Refuses on arrival what would miss the promise, instead of computing a prompt for nothing.
class PredictedLatency final : public RouterBase {
public:
    PredictedLatency(const FleetView& view, bool caches)
        : RouterBase(view), caches_(caches), directory_(view.size()), queueRate_(view.size(), -1) {
        for (const ReplicaSpec& replica : view.fleet->replicas) split_ |= replica.role == ReplicaRole::Decode;
    }

    Route place(RequestIndex r, SimTime now) override {
        Route placed = RouterBase::place(r, now);
        const ServiceLevel& promise = view_.fleet->promise;
        if (placed.replica < 0) return placed;
        if (promise.ttft > 0 && predicted_ > promise.ttft) placed.refused = RejectReason::PredictedMiss;
        if (promise.tpot > 0 && view_.requests->output[r] > 1) {
            std::int32_t decode = placed.replica;
            if (split_) {
                decode = RouterBase::decodeOn(r, placed.replica, now);
                if (decode < 0) return placed;
            }
            if (stepSeconds(decode, r) > promise.tpot) placed.refused = RejectReason::PredictedMiss;
        }
        if (placed.refused == RejectReason::None && caches_)
            directory_.sent(*view_.requests->stream, r, placed.replica);
        return placed;
    }

private:
    std::int32_t choose(RequestIndex r, bool decode, SimTime now) override {
        if (!decode && caches_) directory_.hits(*view_.requests->stream, r, hits_);
        std::int32_t best = -1;
        double least = 0;
        for (const std::int32_t i : candidates_) {
            const double seconds = decode ? stepSeconds(i, r) : firstTokenSeconds(i, r, now);
            if (best < 0 || seconds < least) best = i, least = seconds;
        }
        if (!decode) predicted_ = least;
        return best;
    }

    double secondsOf(const ReplicaSpec& replica, const IterationWork& work) const {
        const IterationPrice price = replica.time->price(work);
        return price.host + price.seconds * (replica.time->stages() - 1) + price.lastSeconds;
    }

    double firstTokenSeconds(std::int32_t i, RequestIndex r, SimTime now) {
        const auto at = static_cast<std::size_t>(i);
        const ReplicaSpec& replica = view_.fleet->replicas[at];
        if (queueRate_[at] < 0) {
            const PromptChunk chunk{std::max(1, replica.scheduler.tokenBudget), 0};
            queueRate_[at] = promptSeconds(replica, chunk) / chunk.tokens;
        }
        const std::int32_t cached = caches_ ? hits_[at] : 0;
        const double queue = queueRate_[at] * static_cast<double>(view_.schedulers[at]->pendingTokens());
        const double busy = toSeconds(std::max<SimTime>(0, view_.batchEnd[at] - now));
        return busy + queue + promptSeconds(replica, {view_.requests->prompt[r] - cached, cached});
    }
    double promptSeconds(const ReplicaSpec& replica, PromptChunk chunk) const {
        IterationWork work;
        work.prompts = {&chunk, 1};
        work.tokens = chunk.tokens;
        work.sampled = 1;
        return secondsOf(replica, work);
    }

    /// One decode step with this request among those that are there, all at their mean context.
    double stepSeconds(std::int32_t i, RequestIndex r) {
        const auto at = static_cast<std::size_t>(i);
        const KvBlocks& memory = *view_.memory[at];
        const std::int32_t there = view_.schedulers[at]->running() + view_.expected[at];
        const std::int64_t held = memory.used() * memory.tokensPerBlock();
        const std::int64_t all = held + view_.requests->prompt[r];
        contexts_.assign(static_cast<std::size_t>(there) + 1, static_cast<std::int32_t>(all / (there + 1)));
        IterationWork work;
        work.decodes = contexts_;
        work.decodeContext = all;
        work.tokens = work.sampled = there + 1;
        return secondsOf(view_.fleet->replicas[at], work);
    }

    bool caches_, split_ = false;
    PrefixDirectory directory_;
    std::vector<double> queueRate_;  ///< seconds per queued prompt token; −1: not asked yet
    std::vector<std::int32_t> hits_, contexts_;
    double predicted_ = 0;
};

}  // namespace

RouterCard predictedLatency() {
    return {"predicted-latency", "Least predicted latency",
            "To the replica that would answer first by its own iteration times. With an SLO, refuses at once "
            "what would miss them.",
            "early rejection as in Qin et al. (Mooncake), FAST 2025",
            [](const RouterSpec&, const FleetView& view) -> std::unique_ptr<Router> {
                return std::make_unique<PredictedLatency>(view, false);
            }};
}

RouterCard mooncakeConductor() {
    return {
        "mooncake", "Mooncake (prefix and load)",
        "As least predicted latency, with what each prefill replica's cache should hold taken off its prompt: a long "
        "cached beginning is weighed against a long queue in seconds.",
        "Qin et al. (Mooncake), FAST 2025, algorithm 1 without cache migration",
        [](const RouterSpec&, const FleetView& view) -> std::unique_ptr<Router> {
            return std::make_unique<PredictedLatency>(view, true);
        }};
}

}  // namespace orrery
