#pragma once

// How a layer is cut into tiles, in the seven loops of a convolution: N images (or rows of a matrix product), C input
// channels (or its reduction), M output channels (or columns), P × Q output pixels, R × S filter taps. Read from the
// text form of ONNXim, `[T] N1 C64 M64 P56 Q56 S3 R3 - [O] N1 C1 M8 P4 Q4 S1 R1 - [I] N1 C64 M8 P15 Q17 S3 R3`: the
// whole layer, how many tiles, and how large a tile is. Loops that are not named are 1.

#include "base/diagnostic.h"
#include "simulation/npu/machine.h"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace orrery {

struct TileLoops {
    std::int64_t n = 1, c = 1, m = 1, p = 1, q = 1, s = 1, r = 1;
    auto operator<=>(const TileLoops&) const = default;
};

struct TileMapping {
    TileLoops total, outer, inner;
    auto operator<=>(const TileMapping&) const = default;
};

/// Codes: `mapping.section` (one of the three is missing, named twice or out of order), `mapping.loop` (not a letter of
/// a loop with a whole number from 1 to 10^9, or named twice), `mapping.cover` (tiles do not cover the layer, or more
/// than it needs). The place has file and line as given, and the column.
Expected<TileMapping> readTileMapping(std::string_view text, const Place& place = {});
std::string toText(const TileMapping& mapping);

/// Whether every loop is covered by outer × inner without an empty tile.
Expected<void> check(const TileMapping& mapping, const Place& place = {});

/// The tiling that Gemmini's own library chooses (tiled_matmul_auto and tiled_conv_auto of gemmini.h; Genc et al., DAC
/// 2021): the largest tiles of which two fit into the scratchpad and two results into the accumulator.
/// Matrix product of `rows` × `depth` × `columns`, elements of `element` bytes.
TileMapping gemminiTiling(std::int64_t rows, std::int64_t depth, std::int64_t columns, std::int64_t element,
                          const NpuMachine& machine);
/// Convolution of the loops in `layer`.
TileMapping gemminiTiling(const TileLoops& layer, std::int64_t stride, std::int64_t element, const NpuMachine& machine);

}  // namespace orrery
