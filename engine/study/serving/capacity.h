#pragma once

// The highest load under the promises: the rate of arrivals at which a given share of requests still keeps every one of
// them (goodput as in DistServe, OSDI 2024, and in Vidur's capacity search, MLSys 2024, which asks for a delay
// instead).

#include "base/progress.h"
#include "serving/metrics.h"
#include "serving/result_interval.h"
#include "serving/serving_study.h"

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

namespace orrery {

/// Requests per second with which the traffic arrives (with conversations: conversations), its scale `edit.rate`
/// included; of a trace the gaps ÷ the time from first to last arrival. Fails with `capacity.no-rate` where arrivals
/// have none (a closed loop, everything at once, a trace of one moment); with what makeTraffic() says of a trace.
Expected<double> arrivalRate(const TrafficSpec& traffic, std::uint64_t seed);
/// The same traffic at `rate` where it has `own` of itself (arrivalRate()): arrivals of a trace are stretched.
TrafficSpec atRate(TrafficSpec traffic, double own, double rate);

struct CapacityProbe {
    double rate = 0;  ///< requests per second
    double attainment = 0;
    bool keeps = false;
};
struct CapacityResult {
    double rate = 0;         ///< highest that was seen to keep them; 0: none does, down to a millionth of the guess
    double above = 0;        ///< lowest that was seen to break them; 0: none does, up to `highest`
    ServingMetrics metrics;  ///< at `rate`
    std::vector<CapacityProbe> probes;  ///< in the order tried
};
struct CapacityOptions {
    std::uint64_t seed = 42;
    const ServingScenario* scenario = nullptr;  ///< whose tenants and stages the requests have; null: none
    std::stop_token stop;
    Progress* progress = nullptr;                       ///< one step per probe; the total is not known before
    std::function<void(const CapacityProbe&)> onProbe;  ///< as each comes
};
/// Warm start at `spec.guess`: doubles or halves until the rate is bracketed, then bisects (in the logarithm) until the
/// bracket is narrower than `spec.tolerance`. Arrivals of a trace are stretched. Fails with `capacity.*`: no promise, a
/// closed loop or everything at once (which have no rate), numbers that make no sense; with what makeTraffic() and
/// simulate() say; with `study.cancelled`.
Expected<CapacityResult> capacityOf(const std::shared_ptr<const FleetSpec>& fleet, const TrafficSpec& traffic,
                                    const CapacitySpec& spec, const CapacityOptions& options = {});

/// The capacities with every iteration at the low and at the high end of its 90 % interval (result_interval.h: errors
/// that go together), `rate` between them; low = high where iteration times state no interval. Costs two more searches.
Expected<FigureInterval> capacityInterval(const FleetSpec& fleet, const TrafficSpec& traffic, const CapacitySpec& spec,
                                          double rate, CapacityOptions options = {});

}  // namespace orrery
