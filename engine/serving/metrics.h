#pragma once

// Figures of a serving run, one definition each. docs: resources/handbook/serving-metrics.md gives the names that other
// tools use for them and where they differ.

#include "serving/serving_simulation.h"

#include <string>
#include <vector>

namespace orrery {

/// Of values that exist; quantiles interpolate linearly between order statistics (as numpy does).
struct Spread {
    std::size_t count = 0;
    double mean = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
};
Spread spread(std::vector<double> values);

struct ServingMetrics {
    std::size_t requests = 0, done = 0, rejected = 0, unfinished = 0;
    Spread ttft;      ///< s, arrival to first token
    Spread tpot;      ///< s, (end − first token) ÷ (output − 1), requests of two tokens and more
    Spread itl;       ///< s, gaps between neighbouring tokens of one request, all requests together (from a histogram)
    Spread endToEnd;  ///< s, arrival to last token
    Spread queueing;  ///< s, arrival to first iteration
    Spread normalised;    ///< s per output token, end to end ÷ output
    double makespan = 0;  ///< s, first arrival to last end
    double requestsPerSecond = 0, outputTokensPerSecond = 0, tokensPerSecond = 0;
    double goodput = 0;     ///< requests per second that keep every promise
    double attainment = 0;  ///< share of requests that keep every promise
    double kvUse = 0;       ///< mean share of blocks in use while busy
    double peakKvUse = 0;
    std::uint64_t preemptions = 0, restarts = 0, iterations = 0;
    double joules = 0, joulesPerToken = 0;  ///< 0: not known
    double mfu = 0, mbu = 0;                ///< 0: not known
    double prefixHitRate = 0;               ///< share of prompt tokens found in a cache
    double dollarsPerMillionTokens = 0;     ///< 0: no price given
};
ServingMetrics measure(const ServingResult& result, const FleetSpec& fleet);

}  // namespace orrery
