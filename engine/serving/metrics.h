#pragma once

// Figures of a serving run, one definition each. docs: resources/handbook/serving-metrics.md gives the names that other
// tools use for them and where they differ.

#include "serving/serving_simulation.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// Of values that exist (finite); quantiles interpolate linearly between order statistics (as numpy does).
struct Spread {
    std::size_t count = 0;
    double mean = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
    bool operator==(const Spread&) const = default;
};
Spread spread(std::vector<double> values);
/// The same of gaps that were counted into bins. `mean` is exact; a quantile lies in the bin of the true one, so it is
/// off by at most the width of a bin (200 per decade: 1.2 %); `max` is the upper end of the last bin that has any.
Spread spreadOfGaps(const ServingResult& result);

/// Figures of the questions of one tenant, or of the requests of one stage of a pipeline; as in ServingMetrics.
struct GroupMetrics {
    std::string name;
    std::size_t requests = 0, done = 0, rejected = 0;
    Spread ttft, tpot, endToEnd, queueing;  ///< s
    double outputTokensPerSecond = 0;       ///< over the makespan of the whole run
    double attainment = 0;                  ///< share of them that keep every promise; of a stage: not said, 0
    bool operator==(const GroupMetrics&) const = default;
};

/// Where a question is a request in several stages, a request below is the whole question: first token of the last
/// stage, end of the last stage, queueing of all stages, tokens of the last. It is done when every stage is.
///
/// Times are of requests that are done; those that were rejected or did not end are counted apart and keep no promise.
struct ServingMetrics {
    std::size_t requests = 0, done = 0, rejected = 0, unfinished = 0;
    Spread ttft;      ///< s, arrival to first token
    Spread tpot;      ///< s, (end − first token) ÷ (output − 1), requests of two tokens and more
    Spread itl;       ///< s, gaps between neighbouring tokens of one request, all requests together (from a histogram)
    Spread endToEnd;  ///< s, arrival to last token
    Spread queueing;  ///< s, arrival to first iteration
    Spread normalised;                 ///< s per output token, end to end ÷ output
    double makespan = 0;               ///< s, first arrival to last end
    double requestsPerSecond = 0;      ///< done ÷ makespan
    double outputTokensPerSecond = 0;  ///< tokens of done requests ÷ makespan
    double tokensPerSecond = 0;        ///< prompts included
    double goodput = 0;                ///< requests per second that keep every promise, over the makespan
    double attainment = 0;             ///< share of all requests that keep every promise
    double kvUse = 0;                  ///< share of all replicas' blocks in use, mean over the makespan
    double peakKvUse = 0;              ///< of the fullest replica
    std::uint64_t preemptions = 0;     ///< times that a running sequence lost its place, restarts among them
    std::uint64_t restarts = 0;        ///< those that had to compute their KV cache again
    std::uint64_t iterations = 0;
    double joules = 0, joulesPerToken = 0;  ///< per output token; 0: not known
    /// Model FLOPs (recomputed tokens left out), and bytes of weights and KV cache that must be read, ÷ what the
    /// devices could do in the makespan. 0: not known.
    double mfu = 0, mbu = 0;
    double prefixHitRate = 0;            ///< share of prompt tokens found in a cache, of requests that were scheduled
    double dollarsPerMillionTokens = 0;  ///< of output, every replica while it is there; 0: no price given
    /// Requests that stood still between two of their iterations, preempted ones among them (VIDUR: `preempted`); how
    /// often, all together, and for how long.
    std::int64_t stalled = 0;
    std::uint64_t stalls = 0;
    double stallSeconds = 0;
    std::uint64_t adapterLoads = 0;     ///< of LoRA adapters that were not in a replica's memory
    double adapterLoadSeconds = 0;      ///< that iterations waited for them
    double adapterHitRate = 0;          ///< share of (iteration, adapter) that found it there; 0: nobody asks for any
    std::vector<GroupMetrics> tenants;  ///< where they are named
    std::vector<GroupMetrics> stages;   ///< where there are several: their requests, each from its own arrival on
    bool operator==(const ServingMetrics&) const = default;
};
ServingMetrics measure(const ServingResult& result, const FleetSpec& fleet);
/// Whether a request that is done keeps the promises that are made.
bool keeps(const RequestTable& requests, RequestIndex r, const ServiceLevel& promise);

/// What happened over time: bin i is [i, i + 1) · `step` seconds from the first arrival on.
struct ServingSeries {
    double step = 0;
    std::vector<double> arrivals, ends, rejections;  ///< requests per bin
    std::vector<double> inSystem;                    ///< requests that have arrived and not ended, mean over the bin
    /// Of the batch log; empty without one.
    std::vector<double> promptTokens, decodeTokens;  ///< per bin, counted at the end of the iteration
    std::vector<double> kvUse;                       ///< share of all blocks, mean over the iterations of the bin
    std::size_t size() const { return arrivals.size(); }
};
/// At most `bins` of them, of equal width.
ServingSeries seriesOf(const ServingResult& result, const FleetSpec& fleet, std::size_t bins = 200);

}  // namespace orrery
