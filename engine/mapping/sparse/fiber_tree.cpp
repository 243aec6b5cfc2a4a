#include "mapping/sparse/fiber_tree.h"

#include <algorithm>

namespace orrery {

namespace {

struct RankLoop {
    std::uint8_t dimension = 0;
    std::int64_t bound = 1;
    TileShape tile;
};

/// Loops over the tensor between the level below and this one, inner to outer.
std::vector<RankLoop> loopsOf(const NestMolds& molds, const FiberTreeInput& input, bool pretiled) {
    const std::uint32_t wanted = dimensionsOf(*input.tensor);
    const auto first = static_cast<std::size_t>(input.child + 1);
    std::vector<RankLoop> loops;
    for (std::size_t l = first; l <= static_cast<std::size_t>(input.level); ++l)
        for (const MoldedLoop& molded : molds.levels[l])
            if (wanted >> molded.loop.dimension & 1u)
                loops.push_back({molded.loop.dimension, molded.loop.bound, tileShape(*input.tensor, molded.extents)});
    if (pretiled || input.child < 0) return loops;
    // Not cut as below: ranks run over all coordinates, so the innermost loop of a dimension takes what is inside too.
    const NestExtents& inner = molds.tiles[static_cast<std::size_t>(input.child)];
    std::vector<RankLoop> missing;
    for (std::uint8_t d = 0; d < maxNestDimensions; ++d) {
        if (!(wanted >> d & 1u) || inner[d] <= 1) continue;
        const auto at =
            std::find_if(loops.begin(), loops.end(), [d](const RankLoop& loop) { return loop.dimension == d; });
        if (at != loops.end())
            at->bound *= inner[d];
        else
            missing.push_back({d, inner[d], tileShape(*input.tensor, inner)});
    }
    loops.insert(loops.begin(), missing.begin(), missing.end());
    return loops;
}

/// The alternative of a rank's flattening rule that has this dimension; 0: none. Without a rule, just this dimension's
/// loop is taken, told by `free`.
std::uint32_t ruleFor(const TensorFormat& format, std::size_t rank, std::uint8_t dimension, bool& free) {
    free = format.ranks[rank].flattened.empty();
    for (const std::uint32_t mask : format.ranks[rank].flattened)
        if (mask >> dimension & 1u) return mask;
    return 0;
}

class Assignment {
public:
    Assignment(const NestTensor& tensor, FiberTree& tree) : tensor_(tensor), tree_(tree) { clear(); }
    void take(const RankLoop& loop) {
        bounds_[loop.dimension] *= loop.bound;
        if (loop.tile.size() > tile_.size()) tile_ = loop.tile;
    }
    void close(std::size_t rank) {
        tree_.ranks[rank] = {tileShape(tensor_, bounds_).size(), tile_};
        clear();
    }

private:
    void clear() {
        bounds_.fill(1);
        tile_ = tileShape(tensor_, bounds_);
    }
    const NestTensor& tensor_;
    FiberTree& tree_;
    NestExtents bounds_{};
    TileShape tile_;
};

}  // namespace

void NestMolds::build(const NestMapping& mapping) {
    levels.resize(mapping.levels.size());
    tiles.resize(mapping.levels.size());
    NestExtents extents;
    extents.fill(1);
    for (std::size_t l = 0; l < mapping.levels.size(); ++l) {
        levels[l].clear();
        for (const NestLoop& loop : mapping.levels[l].loops) {
            if (loop.bound <= 1) continue;
            extents[loop.dimension] *= loop.bound;
            levels[l].push_back({loop, extents});
        }
        tiles[l] = extents;
    }
}

NestExtents NestMolds::inside(std::size_t level, std::size_t index) const {
    NestExtents extents = levels[level][index].extents;
    extents[levels[level][index].loop.dimension] /= levels[level][index].loop.bound;
    return extents;
}

std::uint32_t dimensionsOf(const NestTensor& tensor) {
    std::uint32_t mask = 0;
    for (const TensorRank& rank : tensor.ranks)
        for (const ProjectionTerm& term : rank.terms) mask |= 1u << term.dimension;
    return mask;
}

FormatFault buildFiberTree(const NestMolds& molds, const FiberTreeInput& input, FiberTree& out) {
    const TensorFormat& format = *input.format;
    const bool metadata = format.hasMetadata();
    const std::size_t count = metadata ? format.ranks.size() : 1;
    out.innerToOuter = format.innerToOuter;
    out.ranks.assign(count, {});

    const bool pretiled = format.compressed() && input.child >= 0 && input.childTile > 1;
    std::size_t inner = 0;
    if (pretiled) {
        inner = input.childTree->ranks.size();
        if (inner > count) return FormatFault::ChildRanks;
        if (input.childFormat->compressed())
            for (std::size_t r = 0; r < inner; ++r)
                if (format.ranks[r].format != input.childFormat->ranks[r].format) return FormatFault::ChildFormat;
        std::copy(input.childTree->ranks.begin(), input.childTree->ranks.end(), out.ranks.begin());
    }

    std::vector<RankLoop> loops = loopsOf(molds, input, pretiled);
    const bool outward = format.innerToOuter;
    if (!outward) std::reverse(loops.begin(), loops.end());
    Assignment assignment(*input.tensor, out);
    for (std::size_t r = inner; r < count; ++r) assignment.close(r);
    std::size_t next = 0;
    for (std::size_t step = 0; step < count - inner && next < loops.size(); ++step) {
        const std::size_t rank = outward ? inner + step : count - 1 - step;
        bool free = true;
        const std::uint32_t rule = metadata ? ruleFor(format, rank, loops[next].dimension, free) : ~0u;
        if (metadata && !free && rule == 0) continue;  // this rank stays without a loop
        assignment.take(loops[next++]);
        while (rule != 0 && next < loops.size() && (rule >> loops[next].dimension & 1u)) assignment.take(loops[next++]);
        assignment.close(rank);
    }
    if (next < loops.size()) return FormatFault::TooFewRanks;
    for (std::size_t r = std::max<std::size_t>(inner, 1); r < count; ++r)
        if (out.ranks[r].fiberShape <= 1) out.ranks[r].tile = out.ranks[r - 1].tile;
    return FormatFault::None;
}

}  // namespace orrery
