#pragma once

// How the nonzeros of a tensor are spread, asked tile by tile: how many are in a tile, how likely is an empty one.
// Models of Sparseloop (Wu et al., MICRO 2022, section 5.3): structured (every tile has its share), uniform (nonzeros
// drawn without replacement: hypergeometric), banded, and the coordinates themselves.

#include "mapping/problem.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace orrery {

inline constexpr std::size_t maxTensorRanks = 8;

/// A box of coordinates: its extent per rank of the tensor. Tiles of one shape are laid edge to edge from the origin.
struct TileShape {
    std::array<std::int64_t, maxTensorRanks> extents{};
    std::uint8_t ranks = 0;
    double size() const;
    bool operator==(const TileShape&) const = default;
};

/// The box of a tensor that the iterations [0, extents[d]) of every dimension touch.
TileShape tileShape(const NestTensor& tensor, const std::array<std::int64_t, maxNestDimensions>& extents);

/// What is known of the tile in which another one lies: its size and how many nonzeros it holds.
struct TileGiven {
    TileShape shape;
    double occupancy = 0;
};

/// Probabilities of the occupancies first, first + 1, …; they add up to one. Tails below 1e-18 of the peak are cut.
struct OccupancyDistribution {
    double first = 0;
    std::vector<double> probability;
    double mean() const;
};

enum class DensityKind : std::uint8_t { FixedStructured, Hypergeometric, Banded, Actual };

struct TileTables;  ///< what banded and actual models have counted so far

/// Coordinates of nonzeros, `ranks` numbers each, none twice.
struct ActualData {
    std::vector<std::int64_t> extents;
    std::vector<std::int32_t> coordinates;
    std::string source;
    std::size_t nonzeros() const { return extents.empty() ? 0 : coordinates.size() / extents.size(); }
};

/// The spread of one tensor. Default: dense. Complete once boundTo() has told it the tensor's shape.
struct DensityModel {
    DensityKind kind = DensityKind::FixedStructured;
    double density = 1;          ///< nonzeros per word; of actual and banded tensors it follows from the shape
    std::int64_t bandWidth = 0;  ///< diagonals beside the main one, to each side
    std::shared_ptr<const ActualData> data;
    TileShape tensor;
    double nonzeros = 0;
    std::shared_ptr<TileTables> tables;  ///< shared by copies; guarded

    /// For hypergeometric, ⌈density · size⌉ nonzeros.
    DensityModel boundTo(const TileShape& shape) const;
    bool dense() const { return kind == DensityKind::FixedStructured && density >= 1; }
    std::string_view name() const;
};

/// Probability that a tile of this shape holds nothing; with `given`, that a part of such a tile does.
double emptyProbability(const DensityModel& model, const TileShape& tile);
double emptyProbability(const DensityModel& model, const TileShape& tile, const TileGiven& given);
/// Expected nonzeros of a tile.
double expectedOccupancy(const DensityModel& model, const TileShape& tile);
/// The most nonzeros a tile can hold.
double maximumOccupancy(const DensityModel& model, const TileShape& tile);
OccupancyDistribution occupancyDistribution(const DensityModel& model, const TileShape& tile);
/// Non-empty parts of shape `element` in the fullest tile of shape `fiber`, at most.
double maximumElements(const DensityModel& model, const TileShape& fiber, const TileShape& element);

/// Hypergeometric: `drawn` of `population` words, of which `marked` are nonzero.
double hypergeometricEmpty(double population, double marked, double drawn);
OccupancyDistribution hypergeometric(double population, double marked, double drawn);

}  // namespace orrery
