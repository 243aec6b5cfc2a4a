#include "base/maths.h"
#include "simulation/npu/tile_mapping.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

// Rows of the scratchpad and of the accumulator, of one array side of elements each; half of them for one tile.
struct Room {
    std::int64_t scratchpad, accumulator;
};

Room roomOf(std::int64_t element, const NpuMachine& machine) {
    return {machine.scratchpad / (machine.width * element) / 2,
            machine.accumulator / (machine.width * machine.accumulatorElement) / 2};
}

// Order of Gemmini's arguments: images, output rows, output columns, output channels, filter rows and columns, input
// channels.
using Tile = std::array<std::int64_t, 7>;
enum { Images, OutRows, OutColumns, OutChannels, FilterRows, FilterColumns, InChannels };

struct ConvTiler {
    std::int64_t stride, side;
    Room room;
    Tile most;

    bool fits(const Tile& t) const {
        const std::int64_t rows = (t[OutRows] - 1) * stride + t[FilterRows];
        const std::int64_t columns = (t[OutColumns] - 1) * stride + t[FilterColumns];
        const std::int64_t inputs = ceilDiv(t[InChannels], side) * t[Images] * rows * columns;
        const std::int64_t weights = ceilDiv(t[OutChannels], side) * t[FilterRows] * t[FilterColumns] * t[InChannels];
        const std::int64_t outputs = ceilDiv(t[OutChannels], side) * t[Images] * t[OutRows] * t[OutColumns];
        return inputs + weights <= room.scratchpad && outputs <= room.accumulator;
    }

    bool shrink(Tile& t) const {
        int pick = -1;
        std::int64_t largest = 1;
        for (int i = 0; i < 7; ++i) {
            // Fewer columns than the array has rows would leave it idle, so rows go first.
            if (i == OutColumns && t[OutColumns] <= side && t[OutRows] > 1) continue;
            if (t[static_cast<std::size_t>(i)] > largest) largest = t[static_cast<std::size_t>(i)], pick = i;
        }
        if (pick < 0) return false;
        auto& value = t[static_cast<std::size_t>(pick)];
        if (pick == OutChannels || pick == InChannels) {
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
    const std::int64_t side = machine.width;
    const Room room = roomOf(element, machine);
    const std::int64_t blocks = std::max<std::int64_t>(room.accumulator / side, 1);
    const auto square = std::max<std::int64_t>(static_cast<std::int64_t>(std::sqrt(static_cast<double>(blocks))), 1);
    const std::int64_t deep = std::max<std::int64_t>(room.scratchpad / 2 / side / square, 1);
    std::int64_t i = std::min(ceilDiv(rows, side), square);
    std::int64_t j = std::min(ceilDiv(columns, side), square);
    std::int64_t k = std::min(ceilDiv(depth, side), deep);
    const auto fits = [&](std::int64_t ti, std::int64_t tj, std::int64_t tk) {
        return (ti * tk + tk * tj) * side <= room.scratchpad && ti * tj * side <= room.accumulator;
    };
    for (bool grown = true; grown;) {
        grown = false;
        if (j * side < columns && fits(i, j + 1, k)) ++j, grown = true;
        if (i * side < rows && fits(i + 1, j, k)) ++i, grown = true;
        if (k * side < depth && fits(i, j, k + 1)) ++k, grown = true;
    }
    TileMapping mapping;
    mapping.total = {rows, depth, columns, 1, 1, 1, 1};
    mapping.inner = {std::min(i * side, rows), std::min(k * side, depth), std::min(j * side, columns), 1, 1, 1, 1};
    mapping.outer = covering(mapping.total, mapping.inner);
    return mapping;
}

TileMapping gemminiTiling(const TileLoops& layer, std::int64_t stride, std::int64_t element,
                          const NpuMachine& machine) {
    // Of a 1 × 1 filter with a stride only the pixels that it meets are fetched.
    const bool pointwise = layer.r == 1 && layer.s == 1;
    const ConvTiler tiler{pointwise ? 1 : stride,
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
