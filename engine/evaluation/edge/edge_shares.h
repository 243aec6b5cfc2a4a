#pragma once

// Networks by name for a graph network. Their latencies span three orders, and a device's samples are few: each network
// is told as a share of what it usually takes, so that a device is its level and how it departs along what operators
// ask. Usual is what known devices take beside their levels; of a network that none has, a ridge over the totals of its
// operators says it.

#include "evaluation/edge/edge_table.h"
#include "learning/edge/graph_features.h"

#include <span>
#include <string>
#include <vector>

namespace orrery {

struct EdgeShares {
    EdgeTable table;            ///< the networks that have a graph, their values as shares of `usual`
    NetworkGraphs graphs;       ///< of these, their amounts as shares likewise
    std::vector<double> usual;  ///< of these, in the table's unit beside a device of usual level
    std::vector<double> reach;  ///< in logarithms: half the 90 % interval of `usual`, where no device says it; else 0
    Predicted inUnits(std::size_t network, const Predicted& share) const;  ///< of the table
};

/// `devices`: targets of `known` that may be known. Networks that both tables have are the same. Fails with
/// `edge.no-graph` where no network has a topology (`topologies.h`), or fewer than six that a device has.
Expected<EdgeShares> edgeShares(const EdgeTable& table, const EdgeTable& known, std::span<const std::string> devices);

}  // namespace orrery
