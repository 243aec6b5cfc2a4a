#pragma once

// `orrery-cli train --trace FILE`: one trace on every rank of a network that options state.

#include "app/cli/command.h"
#include "methods/system/cases/astra_case.h"
#include "workload/traces/execution_trace.h"

#include <array>
#include <string>

namespace orrery::cli {

struct TraceCase {
    AstraCase run;     ///< named, with Orrery's own semantics
    std::string form;  ///< `Chakra trace`
    TraceTotals totals;
    double hostMicroseconds = 0;
    std::size_t devices = 1;
    /// By collective, in the order of TraceCollective.
    std::array<std::size_t, 9> collectives{};
    std::array<double, 9> bytes{};
};

/// How busy links carry messages, by `--links`. Fails with `usage.value`.
Expected<LinkCarrying> linksOption(const Arguments& arguments);
/// Fails with `usage.value` for options, else as readTrace() and jobOfTrace() do.
Expected<TraceCase> readTraceCase(const Arguments& arguments, bool congestion);
/// Ranks of which one stood for others, each on its own again.
void unfold(const TraceCase& given, ClusterOutcome& outcome);
std::string totalsText(const TraceCase& given);

}  // namespace orrery::cli
