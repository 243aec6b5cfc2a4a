#pragma once

// A run that stops where it is told to: to be looked at, and gone on with. What follows does not depend on where it was
// stopped. A run is a function of its inputs, so going back is running again up to an earlier tick.

#include "simulation/cluster/cluster_run.h"

#include <memory>

namespace orrery {

class ClusterStepper {
public:
    /// Every rank is run. Fails as runCluster() does before anything happens.
    static Expected<ClusterStepper> make(ClusterJob job, ClusterSettings settings, bool keepSpans = false);
    ClusterStepper(ClusterStepper&&) noexcept;
    ClusterStepper& operator=(ClusterStepper&&) noexcept;
    ~ClusterStepper();

    /// Everything that happens up to this tick. Fails as runCluster().
    Expected<void> advance(SimTime until, const std::stop_token& stop = {});
    bool ended() const;    ///< nothing is left to happen
    SimTime next() const;  ///< when something happens next; MessageFabric::furthest at the end

    /// Spans that have ended, where they are kept, and sums of every rank so far.
    const std::vector<RankSpan>& spans() const;
    const std::vector<RankResult>& ranks() const;
    /// What links have taken so far, as MessageFabric::use(); empty without congestion.
    const std::vector<MessageFabric::LinkUse>& links() const;
    /// Links that carry something at this tick, rising; of those that store and forward.
    std::vector<std::size_t> busyLinks(SimTime at) const;

    /// After the end; once. Fails with `cluster.deadlock` where ranks still wait.
    Expected<ClusterOutcome> outcome();

private:
    struct State;
    explicit ClusterStepper(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace orrery
