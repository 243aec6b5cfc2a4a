#pragma once

// What simple policies share: one rule chooses among the replicas that accept, for prompts and for decodes alike.

#include "serving/routers/router.h"

namespace orrery {

class RouterBase : public Router {
public:
    explicit RouterBase(const FleetView& view) : view_(view) {}
    Route place(RequestIndex r, SimTime now) override {
        gather(r, false);
        return {candidates_.empty() ? -1 : choose(r, false, now), -1, RejectReason::None};
    }
    std::int32_t decodeOn(RequestIndex r, std::int32_t, SimTime now) override {
        gather(r, true);
        return candidates_.empty() ? -1 : choose(r, true, now);
    }

protected:
    /// One of `candidates_`, which is not empty.
    virtual std::int32_t choose(RequestIndex r, bool decode, SimTime now) = 0;
    /// Requests that wait or run there, or are on their way.
    std::int32_t outstanding(std::int32_t replica) const {
        const auto i = static_cast<std::size_t>(replica);
        const Scheduler& scheduler = *view_.schedulers[i];
        return scheduler.waiting() + scheduler.running() + view_.expected[i];
    }

    const FleetView& view_;
    std::vector<std::int32_t> candidates_;

private:
    void gather(RequestIndex r, bool decode) {
        candidates_.clear();
        for (std::size_t i = 0; i < view_.size(); ++i) {
            const ReplicaSpec& replica = view_.fleet->replicas[i];
            const bool decodes = replica.role == ReplicaRole::Decode;
            if (view_.accepts[i] && decodes == decode && serves(replica, *view_.requests->stream, r))
                candidates_.push_back(static_cast<std::int32_t>(i));
        }
    }
};

}  // namespace orrery
