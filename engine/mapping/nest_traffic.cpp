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

// One tensor's step per loop of the sequence.
struct Steps {
    std::size_t ranks = 0;
    std::array<Coordinates, maxLoops> forth;  ///< only the first `ranks` numbers are set
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

void follow(const FlatNest& flat, const Sequence& sequence, const Projection& projection, Steps& steps) {
    steps.ranks = projection.ranks;
    for (std::size_t k = 0; k < sequence.count; ++k) {
        const FlatLoop& loop = flat.loops[sequence.loop[k]];
        for (std::size_t r = 0; r < steps.ranks; ++r) steps.forth[k][r] = 0;
        projection.add(loop.dimension, loop.stride, steps.forth[k]);
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

// The step of a tile where loop k goes on and all loops inside it begin again depends on k alone: forth by its own
// stride, back by one stride of every inner loop (of which only the first two iterations are told apart). Adds loop k
// to `back`.
inline void stepOf(const Steps& steps, std::size_t k, Coordinates& back, Coordinates& step) {
    for (std::size_t r = 0; r < steps.ranks; ++r) {
        step[r] = steps.forth[k][r] - back[r];
        back[r] += steps.forth[k][r];
    }
}

// Arithmetic units hold nothing: every iteration delivers one word to each.
Flow arithmeticFlow(const FlatNest& flat, const Sequence& sequence, const Steps& steps, double cycles,
                    SpatialPositions& positions) {
    Flow flow{cycles * static_cast<double>(positions.distinct()), cycles * static_cast<double>(positions.fanOut()), 0};
    if (positions.fanOut() == 1) return flow;
    Coordinates back{}, step{};
    for (std::size_t k = 0; k < sequence.count; ++k) {
        stepOf(steps, k, back, step);
        if (!positions.mayLink(step)) continue;
        const double times = static_cast<double>(flat.loops[sequence.loop[k]].bound - 1) * sequence.outside[k];
        link(positions, step, 1, times, flow);
    }
    return flow;
}

Flow tileFlow(const FlatNest& flat, const Sequence& sequence, std::size_t level, const Steps& steps,
              const Coordinates& span, double tile, SpatialPositions& positions) {
    const std::size_t ranks = steps.ranks, first = sequence.first[level];
    const auto times = [&](std::size_t k) {
        return static_cast<double>(flat.loops[sequence.loop[k]].bound - 1) * sequence.outside[k];
    };
    const auto children = static_cast<double>(positions.fanOut()), distinct = static_cast<double>(positions.distinct());
    if (first == sequence.count) return {tile * distinct, tile * children, 0};
    const Coordinates& step0 = steps.forth[first];
    const double reduced = fresh(span, step0, ranks, tile);
    const double again = static_cast<double>(flat.loops[sequence.loop[first]].bound - 1);
    double words = tile + reduced * times(first);
    double sameStride = 0;  // outer steps that equal the innermost one
    Coordinates back, step;
    for (std::size_t r = 0; r < ranks; ++r) back[r] = step0[r];
    for (std::size_t k = first + 1; k < sequence.count; ++k) {
        stepOf(steps, k, back, step);
        const bool same = equal(step, step0, ranks);
        if (same) sameStride += times(k);
        words += times(k) * (same ? reduced : tile);
    }
    Flow flow{words * distinct, words * children, 0};
    if (positions.fanOut() == 1) return flow;
    // A neighbour held the wanted words just before only if its own last delivery was of the same shape.
    const bool disjoint = reduced == tile;
    const double repeats = again * (disjoint ? sequence.outside[first] : sameStride);
    if (positions.mayLink(step0)) link(positions, step0, reduced, repeats, flow);
    for (std::size_t r = 0; r < ranks; ++r) back[r] = step0[r];
    for (std::size_t k = first + 1; k < sequence.count; ++k) {
        stepOf(steps, k, back, step);
        const bool same = equal(step, step0, ranks);
        if ((same || disjoint) && positions.mayLink(step)) link(positions, step, same ? reduced : tile, times(k), flow);
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
    Steps steps;
    for (std::size_t t = 0; t < frame.tensors; ++t) {
        follow(flat, sequence, frame.projections[t], steps);
        for (std::size_t l = 0; l < flat.levels; ++l) {
            const bool spatialAbove = l + 1 < flat.levels && flat.spatialEnd[l + 1] > flat.begin[l + 1];
            traffic.tile[l][t] = flat.tile[l][t];
            traffic.shared[l][t] = spatialAbove ? flat.spatialTile[l + 1][t] : flat.tile[l][t];
            positions.select(frame, flat, l, t);
            traffic.flow[l][t] =
                l == 0 ? arithmeticFlow(flat, sequence, steps, traffic.cycles, positions)
                       : tileFlow(flat, sequence, l, steps, flat.span[l - 1][t], flat.tile[l - 1][t], positions);
        }
    }
}

}  // namespace orrery::nest
