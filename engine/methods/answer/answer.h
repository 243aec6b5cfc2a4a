#pragma once

// What the analytic methods have in common before and after their inner loop: the device's view and rates, and from
// priced operators to a whole estimate.

#include "methods/answer/compute_rates.h"
#include "methods/answer/stated_errors.h"
#include "methods/estimate.h"
#include "methods/method.h"
#include "methods/model/fused_costs.h"

#include <string_view>
#include <vector>

namespace orrery {

struct Ground {
    DeviceView device;
    ComputeRates rates;
    Platform platform = Platform::Other;
    std::vector<std::string> assumptions;  ///< of the view, the rates and the fusion
    HardwarePtr design;
    PartsRead read;             ///< of the design; a method that asks for more views adds theirs
    LoweringPtr lowering;       ///< the kernels of the graph; null: its operators one by one
    std::vector<double> least;  ///< s per operator that no answer may beat, all repeats; empty: not known

    /// The columns to price.
    const CostTable& costs(const Workload& workload) const {
        return lowering && !lowering->leader.empty() ? lowering->costs : workload.costs;
    }
};

/// The first device of the scenario's hardware. Fails naming the attribute that is missing, among them a main memory
/// without bandwidth, and for workloads without operators.
Expected<Ground> prepare(const Scenario& scenario);
/// The same with the kernels that the graph is run as, by the context's option `fusion` (see fusionOption()).
Expected<Ground> prepare(const Scenario& scenario, const EstimateContext& context);
/// The option `fusion` of methods that price columns.
MethodOption fusionOption();

/// Weights, KV cache and activations against the device's capacity, with a warning where they do not fit.
void addMemory(Estimate& answer, const Workload& workload, const DeviceView& device);

/// What holds for every answer, whoever gave it: an interval with width (a factor of two either way where it has none),
/// no narrower than ±10 % where most of the time is outside everything measured (its low end stays above a bound), and
/// a word about one that is wider than widestUnsaid.
void finishInterval(Estimate& answer);

/// An interval wider than this says why (`interval.wide`): `reason` goes on with "the interval spans a factor of 31:
/// …".
inline constexpr double widestUnsaid = 20;
void addWidth(Estimate& answer, const std::string& reason);

/// Warns where more devices are drawn than work (`plan.one-device`).
void addCopies(Estimate& answer, const DeviceView& device);

void resizeColumns(OperatorEstimates& operators, std::size_t rows);

/// Fills from the priced operators: latency (their sum, each operator at least at the ground's least), bound, interval
/// and support (stated errors of `method`; a factor of two either way where it has none), energy, memory use, ceilings
/// of the levels in `answer.levels`, timeline, parts used; appends assumptions and warnings of the ground and workload.
void finishAnswer(Estimate& answer, const Workload& workload, const Ground& ground, std::string_view method,
                  IntervalKind kind, bool wantTimeline);

}  // namespace orrery
