#pragma once

// A mapping as one list of loops, inner to outer, with strides and the extents of every tile: what all counts are taken
// from. Fixed arrays, so that a search allocates nothing.

#include "mapping/nest_evaluator.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery::nest {

inline constexpr std::size_t maxLevels = 16;
inline constexpr std::size_t maxLoops = 256;
inline constexpr std::size_t maxRanks = 10;
inline constexpr std::int64_t maxExtent = std::int64_t{1} << 31;  ///< of a dimension
inline constexpr std::int64_t maxFanOut = std::int64_t{1} << 22;  ///< of one level

/// A place or a step in the coordinates of a tensor, one number per rank.
using Coordinates = std::array<std::int64_t, maxRanks>;

/// How one tensor follows the dimensions: terms[begin[d] … begin[d + 1]) are the ranks that dimension d moves.
struct Projection {
    struct Term {
        std::uint8_t rank = 0;
        std::int64_t coefficient = 1;
    };
    std::size_t ranks = 0;
    std::vector<Term> terms;
    std::array<std::uint16_t, maxNestDimensions + 1> begin{};

    /// Adds `step` of dimension d.
    void add(std::size_t dimension, std::int64_t step, Coordinates& to) const {
        for (std::size_t i = begin[dimension]; i < begin[dimension + 1]; ++i) {
            to[terms[i].rank] += terms[i].coefficient * step;
        }
    }
};

struct FlatLoop {
    std::uint8_t dimension = 0;
    LoopKind kind = LoopKind::Temporal;
    std::int64_t bound = 1, residual = 1;
    std::int64_t stride = 1;  ///< distance of two iterations, in the dimension
};

/// Loops of bound 1 are left out. Level l owns [begin[l], end[l]): its spatial loops up to spatialEnd[l], then its
/// temporal ones.
struct FlatNest {
    std::size_t levels = 0, count = 0;
    bool perfect = true;
    std::array<FlatLoop, maxLoops> loops;
    std::array<std::uint16_t, maxLevels> begin{}, spatialEnd{}, end{};
    std::array<std::int64_t, maxLevels> fanOutX{}, fanOutY{};  ///< used, per level
    std::array<std::int64_t, maxLevels> instances{};           ///< used, of each level
    std::int64_t arithmeticInstances = 1;                      ///< used
    /// Coordinates that a tile spans per tensor: of everything up to the level's spatial loops, and up to its end.
    std::array<std::array<Coordinates, maxNestTensors>, maxLevels> spatialSpan, span;
    std::array<std::array<double, maxNestTensors>, maxLevels> spatialTile, tile;  ///< their words
};

/// What is known of a problem and a hardware before any mapping is.
struct Frame {
    const NestProblem* problem = nullptr;
    const NestHardware* hardware = nullptr;
    std::size_t tensors = 0, dimensions = 0;
    std::array<Projection, maxNestTensors> projections;
    std::array<bool, maxNestTensors> written{};
    std::array<std::int64_t, maxLevels> meshX{}, meshY{};  ///< physical fan-out of each level, in both directions
    double operations = 0;
};

/// Refuses what no mapping can be evaluated on: more dimensions, tensors, ranks or levels than the arrays hold, extents
/// below 1 or above 2^31, coefficients below 1, tensors without ranks, no written tensor, no level, meshes that do not
/// divide. Codes `mapping.problem`, `mapping.hardware`.
Expected<Frame> makeFrame(const NestProblem& problem, const NestHardware& hardware);

/// Fails with Factors where the loops do not make up the problem's extents, or more loops than fit.
MappingFault flatten(const Frame& frame, const NestMapping& mapping, FlatNest& flat);

}  // namespace orrery::nest
