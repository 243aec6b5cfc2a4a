#pragma once

// A problem as the search for its bound sees it: dimensions that act alike are one axis, tensors are products of what
// the axes give.

#include "mapping/bounds/data_movement.h"
#include "mapping/nest_flat.h"

#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

namespace orrery::bounds {

using nest::Coordinates;
using Mask = std::uint32_t;  ///< of axes, of tensors or of dimensions

/// Tiles of an axis: their words, and how many of them there are.
struct Choice {
    double tile = 1, count = 1;
    bool ragged = false;                            ///< the last tile is smaller
    std::array<std::int32_t, 4> tiles{1, 1, 1, 1};  ///< of each dimension of the axis
};

/// Dimensions that one tile size stands for. A plain axis has dimensions that stand alone, without a stride, in every
/// rank, and in the same tensors: only the product of their tiles counts. A window axis is one dimension that does not.
struct Axis {
    std::vector<std::uint8_t> dimensions;
    std::vector<Choice> choices;  ///< by tile; of a plain axis none is better than another in both tile and count
    Mask tensors = 0;             ///< that it moves
    bool plain = true;
    double extent = 1;
};

struct Space {
    const NestProblem* problem = nullptr;
    nest::Frame frame;
    std::vector<Axis> axes;  ///< window axes first; dimensions of extent 1 have none
    std::size_t windows = 0;
    std::array<double, maxNestTensors> size{};   ///< words of each tensor
    std::array<double, maxNestTensors> plain{};  ///< product of the extents of a tensor's plain axes
};

Expected<Space> makeSpace(const NestProblem& problem, const BoundOptions& options);

/// What an order of the loops lets one tensor save.
struct Stillness {
    Mask free = 0;    ///< axes of which no iteration brings new words
    int slides = -1;  ///< the window axis along which it moves first, fetching what is new alone; -1: none
    /// Window axes of this tensor up to where each tile is fetched whole, inner to outer: an order in which Timeloop's
    /// count sees steps return to what is held.
    std::array<std::int8_t, 4> steps{-1, -1, -1, -1};
    bool still = false;  ///< of `steps`: an axis that does not move it comes first
    bool operator==(const Stillness&) const = default;
};

struct OrderClass {
    std::array<Stillness, maxNestTensors> tensors;
    std::vector<std::uint8_t> axes;  ///< one such order, inner to outer; axes not named follow
};

/// Classes of orders for the tensors of `kept`: none is worse than another whatever the tiles are. With `steps` also
/// the ones that differ only where two axes move one rank.
std::vector<OrderClass> orderClasses(const Space& space, Mask kept, bool steps);

/// The curve without its time; nothing when stopped. Boxes of tilings whose best corner is known to be no news are left
/// out whole.
std::optional<BoundCurve> searchBound(const Space& space, const BoundOptions& options, const std::stop_token& stop);

}  // namespace orrery::bounds
