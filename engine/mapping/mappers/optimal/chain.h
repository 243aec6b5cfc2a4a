#pragma once

// The traffic of one skeleton: its interfaces, and what each costs given the loops inside a boundary and the order of
// those outside. Exact for tensors that no window slides over; a lower bound for the others (see `words`).

#include "mapping/mappers/optimal/facts.h"
#include "mapping/mappers/optimal/orders.h"

namespace orrery::optimal {

/// The loops outside an interface's child as far as they matter to one tensor.
struct Closing {
    double run = 1;         ///< iterations of the innermost loops that do not move it
    double firstBound = 1;  ///< of the innermost loop, where it slides a window
    double firstStep = 0;   ///< in coordinates of the dimension
    std::int8_t first = -1;
    bool exact = true;        ///< no loop steps back onto words that are held
    double movedBound = 1;    ///< of the first loop that moves a window
    bool outside = false;     ///< some loop moves the tensor and no window
    double insideBounds = 1;  ///< iterations inside that loop
};

struct Chain {
    const Facts* facts = nullptr;
    double cycles = 1;                                       ///< iterations of the busiest arithmetic unit
    std::array<std::int64_t, maxNestDimensions> temporal{};  ///< left for the temporal loops
    std::array<std::array<std::int64_t, maxNestDimensions>, maxMapspaceLevels> spatialInside{};  ///< up to a level
    std::vector<std::vector<Interface>> interfaces;  ///< per tensor, those that depend on loops, inner first
    std::vector<std::vector<Measures>> least;        ///< of each, were every word moved once
    Measures base{};                                 ///< of the arithmetic and of constant interfaces
    std::uint32_t linked = 0;                        ///< tensors that neighbours may hand on

    void findLeast();
    /// Whether tiles of these temporal extents fit the level and those outside it.
    bool fits(const Skeleton& skeleton, std::size_t level, const std::int64_t* temporalInside) const;
    /// Adds what an interface costs at least: `inside`, temporal extents of its child's tile; `outer`, iterations of
    /// all loops outside; the child's words are changes of the tile. `tile`: its words, where they are known.
    void add(const Interface& interface, const std::int64_t* inside, double outer, const Closing& closing, Measures& to,
             double tile = -1) const;
    /// Words of the child's tile; 0 for the arithmetic.
    double tile(const Interface& interface, const std::int64_t* inside) const;
    Closing closing(std::size_t tensor, const OrderClass& order, std::size_t level, const std::int64_t* inside,
                    const std::int64_t* outside) const;
};

/// Fails (false) where the spatial loops leave factors that no temporal loop may take.
bool makeChain(const Facts& facts, const Skeleton& skeleton, Chain& chain);
/// The measures that no choice of temporal loops undercuts.
Measures compulsory(const Chain& chain);

}  // namespace orrery::optimal
