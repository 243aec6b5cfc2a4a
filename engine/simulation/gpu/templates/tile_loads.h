#pragma once

// What templates share: rows of a matrix brought in by all threads of a block, 16 bytes each, and places in memory.

#include "simulation/gpu/templates/kernel_template.h"

#include <algorithm>
#include <array>
#include <cstdint>

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
void forTileAccesses(const TileRows& tile, int warp, int warps, Each&& each) {
    const std::int64_t across = std::max<std::int64_t>(1, tile.bytes / 16), chunks = tile.chunks();
    std::array<std::uint64_t, 32> addresses;
    for (std::int64_t from = std::int64_t{32} * warp; from < chunks; from += std::int64_t{32} * warps) {
        std::uint32_t lanes = 0;
        std::size_t count = 0;
        for (int lane = 0; lane < 32; ++lane) {
            const std::int64_t chunk = from + lane;
            if (chunk >= chunks) break;
            const std::int64_t row = chunk / across, column = chunk % across * 16;
            if (row >= tile.valid || column >= tile.inside) continue;
            lanes |= 1u << lane;
            addresses[count++] = tile.base + static_cast<std::uint64_t>(static_cast<double>(row) * tile.stride) +
                                 static_cast<std::uint64_t>(column);
        }
        each(lanes, std::span<const std::uint64_t>(addresses.data(), count));
    }
}

/// 16 bytes of each lane, one after the other: of shared memory, in as few passes as there can be.
inline std::array<std::uint64_t, 32> sixteenEach(std::uint64_t base) {
    std::array<std::uint64_t, 32> out;
    for (std::size_t i = 0; i < 32; ++i) out[i] = base + 16 * i;
    return out;
}

}  // namespace orrery::gpusim
