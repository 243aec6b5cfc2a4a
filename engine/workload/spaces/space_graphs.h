#pragma once

// From a code to its graph, one function per space. Private to this folder.

#include "workload/models/builder.h"
#include "workload/spaces/spaces.h"

namespace orrery {

struct SpaceInput {
    std::int64_t channels = 3, height = 32, width = 32;
};

Graph nasBench201Graph(const NasBench201Cell& cell, const SpaceInput& input, std::int64_t classes,
                       const WorkloadOptions& options);
Graph fbnetGraph(const FbnetBlocks& blocks, const SpaceInput& input, const WorkloadOptions& options);
Graph ofaGraph(const OfaNetwork& network, const WorkloadOptions& options);
Graph hatGraph(const HatNetwork& network, const WorkloadOptions& options);

/// ⌊v/8 + ½⌋·8, but at least 8 and never below 0.9 v: the rounding of widths of MobileNets.
std::int64_t roundedWidth(double width);

}  // namespace orrery
