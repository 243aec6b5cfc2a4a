#pragma once

// One rank's trace for all ranks: a recording of one device, or a table of layers, becomes a job. What one trace cannot
// say of the others is left out with a warning, so that every run ends.

#include "simulation/cluster/cluster_run.h"

namespace orrery {

struct TraceJob {
    ClusterJob job;
    FabricSettings network;  ///< as given; of a single rank, which needs none, any
    Diagnostics warnings;
};

/// Communicators repeat over the ranks as the trace's lie: in blocks or at distances. Those of unknown or uneven
/// members become all ranks; messages to single ranks and, without a memory for them, loads and stores take no time. A
/// network without dimensions is one rank. Ranks that see the same network are run once unless `fold` is off: one for
/// all, or, where everything repeats after so many ranks, one of each. Fails with `cluster.ranks` (too many for their
/// nodes), `cluster.group` (groups that do not divide the ranks).
Expected<TraceJob> jobOfTrace(ExecutionTrace trace, const ClusterSettings& settings, bool fold = true);

}  // namespace orrery
