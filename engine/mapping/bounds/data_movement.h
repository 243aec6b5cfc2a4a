#pragma once

// The least that must move between a buffer of so many words and the store behind it, for every size of the buffer at
// once (in the manner of Orojenesis: Huang et al., "Mind the Gap: Attainable Data Movement and Operational Intensity
// Bounds for Tensor Algorithms", ISCA 2024). The machine is theirs: one arithmetic unit, one buffer that all tensors
// share, one store that holds everything. A mapping is a tile per dimension, an order of the loops over tiles, and the
// tensors that pass the buffer by; the buffer holds the tile of every tensor that it keeps.
//
// The curve is exact for that space, counted as NestEvaluator counts (mapping/nest_evaluator.h): every point is the
// count of a mapping, and no mapping of the two levels lies below it.
//   Tiles: of any size, the last one smaller, for dimensions that stand alone in every rank; sizes that divide for
//   those that share a rank (window and position of a convolution) or have a stride.
//   Orders: all; those that keep the same tensors still are one class.

#include "base/diagnostic.h"
#include "mapping/nest_mapping.h"
#include "mapping/problem.h"
#include "mapping/storage.h"

#include <array>
#include <cstdint>
#include <stop_token>
#include <vector>

namespace orrery {

struct BoundOptions {
    bool anyTile = true;  ///< false: every tile divides its dimension, as in Timeloop's mapspaces
    bool bypass = true;   ///< false: the buffer keeps every tensor
};

/// A corner of the curve, with a mapping that attains it.
struct BoundPoint {
    double words = 0;  ///< that the buffer holds
    double moved = 0;  ///< words read from and written to the store
    std::array<std::int64_t, maxNestDimensions> tile{};
    std::array<std::uint8_t, maxNestDimensions> order{};  ///< dimensions, inner to outer, of the loops over tiles
    std::uint32_t keeps = 0;                              ///< bit per tensor
};

struct BoundCurve {
    std::vector<BoundPoint> points;  ///< words rise, moved falls; never empty
    double compulsory = 0;           ///< words moved where everything fits: inputs once, results once
    double operations = 0;
    std::uint64_t tilings = 0;  ///< looked at, alone or as a range of tiles
    double seconds = 0;         ///< that it took

    /// The last corner with at most so many words; null where even the smallest needs more.
    const BoundPoint* at(double words) const;
};

/// Fails with `mapping.problem` for what NestEvaluator refuses, `bound.cancelled` when stopped.
Expected<BoundCurve> dataMovementBound(const NestProblem& problem, const BoundOptions& options = {},
                                       std::stop_token stop = {});

/// The machine of the curve, with a buffer of so many words.
NestHardware twoLevelMachine(double words);
/// A corner as a mapping of that machine.
NestMapping twoLevelMapping(const NestProblem& problem, const BoundPoint& point);

/// Words that a mapping holds at once inside the outermost level, were every tensor kept there, and words that it moves
/// over that level (reads, fills and updates of all its instances): the point that stands on or above the curve.
struct MappingPoint {
    double words = 0, moved = 0;
};
struct NestCounts;
MappingPoint mappingPoint(const NestProblem& problem, const NestMapping& mapping, const NestCounts& counts);

}  // namespace orrery
