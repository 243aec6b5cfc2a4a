#pragma once

// A run that stops where it is told to: to be looked at, and gone on with, forward and back. What follows does not
// depend on where it was stopped. On its way the run keeps its state every so many events; going back is taking the
// last one before and running on from there.

#include "simulation/cluster/cluster_run.h"

#include <memory>

namespace orrery {

class ClusterStepper {
public:
    /// Every rank is run. Fails as runCluster() does before anything happens, and with `cluster.step` where ns-3
    /// follows. `interval`: events between two kept states at first. At most `most_kept` are held: when there are more,
    /// every second one goes, and the interval doubles.
    static Expected<ClusterStepper> make(ClusterJob job, ClusterSettings settings, bool keepSpans = false,
                                         std::uint64_t interval = 4096);
    static constexpr std::size_t most_kept = 32;
    ClusterStepper(ClusterStepper&&) noexcept;
    ClusterStepper& operator=(ClusterStepper&&) noexcept;
    ~ClusterStepper();

    /// Everything that happens up to this tick. Fails as runCluster().
    Expected<void> advance(SimTime until, const std::stop_token& stop = {});
    /// The state after so many events of the run, or its end: forward, or back by at most `interval()` events run
    /// again.
    Expected<void> goToEvent(std::uint64_t event, const std::stop_token& stop = {});
    /// The state after all that happens up to this tick, forward or back.
    Expected<void> goTo(SimTime until, const std::stop_token& stop = {});
    std::uint64_t event() const;     ///< events that have happened
    std::uint64_t interval() const;  ///< of kept states, now
    SimTime now() const;             ///< when the last one happened
    bool ended() const;              ///< nothing is left to happen
    SimTime next() const;            ///< when something happens next; MessageFabric::furthest at the end

    /// Spans that have ended, where they are kept, and sums of every rank so far.
    const std::vector<RankSpan>& spans() const;
    const std::vector<RankResult>& ranks() const;
    /// What links have taken so far, as MessageFabric::use(); empty without congestion.
    const std::vector<MessageFabric::LinkUse>& links() const;
    /// Links that carry something at this tick, rising; of those that store and forward.
    std::vector<std::size_t> busyLinks(SimTime at) const;

    /// After the end; once, and nothing but that is asked afterwards. Fails with `cluster.deadlock` where ranks still
    /// wait.
    Expected<ClusterOutcome> outcome();

private:
    struct State;
    explicit ClusterStepper(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace orrery
