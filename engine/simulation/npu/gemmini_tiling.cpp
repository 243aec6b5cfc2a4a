#include "base/maths.h"
#include "simulation/npu/tile_mapping.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

// Elements of the scratchpad and of the accumulator; half of them for one tile. Gemmini counts rows of its square
// array's side; in elements the same holds for an oblong one, whose inputs fill rows of its height, and whose weights
// and results fill rows of its width.
struct Room {
    std::int64_t scratchpad, accumulator;
};

Room roomOf(std::int64_t element, const NpuMachine& machine) {
    return {machine.scratchpad / element / 2, machine.accumulator / machine.accumulatorElement / 2};
}

std::int64_t filled(std::int64_t elements, std::int64_t side) {
    return ceilDiv(elements, side) * side;
}

// Order of Gemmini's arguments: images, output rows, output columns, output channels, filter rows and columns, input
// channels.
using Tile = std::array<std::int64_t, 7>;
enum { Images, OutRows, OutColumns, OutChannels, FilterRows, FilterColumns, InChannels };

struct ConvTiler {
    std::int64_t stride, height, width;  ///< of the array: along input channels, along output channels
    Room room;
    Tile most;

    bool fits(const Tile& t) const {
        const std::int64_t rows = (t[OutRows] - 1) * stride + t[FilterRows];
        const std::int64_t columns = (t[OutColumns] - 1) * stride + t[FilterColumns];
        const std::int64_t inputs = filled(t[InChannels], height) * t[Images] * rows * columns;
        const std::int64_t weights = filled(t[OutChannels], width) * t[FilterRows] * t[FilterColumns] * t[InChannels];
        const std::int64_t outputs = filled(t[OutChannels], width) * t[Images] * t[OutRows] * t[OutColumns];
        return inputs + weights <= room.scratchpad && outputs <= room.accumulator;
    }

    // Fewer channels than a side of the array would leave it idle: pixels go first. Gemmini, whose array is small
    // beside its scratchpad, never comes so far.
    bool shrink(Tile& t) const { return shrink(t, true) || shrink(t, false); }

    bool shrink(Tile& t, bool keepsArray) const {
        int pick = -1;
        std::int64_t largest = 1;
        for (int i = 0; i < 7; ++i) {
            // Fewer columns than the array has rows would leave it idle, so rows go first.
            if (keepsArray &&
                ((i == OutChannels && t[OutChannels] <= width) || (i == InChannels && t[InChannels] <= height)))
                continue;
            if (i == OutColumns && t[OutColumns] <= height && t[OutRows] > 1) continue;
            if (t[static_cast<std::size_t>(i)] > largest) largest = t[static_cast<std::size_t>(i)], pick = i;
        }
        if (pick < 0) return false;
        auto& value = t[static_cast<std::size_t>(pick)];
        if (pick == OutChannels || pick == InChannels) {
            const std::int64_t side = pick == OutChannels ? width : height;
            value = std::max<std::int64_t>(value % side != 0 ? value / side * side : value - side, 1);
        } else {
            --value;
        }
        return true;
    }

    bool grow(Tile& t, std::size_t i) const {
        Tile more = t;
        ++more[i];
        if (more[i] > most[i] || !fits(more)) return false;
        t = more;
        return true;
    }

    Tile tile() const {
        Tile t = most;
        while (!fits(t) && shrink(t)) {
        }
        while (grow(t, OutColumns)) {
        }
        for (bool grown = true; grown;) {
            grown = false;
            for (std::size_t i = 0; i < t.size(); ++i) grown = grow(t, i) || grown;
        }
        return t;
    }
};

TileLoops covering(const TileLoops& total, const TileLoops& inner) {
    return {ceilDiv(total.n, inner.n), ceilDiv(total.c, inner.c), ceilDiv(total.m, inner.m), ceilDiv(total.p, inner.p),
            ceilDiv(total.q, inner.q), ceilDiv(total.s, inner.s), ceilDiv(total.r, inner.r)};
}

}  // namespace

TileMapping gemminiTiling(std::int64_t rows, std::int64_t depth, std::int64_t columns, std::int64_t element,
                          const NpuMachine& machine) {
    const std::int64_t height = machine.height, width = machine.width;
    const Room room = roomOf(element, machine);
    const std::int64_t blocks = std::max<std::int64_t>(room.accumulator / (height * width), 1);
    const auto square = std::max<std::int64_t>(static_cast<std::int64_t>(std::sqrt(static_cast<double>(blocks))), 1);
    const std::int64_t deep =
        std::max<std::int64_t>(room.scratchpad / 2 / (height * std::max(height, width)) / square, 1);
    std::int64_t i = std::min(ceilDiv(rows, height), square);
    std::int64_t j = std::min(ceilDiv(columns, width), square);
    std::int64_t k = std::min(ceilDiv(depth, height), deep);
    const auto fits = [&](std::int64_t ti, std::int64_t tj, std::int64_t tk) {
        return tk * height * (ti * height + tj * width) <= room.scratchpad &&
               ti * height * tj * width <= room.accumulator;
    };
    // Beside a large accumulator, or of an array far from square, one block of depth may be too much for so many.
    while (!fits(i, j, k) && i * j * k > 1) --(i > 1 && (j == 1 || i * height >= j * width) ? i : j > 1 ? j : k);
    for (bool grown = true; grown;) {
        grown = false;
        if (j * width < columns && fits(i, j + 1, k)) ++j, grown = true;
        if (i * height < rows && fits(i + 1, j, k)) ++i, grown = true;
        if (k * height < depth && fits(i, j, k + 1)) ++k, grown = true;
    }
    TileMapping mapping;
    mapping.total = {rows, depth, columns, 1, 1, 1, 1};
    mapping.inner = {std::min(i * height, rows), std::min(k * height, depth), std::min(j * width, columns), 1, 1, 1, 1};
    mapping.outer = covering(mapping.total, mapping.inner);
    return mapping;
}

TileMapping gemminiTiling(const TileLoops& layer, std::int64_t stride, std::int64_t element,
                          const NpuMachine& machine) {
    // Of a 1 × 1 filter with a stride only the pixels that it meets are fetched.
    const bool pointwise = layer.r == 1 && layer.s == 1;
    const ConvTiler tiler{pointwise ? 1 : stride,
                          machine.height,
                          machine.width,
                          roomOf(element, machine),
                          {layer.n, layer.p, layer.q, layer.m, layer.r, layer.s, layer.c}};
    const Tile t = tiler.tile();
    TileMapping mapping;
    mapping.total = layer;
    mapping.inner = {t[Images],     t[InChannels],    t[OutChannels], t[OutRows],
                     t[OutColumns], t[FilterColumns], t[FilterRows]};
    mapping.outer = covering(mapping.total, mapping.inner);
    return mapping;
}

}  // namespace orrery
