#include "mapping/bounds/bound_space.h"

#include <algorithm>

namespace orrery::bounds {
namespace {

std::vector<Choice> choicesOf(std::int64_t extent, bool any) {
    std::vector<Choice> choices;
    const auto add = [&](std::int64_t tile) {
        const std::int64_t count = (extent + tile - 1) / tile;
        choices.push_back({static_cast<double>(tile),
                           static_cast<double>(count),
                           count * tile != extent,
                           {static_cast<std::int32_t>(tile), 1, 1, 1}});
    };
    if (any) {
        // The smallest tile of every count.
        for (std::int64_t count = 1; count <= extent;) {
            const std::int64_t tile = (extent + count - 1) / count;
            add(tile);
            if (tile == 1) break;
            count = (extent + tile - 2) / (tile - 1);
        }
    } else {
        for (std::int64_t d = 1; d * d <= extent; ++d) {
            if (extent % d != 0) continue;
            add(d);
            if (d * d != extent) add(extent / d);
        }
    }
    std::sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) { return a.tile < b.tile; });
    return choices;
}

/// Adds a dimension to a plain axis: products of tiles and of counts, without those that another beats in both.
void widen(Axis& axis, std::uint8_t dimension, const std::vector<Choice>& more) {
    const std::size_t at = axis.dimensions.size();
    std::vector<Choice> all;
    all.reserve(axis.choices.size() * more.size());
    for (const Choice& a : axis.choices) {
        for (const Choice& b : more) {
            Choice both = a;
            both.tile *= b.tile;
            both.count *= b.count;
            both.ragged = a.ragged || b.ragged;
            both.tiles[at] = b.tiles[0];
            all.push_back(both);
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Choice& a, const Choice& b) {
        return a.tile != b.tile ? a.tile < b.tile : a.count != b.count ? a.count < b.count : a.ragged < b.ragged;
    });
    axis.choices.clear();
    for (const Choice& choice : all) {
        if (axis.choices.empty() || choice.count < axis.choices.back().count) axis.choices.push_back(choice);
    }
    axis.dimensions.push_back(dimension);
}

}  // namespace

Expected<Space> makeSpace(const NestProblem& problem, const BoundOptions& options) {
    Space space;
    space.problem = &problem;
    const NestHardware machine = twoLevelMachine(1);
    auto frame = nest::makeFrame(problem, machine);
    if (!frame) return Unexpected(frame.error());
    space.frame = std::move(*frame);
    space.frame.hardware = nullptr;
    const std::size_t dimensions = problem.dimensions.size(), tensors = problem.tensors.size();
    // A rank is plain where one dimension longer than 1 moves it by one.
    Mask windows = 0;
    std::vector<Mask> moves(dimensions, 0);
    for (std::size_t t = 0; t < tensors; ++t) {
        Mask before = 0;
        for (const TensorRank& rank : problem.tensors[t].ranks) {
            Mask inRank = 0, twice = 0;
            bool strided = false;
            for (const ProjectionTerm& term : rank.terms) {
                if (problem.extents[term.dimension] <= 1) continue;
                const Mask bit = Mask{1} << term.dimension;
                twice |= inRank & bit;
                inRank |= bit;
                strided = strided || term.coefficient != 1;
                moves[term.dimension] |= Mask{1} << t;
            }
            // A dimension in two ranks of one tensor moves along a diagonal.
            const Mask diagonal = inRank & before;
            before |= inRank;
            if (strided || twice || diagonal || (inRank & (inRank - 1))) windows |= inRank | diagonal;
        }
    }
    for (std::size_t d = 0; d < dimensions; ++d) {
        if (problem.extents[d] <= 1 || !(windows >> d & 1u)) continue;
        space.axes.push_back({{static_cast<std::uint8_t>(d)},
                              choicesOf(problem.extents[d], false),
                              moves[d],
                              false,
                              static_cast<double>(problem.extents[d])});
    }
    space.windows = space.axes.size();
    for (std::size_t d = 0; d < dimensions; ++d) {
        if (problem.extents[d] <= 1 || windows >> d & 1u) continue;
        const auto choices = choicesOf(problem.extents[d], options.anyTile);
        const auto dimension = static_cast<std::uint8_t>(d);
        const auto alike = std::find_if(
            space.axes.begin() + static_cast<std::ptrdiff_t>(space.windows), space.axes.end(), [&](const Axis& axis) {
                return axis.tensors == moves[d] && axis.dimensions.size() < Choice{}.tiles.size();
            });
        if (alike == space.axes.end()) {
            space.axes.push_back({{dimension}, choices, moves[d], true, static_cast<double>(problem.extents[d])});
        } else {
            widen(*alike, dimension, choices);
            alike->extent *= static_cast<double>(problem.extents[d]);
        }
    }
    for (std::size_t t = 0; t < tensors; ++t) {
        space.size[t] = problem.size(t);
        space.plain[t] = 1;
        for (const Axis& axis : space.axes) {
            if (axis.plain && axis.tensors >> t & 1u) space.plain[t] *= axis.extent;
        }
    }
    return space;
}

}  // namespace orrery::bounds
