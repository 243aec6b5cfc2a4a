#pragma once

// How sure the figures of a whole run are. Iteration times carry 90 % intervals; here the run is made again with every
// iteration at the low and at the high end of its own, and a figure's interval spans the three answers.
//
// That is the correlated limit: one cause (a kernel method that is off for a device, a clock, a driver) makes all
// iterations too long or too short together, as calibration errors do. Were errors of N iterations independent, sums of
// them would be surer by √N; the truth lies between, so that these intervals are wide rather than narrow. What waits in
// queues is amplified: near saturation a few per cent of iteration time are a multiple of the time to first token.
// Coverage is measured where the truth is known: tst_splitwise_medians, tst_mlperf_llama, tst_serving_interval.
//
// Not in them: other requests than those that were drawn, other lengths, capacity of the KV cache, policies.

#include "serving/metrics.h"

#include <cstdint>
#include <memory>
#include <string>

namespace orrery {

enum class PriceEnd : std::uint8_t { Low, High };
/// Prices as `time` does, but every duration (host included) at one end of its 90 % interval; the interval of what
/// comes out is closed (low = high = 1). Power stays as it is, so that energy goes with time.
IterationTimePtr atEnd(IterationTimePtr time, PriceEnd end);
/// Every replica's time and drafts at that end; replicas that shared a time share one again.
FleetSpec atEnd(const FleetSpec& fleet, PriceEnd end);

struct FigureInterval {
    double low = 0, high = 0;
    bool operator==(const FigureInterval&) const = default;
};
struct SpreadInterval {
    FigureInterval mean, p50, p90, p95, p99, max;
    bool operator==(const SpreadInterval&) const = default;
};
/// Members as ServingMetrics has them, in the same units; low ≤ figure ≤ high.
struct ServingIntervals {
    bool known =
        false;  ///< false: iteration times state no interval (tables, laws), all below are the figures themselves
    std::string basis;  ///< one sentence
    SpreadInterval ttft, tpot, itl, endToEnd, queueing, normalised;
    FigureInterval makespan, requestsPerSecond, outputTokensPerSecond, tokensPerSecond, goodput, attainment;
    FigureInterval kvUse, mfu, mbu, joules, joulesPerToken, dollarsPerMillionTokens;
    bool operator==(const ServingIntervals&) const = default;
};

/// Of a run that was made on `fleet` with `options`, whose figures are `metrics`. Costs two more runs without logs
/// (none where iteration times state no interval); `options.progress` is not touched. Fails with `study.cancelled`, and
/// as simulate() does.
Expected<ServingIntervals> intervalsOf(const ServingResult& run, const ServingMetrics& metrics, const FleetSpec& fleet,
                                       const ServingOptions& options = {});

}  // namespace orrery
