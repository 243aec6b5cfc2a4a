#pragma once

// One rank's experts on a GPU: activations are quantised and permuted, two grouped products run with an activation
// between them, and results are permuted back and added up. Rows of an expert fill whole tiles; the weights of experts
// that are touched are read once; so time grows with experts first, and with rows only where these fill the tiles.

#include "methods/tile/tile_family.h"

namespace orrery {

const TileFamily& expertsFamily();

/// How the rows of all touched experts become tiles.
struct ExpertTiles {
    double tileM = 64, tileN = 128;
    double rows = 1;   ///< tiles of rows, over all experts
    double fill = 1;   ///< rows asked for over those of whole tiles
    double bytes = 0;  ///< weights that are read
};
ExpertTiles expertTiles(const Kernel& kernel);

}  // namespace orrery
