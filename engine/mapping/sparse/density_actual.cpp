#include "mapping/sparse/tile_tables.h"

#include <algorithm>
#include <utility>

namespace orrery {

namespace {

/// Which tile of a shape a coordinate lies in, as one number.
std::uint64_t tileOf(const ActualData& data, const TileShape& tile, const std::int32_t* at) {
    std::uint64_t index = 0;
    for (std::size_t r = 0; r < data.extents.size(); ++r) {
        const std::int64_t extent = std::max<std::int64_t>(1, tile.extents[r]);
        const std::int64_t tiles = (data.extents[r] + extent - 1) / extent;
        index = index * static_cast<std::uint64_t>(tiles) + static_cast<std::uint64_t>(at[r] / extent);
    }
    return index;
}

double tilesIn(const ActualData& data, const TileShape& tile) {
    double tiles = 1;
    for (std::size_t r = 0; r < data.extents.size(); ++r) {
        const std::int64_t extent = std::max<std::int64_t>(1, tile.extents[r]);
        tiles *= static_cast<double>((data.extents[r] + extent - 1) / extent);
    }
    return tiles;
}

}  // namespace

TileCensus actualCensus(const DensityModel& model, const TileShape& tile) {
    TileCensus seen;
    const ActualData& data = *model.data;
    const std::size_t ranks = data.extents.size(), nonzeros = data.nonzeros();
    std::vector<std::uint64_t> index(nonzeros);
    for (std::size_t i = 0; i < nonzeros; ++i) index[i] = tileOf(data, tile, &data.coordinates[i * ranks]);
    std::sort(index.begin(), index.end());
    seen.tiles = tilesIn(data, tile);
    seen.held = static_cast<double>(nonzeros);
    double filled = 0;
    for (std::size_t i = 0; i < nonzeros;) {
        std::size_t end = i;
        while (end < nonzeros && index[end] == index[i]) ++end;
        ++seen.tilesOf[static_cast<double>(end - i)];
        ++filled;
        i = end;
    }
    if (seen.tiles > filled) seen.tilesOf[0] = seen.tiles - filled;
    return seen;
}

PartCensus actualParts(const DensityModel& model, const TileShape& tile, const TileShape& part) {
    const ActualData& data = *model.data;
    const std::size_t ranks = data.extents.size(), nonzeros = data.nonzeros();
    std::vector<std::pair<std::uint64_t, std::uint64_t>> index(nonzeros);  // (tile, part of the tensor)
    for (std::size_t i = 0; i < nonzeros; ++i)
        index[i] = {tileOf(data, tile, &data.coordinates[i * ranks]), tileOf(data, part, &data.coordinates[i * ranks])};
    std::sort(index.begin(), index.end());
    double partsPerTile = 1;
    for (std::size_t r = 0; r < ranks; ++r) {
        const std::int64_t extent = std::max<std::int64_t>(1, part.extents[r]);
        partsPerTile *= static_cast<double>((tile.extents[r] + extent - 1) / extent);
    }
    std::map<double, std::pair<double, double>> sums;  // occupancy → tiles, parts that are not empty
    for (std::size_t i = 0; i < nonzeros;) {
        std::size_t end = i;
        double filled = 0;
        for (; end < nonzeros && index[end].first == index[i].first; ++end)
            filled += end == i || index[end].second != index[end - 1].second;
        auto& [tiles, parts] = sums[static_cast<double>(end - i)];
        ++tiles;
        parts += filled;
        i = end;
    }
    PartCensus seen;
    for (const auto& [held, sum] : sums) seen[held] = std::max(0.0, 1 - sum.second / (sum.first * partsPerTile));
    return seen;
}

}  // namespace orrery
