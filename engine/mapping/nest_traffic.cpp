#include "mapping/nest_traffic.h"

#include <algorithm>

namespace orrery::nest {
namespace {

// The temporal loops, inner to outer, with what lies outside of each.
struct Sequence {
    std::size_t count = 0;
    std::array<std::uint16_t, maxLoops> loop;
    std::array<double, maxLoops> outside;        ///< iterations of all loops further out
    std::array<std::uint16_t, maxLevels> first;  ///< first loop of this level or further out
};

void order(const FlatNest& flat, Sequence& sequence) {
    sequence.count = 0;
    for (std::size_t l = 0; l < flat.levels; ++l) {
        sequence.first[l] = static_cast<std::uint16_t>(sequence.count);
        for (std::size_t i = flat.spatialEnd[l]; i < flat.end[l]; ++i) {
            sequence.loop[sequence.count++] = static_cast<std::uint16_t>(i);
        }
    }
    double outside = 1;
    for (std::size_t k = sequence.count; k-- > 0;) {
        sequence.outside[k] = outside;
        outside *= static_cast<double>(flat.loops[sequence.loop[k]].bound);
    }
}

// Words of a tile that are not in the same tile `step` before.
double fresh(const Coordinates& span, const Coordinates& step, std::size_t ranks, double tile) {
    double common = 1;
    for (std::size_t r = 0; r < ranks; ++r) {
        common *= static_cast<double>(std::max<std::int64_t>(0, span[r] - (step[r] < 0 ? -step[r] : step[r])));
    }
    return tile - common;
}

bool equal(const Coordinates& a, const Coordinates& b, std::size_t ranks) {
    for (std::size_t r = 0; r < ranks; ++r) {
        if (a[r] != b[r]) return false;
    }
    return true;
}

// Takes back what children get from their neighbours: `times` deliveries of `tile` words each.
void link(SpatialPositions& positions, const Coordinates& step, double tile, double times, Flow& flow) {
    if (tile <= 0 || times <= 0) return;
    const auto found = positions.links(step);
    if (found.distinctUnlinked >= positions.distinct()) return;
    flow.accesses -= tile * times * static_cast<double>(positions.distinct() - found.distinctUnlinked);
    flow.delivered -= tile * times * static_cast<double>(found.linked);
    flow.links += tile * times * static_cast<double>(found.linked);
}

// Arithmetic units hold nothing: every iteration delivers one word to each.
Flow arithmeticFlow(const FlatNest& flat, const Sequence& sequence, const Projection& projection, double cycles,
                    SpatialPositions& positions) {
    Flow flow{cycles * static_cast<double>(positions.distinct()), cycles * static_cast<double>(positions.fanOut()), 0};
    if (positions.fanOut() == 1) return flow;
    Coordinates back{};
    for (std::size_t k = 0; k < sequence.count; ++k) {
        const FlatLoop& loop = flat.loops[sequence.loop[k]];
        Coordinates forth{}, step;
        projection.add(loop.dimension, loop.stride, forth);
        for (std::size_t r = 0; r < projection.ranks; ++r) step[r] = forth[r] - back[r], back[r] += forth[r];
        if (positions.mayLink(step)) {
            link(positions, step, 1, static_cast<double>(loop.bound - 1) * sequence.outside[k], flow);
        }
    }
    return flow;
}

// The step of a tile where loop k goes on and all loops inside it begin again depends on k alone: forth by its own
// stride, back by one stride of every inner loop (of which only the first two iterations are told apart).
Flow tileFlow(const FlatNest& flat, const Sequence& sequence, std::size_t level, const Projection& projection,
              const Coordinates& span, double tile, SpatialPositions& positions) {
    const std::size_t ranks = projection.ranks, first = sequence.first[level];
    Flow flow{tile, tile, 0};
    const auto finish = [&] {
        flow.delivered = flow.accesses * static_cast<double>(positions.fanOut());
        flow.accesses *= static_cast<double>(positions.distinct());
    };
    if (first == sequence.count) {
        finish();
        return flow;
    }
    const FlatLoop& innermost = flat.loops[sequence.loop[first]];
    Coordinates step0{}, back;
    projection.add(innermost.dimension, innermost.stride, step0);
    const double reduced = fresh(span, step0, ranks, tile);
    const bool disjoint = reduced == tile;
    const double again = static_cast<double>(innermost.bound - 1);
    flow.accesses += reduced * again * sequence.outside[first];
    double sameStride = 0;  // outer steps that equal the innermost one
    back = step0;
    for (std::size_t k = first + 1; k < sequence.count; ++k) {
        const FlatLoop& loop = flat.loops[sequence.loop[k]];
        Coordinates forth{}, step;
        projection.add(loop.dimension, loop.stride, forth);
        for (std::size_t r = 0; r < ranks; ++r) step[r] = forth[r] - back[r], back[r] += forth[r];
        const double times = static_cast<double>(loop.bound - 1) * sequence.outside[k];
        const bool same = equal(step, step0, ranks);
        if (same) sameStride += times;
        flow.accesses += times * (same ? reduced : tile);
    }
    finish();
    if (positions.fanOut() == 1) return flow;
    // A neighbour held the wanted words just before only if its own last delivery was of the same shape.
    const double repeats = again * (disjoint ? sequence.outside[first] : sameStride);
    if (positions.mayLink(step0)) link(positions, step0, reduced, repeats, flow);
    back = step0;
    for (std::size_t k = first + 1; k < sequence.count; ++k) {
        const FlatLoop& loop = flat.loops[sequence.loop[k]];
        Coordinates forth{}, step;
        projection.add(loop.dimension, loop.stride, forth);
        for (std::size_t r = 0; r < ranks; ++r) step[r] = forth[r] - back[r], back[r] += forth[r];
        const bool same = equal(step, step0, ranks);
        if ((same || disjoint) && positions.mayLink(step)) {
            link(positions, step, same ? reduced : tile, static_cast<double>(loop.bound - 1) * sequence.outside[k],
                 flow);
        }
    }
    return flow;
}

}  // namespace

void perfectTraffic(const Frame& frame, const FlatNest& flat, SpatialPositions& positions, Traffic& traffic) {
    Sequence sequence;
    order(flat, sequence);
    traffic.cycles = 1;
    for (std::size_t k = 0; k < sequence.count; ++k) {
        traffic.cycles *= static_cast<double>(flat.loops[sequence.loop[k]].bound);
    }
    traffic.tile = flat.tile;
    for (std::size_t l = 0; l < flat.levels; ++l) {
        const bool spatialAbove = l + 1 < flat.levels && flat.spatialEnd[l + 1] > flat.begin[l + 1];
        for (std::size_t t = 0; t < frame.tensors; ++t) {
            traffic.shared[l][t] = spatialAbove ? flat.spatialTile[l + 1][t] : flat.tile[l][t];
            positions.select(frame, flat, l, t);
            traffic.flow[l][t] = l == 0
                                     ? arithmeticFlow(flat, sequence, frame.projections[t], traffic.cycles, positions)
                                     : tileFlow(flat, sequence, l, frame.projections[t], flat.span[l - 1][t],
                                                flat.tile[l - 1][t], positions);
        }
    }
}

}  // namespace orrery::nest
