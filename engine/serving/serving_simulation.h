#pragma once

// A fleet and a stream of requests, simulated event by event. Can be run to its end, or looked at while it runs: the
// studio advances it a little at a time and draws what it finds.
//
// At one instant, arrivals come first, then ends of iterations and transfers; when all of that instant are done, every
// replica that they touched is scheduled, in the order in which it was touched. Same inputs and seed: the same result.

#include "base/progress.h"
#include "serving/fleet/fleet.h"
#include "serving/request_table.h"

#include <memory>
#include <stop_token>
#include <vector>

namespace orrery {

/// One row per iteration, kept if asked for.
struct BatchLog {
    std::vector<std::int32_t> replica;
    std::vector<SimTime> begin, end;
    std::vector<std::int32_t> sequences, promptTokens, decodeTokens;
    std::vector<std::int64_t> usedBlocks;  ///< after it was made
    std::vector<std::int32_t> waiting, preempted;
    /// Members: requests and tokens of batch i are [memberBegin[i], memberBegin[i+1]); empty unless asked for.
    std::vector<std::uint64_t> memberBegin;
    std::vector<RequestIndex> member;
    std::vector<std::int32_t> memberTokens;
    std::size_t size() const { return replica.size(); }
};
/// Things that happen to requests beside iterations, in order of time; kept if asked for.
struct ServingEvent {
    enum class Kind : std::uint8_t {
        Arrive,
        Route,
        Preempt,
        Swap,
        Reject,
        TransferBegin,
        TransferEnd,
        FirstToken,
        End,
        Fail,
        Recover,
        ScaleUp,
        ScaleDown
    };
    SimTime at = 0;
    Kind kind = Kind::Arrive;
    RequestIndex request = no_request;
    std::int32_t replica = -1;
};

struct ReplicaTotals {
    SimTime busy = 0;  ///< some stage was computing
    SimTime off = 0;   ///< it was not there: failed, or scaled away; draws and costs nothing (spinning up, it does)
    std::uint64_t iterations = 0;
    /// Tokens computed; `recomputedTokens` are those of promptTokens that a preemption had thrown away.
    std::uint64_t promptTokens = 0, decodeTokens = 0, recomputedTokens = 0, cachedTokens = 0;
    std::uint64_t contextTokens = 0;  ///< tokens of KV read: context + own, summed over sequences and iterations
    double pairs = 0;                 ///< queries × keys of attention: tokens × (context + (tokens + 1) / 2)
    std::int64_t peakBlocks = 0;
    double blockSeconds = 0;  ///< integral of used blocks over time
    double joules = 0;        ///< idle power while it is there and computes nothing
    std::uint64_t drafted = 0, accepted = 0;
    std::uint64_t stalls = 0;  ///< times that a request came back to an iteration after it had stood still …
    SimTime stalled = 0;       ///< … and for how long, all of them together
    /// (iteration, LoRA adapter) pairs; those whose weights had to come from the host; seconds waited for them.
    std::uint64_t adapterUses = 0, adapterLoads = 0;
    double adapterSeconds = 0;
};

struct ServingOptions {
    std::uint64_t seed = 42;
    bool batches = false, members = false, events = false;
    /// Gaps between tokens of one request are counted into a histogram of this many bins per decade (0: not at all).
    int gapBins = 200;
    std::stop_token stop;
    Progress* progress = nullptr;  ///< counts requests that have ended
};

struct ServingResult {
    RequestTable requests;
    std::shared_ptr<const RequestStream> stream;  ///< keeps alive what `requests` refers to
    std::vector<ReplicaTotals> replicas;
    BatchLog batches;
    std::vector<ServingEvent> events;
    SimTime end = 0;                          ///< last event
    std::vector<std::uint64_t> gapHistogram;  ///< counts; bin b holds 10^(−6 + b / gapBins) s and up
    int gapBins = 0;
    double gapSum = 0;
    std::uint64_t gaps = 0;
    double low = 1, high = 1;         ///< 90 % interval of iteration times, fully correlated, as factors
    std::uint64_t outsideDomain = 0;  ///< iterations that their slot could not vouch for
    bool cancelled = false;           ///< what had ended by then is valid
    Diagnostics warnings;
};

class ServingSimulation {
public:
    /// Checks both; keeps references to neither spec nor stream beyond what the caller shares.
    static Expected<std::unique_ptr<ServingSimulation>> make(std::shared_ptr<const FleetSpec> fleet,
                                                             std::shared_ptr<const RequestStream> requests,
                                                             const ServingOptions& options);
    ~ServingSimulation();
    /// Runs all events up to and including `until`; false once nothing is left to happen.
    bool advance(SimTime until);
    /// Runs one instant; false once nothing is left.
    bool step();
    SimTime now() const;

    struct ReplicaNow {
        std::int32_t waiting = 0, running = 0;
        std::int64_t usedBlocks = 0, totalBlocks = 0;
        bool busy = false, up = true;
        SimTime batchBegin = 0, batchEnd = 0;  ///< of the newest iteration
        const Batch* batch = nullptr;          ///< it
    };
    std::size_t replicaCount() const;
    ReplicaNow replica(std::size_t index) const;
    const RequestTable& requests() const;
    const ServingResult& soFar() const;
    ServingResult take();

private:
    struct Parts;
    explicit ServingSimulation(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

/// To the end.
Expected<ServingResult> simulate(std::shared_ptr<const FleetSpec> fleet, std::shared_ptr<const RequestStream> requests,
                                 const ServingOptions& options = {});

}  // namespace orrery
