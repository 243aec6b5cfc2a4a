#pragma once

// Tiles counted one by one, for models whose tiles of one shape differ: how many tiles hold how much, and how many
// parts of them are empty. Counted once per shape and kept.

#include "mapping/sparse/density.h"

#include <map>
#include <mutex>

namespace orrery {

/// Tiles of one shape by what they hold.
struct TileCensus {
    double tiles = 0;
    std::map<double, double> tilesOf;  ///< occupancy → number of tiles; the empty ones too
    double held = 0;                   ///< nonzeros over all tiles
};

/// Parts of one shape within tiles of another: occupancy of the tile → share of its parts that are empty.
using PartCensus = std::map<double, double>;

struct TileTables {
    std::mutex guard;
    std::map<std::vector<std::int64_t>, TileCensus> tiles;
    std::map<std::vector<std::int64_t>, PartCensus> parts;
};

TileCensus bandedCensus(const DensityModel& model, const TileShape& tile);
PartCensus bandedParts(const DensityModel& model, const TileShape& tile, const TileShape& part);
TileCensus actualCensus(const DensityModel& model, const TileShape& tile);
PartCensus actualParts(const DensityModel& model, const TileShape& tile, const TileShape& part);

}  // namespace orrery
