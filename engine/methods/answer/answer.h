#pragma once

// What the analytic methods have in common before and after their inner loop: the device's view and rates, and from
// priced operators to a whole estimate.

#include "methods/answer/compute_rates.h"
#include "methods/answer/stated_errors.h"
#include "methods/estimate.h"
#include "methods/method.h"

#include <string_view>

namespace orrery {

struct Ground {
    DeviceView device;
    ComputeRates rates;
    Platform platform = Platform::Other;
    std::vector<std::string> assumptions;  ///< of the view and of the rates
    HardwarePtr design;
    PartsRead read;  ///< of the design; a method that asks for more views adds theirs
};

/// The first device of the scenario's hardware. Fails naming the attribute that is missing, among them a main memory
/// without bandwidth, and for workloads without operators.
Expected<Ground> prepare(const Scenario& scenario);

/// Weights, KV cache and activations against the device's capacity, with a warning where they do not fit.
void addMemory(Estimate& answer, const Workload& workload, const DeviceView& device);

/// Warns where more devices are drawn than work (`plan.one-device`).
void addCopies(Estimate& answer, const DeviceView& device);

void resizeColumns(OperatorEstimates& operators, std::size_t rows);

/// Fills from the priced operators: latency (their sum), interval (stated errors of `method`), energy, memory use,
/// ceilings of the levels in `answer.levels`, timeline, parts used; appends assumptions and warnings of the ground and
/// workload.
void finishAnswer(Estimate& answer, const Workload& workload, const Ground& ground, std::string_view method,
                  IntervalKind kind, bool wantTimeline);

}  // namespace orrery
