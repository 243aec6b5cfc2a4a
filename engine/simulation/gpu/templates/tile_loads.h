#pragma once

// What templates share: rows of a matrix brought in by all threads of a block, 16 bytes each, and places in memory.

#include "simulation/gpu/templates/kernel_template.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace orrery::gpusim {

inline constexpr std::uint64_t templateMemory = 0x7f4000000000;

/// Operands one after the other, each on a page of 2 MiB.
class OperandPlaces {
public:
    std::uint64_t take(double bytes) {
        const std::uint64_t here = next_;
        next_ += (static_cast<std::uint64_t>(std::max(bytes, 1.0)) + 0x3fffff) & ~std::uint64_t{0x1fffff};
        return here;
    }

private:
    std::uint64_t next_ = templateMemory;
};

/// A tile of a matrix whose rows stand `stride` bytes apart.
struct TileRows {
    std::uint64_t base = 0;   ///< of the tile's first element
    double stride = 0;        ///< bytes
    std::int64_t rows = 0;    ///< of the tile
    std::int64_t valid = 0;   ///< of them, inside the matrix
    std::int64_t bytes = 0;   ///< of a row of the tile; a multiple of 16
    std::int64_t inside = 0;  ///< of them, inside the matrix
    std::int64_t chunks() const { return rows * (bytes / 16); }
};

/// Calls `each(lanes, addresses)` for every access of one warp of `warps`, those without a lane too.
template <typename Each>
void forTileAccesses(const TileRows& tile, int warp, int warps, int width, Each&& each) {
    const std::int64_t across = std::max<std::int64_t>(1, tile.bytes / 16), chunks = tile.chunks();
    std::array<std::uint64_t, 64> addresses;
    for (std::int64_t from = std::int64_t{width} * warp; from < chunks; from += std::int64_t{width} * warps) {
        LaneMask lanes = 0;
        std::size_t count = 0;
        for (int lane = 0; lane < width; ++lane) {
            const std::int64_t chunk = from + lane;
            if (chunk >= chunks) break;
            const std::int64_t row = chunk / across, column = chunk % across * 16;
            if (row >= tile.valid || column >= tile.inside) continue;
            lanes |= LaneMask{1} << lane;
            addresses[count++] = tile.base + static_cast<std::uint64_t>(static_cast<double>(row) * tile.stride) +
                                 static_cast<std::uint64_t>(column);
        }
        each(lanes, std::span<const std::uint64_t>(addresses.data(), count));
    }
}

/// One address per lane of a warp.
class LaneAddresses {
public:
    explicit LaneAddresses(int lanes) : count_(static_cast<std::size_t>(lanes)) {}
    std::size_t size() const { return count_; }
    std::uint64_t& operator[](std::size_t lane) { return all_[lane]; }
    operator std::span<const std::uint64_t>() const { return {all_.data(), count_}; }  // NOLINT: as arrays do

private:
    std::array<std::uint64_t, 64> all_{};
    std::size_t count_;
};

/// 16 bytes of each lane, one after the other: of shared memory, in as few passes as there can be.
inline LaneAddresses sixteenEach(std::uint64_t base, int lanes = 32) {
    LaneAddresses out(lanes);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = base + 16 * i;
    return out;
}
/// The same of `bytes` each.
inline LaneAddresses sideBySide(std::uint64_t bytes, int lanes) {
    LaneAddresses out(lanes);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = bytes * i;
    return out;
}

}  // namespace orrery::gpusim
