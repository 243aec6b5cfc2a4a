#pragma once

// A folder of ASTRA-sim 2: system.json, network.yml, memory.json, and Chakra traces `et/NAME.RANK.et` with their
// communicators in `et/NAME.json`.

#include "simulation/cluster/cluster_run.h"

#include <string>

namespace orrery {

struct AstraCase {
    std::string name;  ///< of the traces
    ClusterSettings settings;
    ClusterJob job;
    Diagnostics warnings;
};

/// ASTRA-sim's own semantics, faults included, unless `ownSemantics` (simulation/cluster/README.md lists the
/// differences). Fails with `astra.unreadable`, `astra.missing`, `astra.value`, and as the readers of traces, JSON and
/// YAML do. Traces of equal content are kept once.
Expected<AstraCase> readAstraCase(const std::string& folder, bool congestion, bool ownSemantics = false);

}  // namespace orrery
