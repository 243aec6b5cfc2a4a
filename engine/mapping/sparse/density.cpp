#include "mapping/sparse/density.h"

#include "mapping/sparse/tile_tables.h"

#include <algorithm>
#include <cmath>

namespace orrery {

double TileShape::size() const {
    double product = 1;
    for (std::size_t r = 0; r < ranks; ++r) product *= static_cast<double>(extents[r]);
    return product;
}

TileShape tileShape(const NestTensor& tensor, const std::array<std::int64_t, maxNestDimensions>& extents) {
    TileShape shape;
    shape.ranks = static_cast<std::uint8_t>(std::min(tensor.ranks.size(), maxTensorRanks));
    for (std::size_t r = 0; r < shape.ranks; ++r) {
        std::int64_t last = 0;
        for (const ProjectionTerm& term : tensor.ranks[r].terms)
            last += std::abs(term.coefficient) * (extents[term.dimension] - 1);
        shape.extents[r] = last + 1;
    }
    // A tensor of more ranks than are kept apart: the rest is one long rank.
    for (std::size_t r = maxTensorRanks; r < tensor.ranks.size(); ++r) {
        std::int64_t last = 0;
        for (const ProjectionTerm& term : tensor.ranks[r].terms)
            last += std::abs(term.coefficient) * (extents[term.dimension] - 1);
        shape.extents[maxTensorRanks - 1] *= last + 1;
    }
    return shape;
}

double OccupancyDistribution::mean() const {
    double sum = 0;
    for (std::size_t i = 0; i < probability.size(); ++i) sum += probability[i] * (first + static_cast<double>(i));
    return sum;
}

std::string_view DensityModel::name() const {
    switch (kind) {
        case DensityKind::FixedStructured:
            return "fixed-structured";
        case DensityKind::Hypergeometric:
            return "hypergeometric";
        case DensityKind::Banded:
            return "banded";
        case DensityKind::Actual:
            return "actual-data";
    }
    return {};
}

namespace {

std::vector<std::int64_t> keyOf(const TileShape& tile) {
    return {tile.extents.begin(), tile.extents.begin() + tile.ranks};
}

const TileCensus& census(const DensityModel& model, const TileShape& tile) {
    const std::lock_guard lock(model.tables->guard);
    const auto [found, fresh] = model.tables->tiles.try_emplace(keyOf(tile));
    if (fresh)
        found->second = model.kind == DensityKind::Banded ? bandedCensus(model, tile) : actualCensus(model, tile);
    return found->second;
}

const PartCensus& partCensus(const DensityModel& model, const TileShape& tile, const TileShape& part) {
    std::vector<std::int64_t> key = keyOf(tile);
    const std::vector<std::int64_t> tail = keyOf(part);
    key.insert(key.end(), tail.begin(), tail.end());
    const std::lock_guard lock(model.tables->guard);
    const auto [found, fresh] = model.tables->parts.try_emplace(std::move(key));
    if (fresh)
        found->second =
            model.kind == DensityKind::Banded ? bandedParts(model, tile, part) : actualParts(model, tile, part);
    return found->second;
}

bool counted(const DensityModel& model) {
    return (model.kind == DensityKind::Banded || model.kind == DensityKind::Actual) && model.tables;
}

/// Occupancies of a structured tile are the two whole numbers around its share, weighed so that the mean is the share.
double structuredEmpty(double share) {
    return share < 1 ? 1 - share : 0;
}

}  // namespace

DensityModel DensityModel::boundTo(const TileShape& shape) const {
    DensityModel bound = *this;
    bound.tensor = shape;
    const double size = shape.size();
    if (kind == DensityKind::FixedStructured) bound.nonzeros = density * size;
    if (kind == DensityKind::Hypergeometric) bound.nonzeros = std::min(size, std::ceil(density * size));
    if (kind == DensityKind::Banded || kind == DensityKind::Actual) {
        bound.tables = std::make_shared<TileTables>();
        bound.nonzeros = census(bound, shape).held;
        bound.density = size > 0 ? bound.nonzeros / size : 0;
    }
    return bound;
}

double emptyProbability(const DensityModel& model, const TileShape& tile) {
    if (tile.size() <= 0) return 1;
    if (model.kind == DensityKind::Hypergeometric)
        return hypergeometricEmpty(model.tensor.size(), model.nonzeros, tile.size());
    if (!counted(model)) return structuredEmpty(tile.size() * model.density);
    const TileCensus& seen = census(model, tile);
    const auto empty = seen.tilesOf.find(0);
    return empty == seen.tilesOf.end() || seen.tiles <= 0 ? 0 : empty->second / seen.tiles;
}

double emptyProbability(const DensityModel& model, const TileShape& tile, const TileGiven& given) {
    const double whole = given.shape.size();
    if (tile.size() <= 0 || whole <= 0 || given.occupancy <= 0) return 1;
    if (model.kind == DensityKind::Hypergeometric)
        return hypergeometricEmpty(whole, std::min(whole, given.occupancy), std::min(whole, tile.size()));
    if (!counted(model)) return structuredEmpty(tile.size() * (given.occupancy / whole));
    const PartCensus& seen = partCensus(model, given.shape, tile);
    const auto found = seen.lower_bound(given.occupancy - 0.5);
    return found == seen.end() ? 0 : found->second;
}

double expectedOccupancy(const DensityModel& model, const TileShape& tile) {
    if (model.kind == DensityKind::Hypergeometric && model.tensor.size() > 0)
        return std::min(tile.size(), model.tensor.size()) * (model.nonzeros / model.tensor.size());
    if (!counted(model)) return tile.size() * model.density;
    const TileCensus& seen = census(model, tile);
    return seen.tiles > 0 ? seen.held / seen.tiles : 0;
}

double maximumOccupancy(const DensityModel& model, const TileShape& tile) {
    if (model.kind == DensityKind::Hypergeometric) return std::min(tile.size(), model.nonzeros);
    if (!counted(model)) return std::min(tile.size(), std::ceil(tile.size() * model.density));
    const TileCensus& seen = census(model, tile);
    return seen.tilesOf.empty() ? 0 : seen.tilesOf.rbegin()->first;
}

OccupancyDistribution occupancyDistribution(const DensityModel& model, const TileShape& tile) {
    if (model.kind == DensityKind::Hypergeometric)
        return hypergeometric(model.tensor.size(), model.nonzeros, std::min(tile.size(), model.tensor.size()));
    if (!counted(model)) {
        const double share = std::min(tile.size(), tile.size() * model.density), below = std::floor(share);
        if (share == below) return {below, {1.0}};
        return {below, {1 - (share - below), share - below}};
    }
    const TileCensus& seen = census(model, tile);
    OccupancyDistribution spread;
    if (seen.tilesOf.empty()) return {0, {1.0}};
    spread.first = seen.tilesOf.begin()->first;
    spread.probability.assign(static_cast<std::size_t>(seen.tilesOf.rbegin()->first - spread.first) + 1, 0.0);
    for (const auto& [occupancy, tiles] : seen.tilesOf)
        spread.probability[static_cast<std::size_t>(occupancy - spread.first)] = tiles / seen.tiles;
    return spread;
}

double maximumElements(const DensityModel& model, const TileShape& fiber, const TileShape& element) {
    const double elements = fiber.size() / std::max(1.0, element.size());
    const double full = maximumOccupancy(model, fiber);
    if (full <= 0) return 0;
    const double empty = emptyProbability(model, element, {fiber, full});
    return std::min(elements, std::ceil(elements * (1 - empty) - 1e-9));
}

}  // namespace orrery
