#pragma once

// What the optimal mapper fixes first: which levels keep which tensors, what is unrolled where, along X or Y. With that
// the compute cycles are known, and every tensor's way through the levels is a chain of interfaces whose traffic
// depends on the temporal loops alone.

#include "mapping/mapspace.h"

#include <array>
#include <cstdint>
#include <vector>

namespace orrery::optimal {

inline constexpr std::size_t maxMeasures = 8;  ///< energy first, then words that a bandwidth limits
using Measures = std::array<double, maxMeasures>;

/// One tensor of the problem over the dimensions longer than 1 (numbered densely: "active").
struct TensorFacts {
    struct Term {
        std::uint8_t dimension;
        std::int64_t coefficient;
    };
    std::vector<std::vector<Term>> ranks;
    std::uint32_t relevant = 0;  ///< active dimensions that move the tensor
    bool written = false;
    bool simple = true;        ///< every rank has one active dimension: traffic is tile × changes, exactly
    bool weird = false;        ///< a dimension in two ranks: no bound on its traffic but zero
    bool unitStrides = true;   ///< coefficients of 1: tiles divide evenly
    std::uint32_t shared = 0;  ///< dimensions in ranks of several active dimensions: the sliding windows
    std::vector<std::uint32_t> rankMask;
};

struct Skeleton {
    std::array<std::uint32_t, maxMapspaceLevels> keeps{}, x{};
    std::array<std::array<std::int32_t, maxNestDimensions>, maxMapspaceLevels> spatial{};  ///< [level][active]
    double bound = 0;                                                                      ///< of the first objective
};

/// A limit on the words that one instance of a level moves in a cycle.
struct Bandwidth {
    std::size_t level = 0;
    bool reads = true, writes = true;
    double wordsPerCycle = 1;
};

/// The words of one tensor between a level that keeps it, or the arithmetic (-1), and the next one outwards that does.
struct Interface {
    std::size_t tensor = 0;
    int child = -1, parent = 0;
    double down = 1;            ///< words that the parent reads per word that a child takes: different children
    bool linkable = false;      ///< children may get words from their neighbours
    double positions = 1;       ///< places of children along one rank of a window: at the last one nobody hands on
    bool alone = false;         ///< one instance of the level outside the child: what neighbours hand on is filled, too
    bool blind = false;         ///< nothing is known of what the parent reads
    std::array<bool, 2> fan{};  ///< several children at the level outside the child; further out
    double different = 1,
           unlinked = 1;    ///< of arithmetic: units that ask for different words; and have no equal neighbour
    bool constant = false;  ///< of arithmetic: traffic does not depend on any order
    std::array<std::int32_t, maxNestDimensions>
        inside{};                           ///< spatial extents of the child's tile, per active dimension
    double parentPart = 0, childPart = 0;   ///< words written first, without being read (results)
    double block = 1, childBlock = 1;       ///< words of one access
    double read = 0, update = 0, fill = 0;  ///< joules of one access of all instances
    std::array<std::array<bool, 3>, maxMeasures> counts{};  ///< per measure: reads, updates, fills
};

}  // namespace orrery::optimal
