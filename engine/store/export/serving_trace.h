#pragma once

// Serving runs as Chrome/Perfetto trace events.

#include "serving/serving_simulation.h"

#include <span>
#include <string>

namespace orrery {

/// A run that kept its batches (ServingOptions::batches), and what it is called. Both must outlive the call.
struct TracedRun {
    const ServingResult& result;
    const FleetSpec& fleet;
    std::string name;
};

/// Per run a process of all requests, each an asynchronous span from arrival to end with `queued`, `prefill` and
/// `decode` inside; and a process per pool with a thread per replica, whose spans are iterations (`prefill`, `decode`,
/// `mixed`) with tokens, sequences, waiting requests and KV blocks, beside a counter of the KV blocks in use. Processes
/// of several runs have the run's name in front. Times in microseconds, exact to the picosecond.
std::string servingTrace(std::span<const TracedRun> runs);

}  // namespace orrery
