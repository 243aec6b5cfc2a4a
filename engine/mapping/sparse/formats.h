#pragma once

// How a compressed tensor is written down: a fiber tree (Sze et al., Efficient Processing of DNNs, chapter 8) whose
// ranks each have a format, and what coordinates, offsets and masks of one rank take. Sparseloop (MICRO 2022), table 2.

#include "mapping/sparse/density.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace orrery {

enum class RankFormat : std::uint8_t {
    OffsetPairs,          ///< UOP: an offset per coordinate and one more, present or not (the row pointers of CSR)
    CoordinatePayload,    ///< CP: the coordinate of every non-empty one
    RunLength,            ///< RLE: the gap before every non-empty one
    Bitmask,              ///< B: a bit per coordinate, payloads of non-empty ones only
    UncompressedBitmask,  ///< UB: a bit per coordinate and a payload per coordinate
};

std::optional<RankFormat> rankFormat(std::string_view name);
std::string_view toText(RankFormat format);
/// Whether payloads of empty coordinates are left out.
bool compresses(RankFormat format);

struct FormatRank {
    RankFormat format = RankFormat::OffsetPairs;
    double metadataBits = 0, payloadBits = 0;  ///< of one coordinate, gap or mask bit; of one offset
    /// Which dimensions may be flattened into this rank: bits of dimensions, one mask per alternative; empty: the next
    /// loop, whichever it is.
    std::vector<std::uint32_t> flattened;
    bool operator==(const FormatRank&) const = default;
};

/// Format of one tensor at one level. Without ranks it is held uncompressed and nothing is written beside it.
struct TensorFormat {
    std::vector<FormatRank> ranks;  ///< innermost first
    bool innerToOuter = false;      ///< which end of the loops is given ranks first
    bool compressed() const;
    bool hasMetadata() const;
    bool operator==(const TensorFormat&) const = default;
};

/// What one rank of a tile takes, in units of its word bits.
struct RankOccupancy {
    double metadata = 0, payload = 0;
    bool empty() const { return metadata == 0 && payload == 0; }
};

/// What is asked of a rank: up to `fibers` fibers of `fiberShape` coordinates, each fiber a tile, each coordinate a
/// tile of the rank below.
struct RankQuery {
    double fibers = 1, fiberShape = 1;
    TileShape fiber, coordinate;
};

/// Expected occupancy of a rank in a tile of which shape and nonzeros are known. Equations per format at the top of
/// formats.cpp.
RankOccupancy rankOccupancy(RankFormat format, const RankQuery& query, const DensityModel& model,
                            const TileGiven& given);

/// A tile's ranks once loops have been given to them (fiber_tree.h).
struct FiberTree {
    struct Rank {
        double fiberShape = 1;
        TileShape tile;  ///< all coordinates of one fiber, with what is below
    };
    std::vector<Rank> ranks;  ///< innermost first, parallel to TensorFormat::ranks
    bool innerToOuter = false;
};

/// Occupancy of every rank, innermost first. The payload of the innermost rank that is used is the data itself and
/// counts as none. Ranks without a loop take nothing.
void treeOccupancy(const FiberTree& tree, const std::vector<FormatRank>& formats, const DensityModel& model,
                   const TileGiven& given, std::vector<RankOccupancy>& out);

/// Bits of all ranks.
double metadataBits(const std::vector<RankOccupancy>& occupancy, const std::vector<FormatRank>& formats);

}  // namespace orrery
