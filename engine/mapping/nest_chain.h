#pragma once

// From the flow between all levels to what the levels that keep a tensor read, fill and update.

#include "mapping/nest_traffic.h"

namespace orrery::nest {

/// Fills kept, tile, partition, reads, fills, updates, temporalReductions, linkTransfers and instances of the tensor at
/// every level. Levels that pass the tensor by hand on what their children ask for.
void countTensor(const Frame& frame, const FlatNest& flat, const Traffic& traffic, const NestMapping& mapping,
                 std::size_t tensor, NestCounts& counts);

}  // namespace orrery::nest
