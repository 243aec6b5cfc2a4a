#pragma once

// Words that each level hands to the next inner one, as if every level kept every tensor. Semantics of Timeloop 3
// (Parashar et al., ISPASS 2019, and its loop analysis): the tile of an inner level is compared with the one that it
// held before; only what is new is fetched, but a tile that moves on with another stride than before is fetched anew as
// a whole. Of every loop the first iteration is taken as it is and the second stands for all the others.

#include "mapping/nest_flat.h"
#include "mapping/spatial_positions.h"

#include <array>

namespace orrery::nest {

struct Flow {
    double accesses = 0;   ///< words read by the level for its children; a multicast counts once
    double delivered = 0;  ///< words that the children receive over this level's network, multicasts counted per child
    double links = 0;      ///< words that children take from their neighbours instead
};

struct Traffic {
    std::array<std::array<Flow, maxNestTensors>, maxLevels> flow;
    std::array<std::array<double, maxNestTensors>, maxLevels> tile;  ///< largest tile held
    /// Of the tile that level l holds: the words that all children of its parent hold together.
    std::array<std::array<double, maxNestTensors>, maxLevels> shared;
    double cycles = 0;  ///< iterations of the busiest arithmetic unit
};

/// Closed form for perfect nests.
void perfectTraffic(const Frame& frame, const FlatNest& flat, SpatialPositions& positions, Traffic& traffic);

/// Walks first, second, last but one and last iteration of every loop, with residual tiles. Slow; false where the nest
/// has too many loops to be walked.
bool walkTraffic(const Frame& frame, const FlatNest& flat, Traffic& traffic);

}  // namespace orrery::nest
