#pragma once

// How groups of ranks lie in a network of dimensions: whether one of them can stand for others, and which members share
// a node.

#include "simulation/network/message_fabric.h"
#include "workload/traces/execution_trace.h"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

/// The one dimension in which two devices differ; -1: none, -2: more than one.
int dimensionBetween(const std::vector<FabricDimension>& dimensions, std::int64_t a, std::int64_t b);
/// From each of these devices a way to the one `apart` further on, of the same kind: over one and the same dimension,
/// a switch or a full connection. Then what they send at the same time waits for nothing of each other's.
bool alikeApart(const std::vector<FabricDimension>& dimensions, std::int64_t first, std::int64_t count,
                std::int64_t apart);
/// The one dimension, without neighbours, over which a ring through these members goes from each to the next; -1 where
/// it goes another way.
int ringDimension(const std::vector<FabricDimension>& dimensions, std::span<const std::int32_t> members);
/// The same of rings: groups of `size` members `stride` apart fill the devices from `first` on.
bool ringsAlike(const std::vector<FabricDimension>& dimensions, std::int64_t first, std::int64_t count,
                std::int64_t size, std::int64_t stride);
/// Members beside each other in a list that stand behind the same endpoint of the outermost dimension that the list
/// crosses, for RankGroup::block; 1 where they do not divide it.
std::int32_t blockOf(const std::vector<FabricDimension>& dimensions, std::span<const std::int32_t> members);

/// Messages that one member sends in rings of a collective over `size` members; of an all-to-all directly.
double ringMessages(TraceCollective op, std::int64_t size);

}  // namespace orrery
