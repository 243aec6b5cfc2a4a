#pragma once

// What a search weighs of a serving run beyond the figures of its answer. For sources of this folder only.

#include "study/exploration/quantity.h"

namespace orrery {

/// Devices of all replicas; 0 where the task is no serving run.
double servingDevices(const Scenario& scenario);
/// Requests a second at which the share of requests that the run's `capacity` asks for still keeps every promise, with
/// the interval of its iteration times: some dozens of runs. Nothing where the run promises nothing, or its arrivals
/// have no rate. `method`: as the answer names it.
std::optional<Ranged> servingCapacity(const Scenario& scenario, std::string_view method,
                                      const Circumstances& circumstances);

}  // namespace orrery
