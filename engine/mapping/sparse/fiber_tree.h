#pragma once

// Which loops of a mapping become which ranks of a tensor's format.

#include "mapping/nest_mapping.h"
#include "mapping/sparse/formats.h"

#include <array>
#include <string>
#include <vector>

namespace orrery {

using NestExtents = std::array<std::int64_t, maxNestDimensions>;

/// A loop and the iterations of every dimension that it and all loops inside it run through.
struct MoldedLoop {
    NestLoop loop;
    NestExtents extents;
};

/// The loops of a mapping, those of bound 1 left out.
struct NestMolds {
    std::vector<std::vector<MoldedLoop>> levels;  ///< inner to outer
    std::vector<NestExtents> tiles;               ///< what one tile of a level covers
    void build(const NestMapping& mapping);
    /// What the loops inside loop `index` of a level cover.
    NestExtents inside(std::size_t level, std::size_t index) const;
};

/// Bit per dimension that a tensor's coordinates depend on.
std::uint32_t dimensionsOf(const NestTensor& tensor);

enum class FormatFault : std::uint8_t {
    None,
    TooFewRanks,    ///< loops are left over
    ChildRanks,     ///< the level below has more ranks, so that its tiles cannot be cut out of this level's
    ChildFormat,    ///< its ranks have other formats
    Decompression,  ///< the level below holds the tensor uncompressed and cannot decompress
    Compression,    ///< results leave the level below uncompressed and it cannot compress
};

struct FiberTreeInput {
    const NestTensor* tensor = nullptr;
    int level = 0;
    int child = -1;  ///< next level inwards that keeps the tensor; -1: the arithmetic
    const TensorFormat* format = nullptr;
    const TensorFormat* childFormat = nullptr;
    const FiberTree* childTree = nullptr;
    double childTile = 0;
};

/// Gives loops to ranks, from the inner end or the outer one as the format says. A compressed level above another one
/// keeps its tiles cut as that one wants them: the inner ranks are those of the level below.
FormatFault buildFiberTree(const NestMolds& molds, const FiberTreeInput& input, FiberTree& out);

}  // namespace orrery
