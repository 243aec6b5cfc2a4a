#pragma once

// Reuse distances of the launches of a pass, from the tensors of its graph.

#include "methods/model/launches.h"
#include "methods/reuse_distance.h"

#include <vector>

namespace orrery {

/// Of each launch of a forward pass. A launch touches the activations that its operators exchange with others,
/// each once, and its weights and caches of keys. Activations take turns in memory: a pass touches the weights, the
/// caches and as much memory as its activations take up where they are most. About linear in the graph: no walk goes
/// further back than a pass.
std::vector<ReuseDistances> reuseDistances(const Workload& workload, const LaunchList& list);

}  // namespace orrery
