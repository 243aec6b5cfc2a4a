#pragma once

// One replica: its scheduler, its KV blocks, the stages of its pipeline, the iterations that are under way.
//
// Stages serve batches first in, first out, so that all times of a batch are known when it is made: stage s of a batch
// begins when stage s − 1 has handed it over and the batch before it has left stage s. At most as many batches as
// stages are under way. Ticks are picoseconds; what a time has beyond a whole tick is carried from iteration to
// iteration, so that rounding does not add up.

#include "base/random.h"
#include "serving/fleet/adapter_gate.h"
#include "serving/fleet/fleet.h"
#include "serving/serving_simulation.h"

#include <memory>
#include <vector>

namespace orrery {

/// A time and the part of a tick beyond it, 0 … 1.
struct FineTime {
    SimTime ticks = 0;
    double part = 0;
    friend bool operator<(const FineTime& a, const FineTime& b) {
        return a.ticks != b.ticks ? a.ticks < b.ticks : a.part < b.part;
    }
};
FineTime after(const FineTime& time, double seconds);

/// One batch under way.
struct Iteration {
    Batch batch;
    FineTime begin, end;
    IterationPrice price;
    std::int32_t promptTokens = 0, decodeTokens = 0, decodes = 0;
    std::int32_t adapters = 0, adapterTokens = 0;
};

class Replica {
public:
    Replica(const ReplicaSpec& spec, std::int32_t index, RequestTable& requests, ReplicaTotals& totals,
            std::uint64_t seed);

    /// Asks the scheduler for one more iteration and dispatches it; null: the pipeline is full or nothing can run.
    /// `dropped` gets what was preempted or rejected either way.
    const Iteration* dispatch(SimTime now, const std::vector<RequestIndex>*& dropped);
    /// The oldest iteration, which ends now. Its tokens are not counted yet.
    Iteration& oldest() { return ring_[first_]; }
    /// Forgets the oldest iteration; the scheduler has been told.
    void retire(SimTime now);
    /// It fails: what its iterations would have computed from now on takes no time and no energy.
    void interrupt(SimTime now);
    /// Tokens that one verification of `planned` drafts yields.
    std::int32_t committed(std::int32_t planned);
    /// Adds what has passed since the last call to the integral of used blocks.
    void account(SimTime now);

    /// Of a rank in a wave, whose iterations are dispatched without a time: seconds of the newest one at `tokens`
    /// tokens, padded if it has fewer.
    double priceNewest(std::int32_t tokens);
    /// Gives it its time, `wait` seconds longer than its own.
    const Iteration& startNewest(SimTime now, double wait);
    bool inWave() const { return spec_.wave >= 0; }

    const ReplicaSpec& spec() const { return spec_; }
    Scheduler& scheduler() { return *scheduler_; }
    const Scheduler& scheduler() const { return *scheduler_; }
    KvBlocks& memory() { return kv_; }
    const KvBlocks& memory() const { return kv_; }
    std::size_t underWay() const { return count_; }
    const Iteration& newest() const { return ring_[newest_]; }
    ReplicaTotals& totals() { return totals_; }

    bool up = true, draining = false;
    std::uint32_t epoch = 0;  ///< grows when it fails: ends of iterations of an earlier epoch are void

private:
    void describe(Iteration& iteration, SimTime now);
    void stoodStill(RequestIndex r, SimTime since, SimTime now);
    void price(Iteration& iteration, std::int32_t tokens);
    double wattsOf(const Iteration& iteration) const;
    void time(Iteration& iteration, SimTime now);

    const ReplicaSpec spec_;
    std::int32_t index_;
    RequestTable& requests_;
    ReplicaTotals& totals_;
    IterationTimePtr time_;  ///< with drafts
    KvBlocks kv_;
    std::unique_ptr<Scheduler> scheduler_;
    AdapterGate* gate_ = nullptr;  ///< the scheduler, where requests ask for LoRA adapters
    std::vector<Iteration> ring_;
    std::size_t first_ = 0, count_ = 0, newest_ = 0;
    std::vector<FineTime> stageFree_;
    FineTime lastEnd_;  ///< of the iteration retired last
    SimTime busyUntil_ = 0, accounted_ = 0;
    RandomStream random_;
    std::uint64_t steps_ = 0;
    std::vector<PromptChunk> prompts_;
    std::vector<std::int32_t> contexts_;
    std::int64_t contextSum_ = 0;

public:
    double lowSeconds = 0, highSeconds = 0, pricedSeconds = 0;  ///< for the interval of the whole run
    std::uint64_t outside = 0;
};

}  // namespace orrery
