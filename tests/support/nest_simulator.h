#pragma once

// A slow twin of the loop-nest model: every iteration is walked, every tile is a set of coordinates, and transfers are
// counted one by one. Shares no code with the engine.

#include "mapping/nest_mapping.h"
#include "mapping/problem.h"

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace orrery::test {

using Point = std::vector<std::int64_t>;
using Points = std::set<Point>;

struct SimulatedCounts {
    double accesses = 0;   ///< words that one instance reads for (or takes from) its children; multicasts once
    double fills = 0;      ///< words that arrive at one instance from its parent
    double partition = 0;  ///< different words that pass through one instance
    double tile = 0;       ///< most words held at once
};

class NestSimulator {
public:
    NestSimulator(const NestProblem& problem, const NestMapping& mapping) : problem_(problem), mapping_(mapping) {
        std::vector<std::int64_t> stride(problem.dimensions.size(), 1);
        for (std::size_t l = 0; l < mapping.levels.size(); ++l) {
            for (const bool temporal : {false, true}) {
                for (const NestLoop& loop : mapping.levels[l].loops) {
                    if ((loop.kind == LoopKind::Temporal) != temporal) continue;
                    loops_.push_back({loop, l, stride[loop.dimension]});
                    stride[loop.dimension] *= loop.bound;
                }
            }
            reach_.push_back(stride);
        }
    }

    /// Average over the instances of level l, for what it exchanges with level `child` (-1: arithmetic).
    SimulatedCounts counts(std::size_t tensor, std::size_t level, int child) const {
        SimulatedCounts total;
        const auto instances = choices(level, static_cast<int>(mapping_.levels.size()), false);
        for (const auto& instance : instances) {
            Points all;
            for (const auto& time : choices(child < 0 ? -1 : child, static_cast<int>(mapping_.levels.size()), true)) {
                if (!exists(instance, time)) continue;
                const Points now = tile(tensor, static_cast<int>(level), instance, time);
                total.tile = std::max(total.tile, static_cast<double>(now.size()));
                all.insert(now.begin(), now.end());
            }
            total.partition += static_cast<double>(all.size());
            total.accesses += accessesOf(tensor, level, child, instance);
        }
        total.partition /= static_cast<double>(instances.size());
        total.accesses /= static_cast<double>(instances.size());
        return total;
    }

    /// Words that a child receives, averaged over the children.
    double received(std::size_t tensor, std::size_t level, int child) const {
        double sum = 0;
        const auto instances = choices(level, static_cast<int>(mapping_.levels.size()), false);
        std::size_t children = 0;
        for (const auto& instance : instances) {
            for (const auto& each : childrenOf(level, child, instance)) {
                ++children;
                Follower follower;
                for (const auto& time : choices(child, static_cast<int>(mapping_.levels.size()), true)) {
                    if (!exists(each, time)) continue;
                    sum += static_cast<double>(follower.step(tile(tensor, child, each, time)).size());
                }
            }
        }
        return sum / static_cast<double>(children);
    }

private:
    struct Loop {
        NestLoop loop;
        std::size_t level = 0;
        std::int64_t stride = 1;
    };
    using Choice = std::map<std::size_t, std::int64_t>;  ///< loop → index

    // A holder of tiles: what is new in the next one. Another stride than before fetches all of it.
    struct Follower {
        bool any = false, moved = false;
        Points held;
        Point centre, stride;

        Points step(const Points& next) {
            Point sum(next.begin()->size(), 0);
            for (std::size_t r = 0; r < sum.size(); ++r) {
                std::int64_t low = (*next.begin())[r], high = low;
                for (const Point& p : next) low = std::min(low, p[r]), high = std::max(high, p[r]);
                sum[r] = low + high;
            }
            Points fresh = next;
            if (any) {
                Point way = sum;
                for (std::size_t r = 0; r < sum.size(); ++r) way[r] -= centre[r];
                if (!moved || way == stride) {
                    for (const Point& p : held) fresh.erase(p);
                    moved = true;
                    stride = way;
                } else {
                    moved = false;
                }
            }
            any = true;
            held = next;
            centre = sum;
            return fresh;
        }
    };

    // All choices of the temporal (or spatial) loops of levels in (after, before), outermost loop slowest; spatial ones
    // of level `after` itself belong to its children.
    std::vector<Choice> choices(int after, int before, bool temporal) const {
        std::vector<Choice> all{{}};
        for (std::size_t i = loops_.size(); i-- > 0;) {
            const Loop& l = loops_[i];
            const bool is = l.loop.kind == LoopKind::Temporal;
            if (is != temporal || static_cast<int>(l.level) <= after || static_cast<int>(l.level) >= before) continue;
            std::vector<Choice> next;
            for (const Choice& one : all) {
                for (std::int64_t n = 0; n < l.loop.bound; ++n) {
                    next.push_back(one);
                    next.back()[i] = n;
                }
            }
            all = std::move(next);
        }
        return all;
    }
    std::vector<Choice> choices(std::size_t after, int before, bool temporal) const {
        return choices(static_cast<int>(after), before, temporal);
    }

    std::vector<Choice> childrenOf(std::size_t level, int child, const Choice& instance) const {
        std::vector<Choice> children;
        for (const Choice& inside : choices(child, static_cast<int>(level) + 1, false)) {
            children.push_back(instance);
            children.back().insert(inside.begin(), inside.end());
        }
        return children;
    }

    std::vector<std::int64_t> origin(const Choice& space, const Choice& time) const {
        std::vector<std::int64_t> at(problem_.dimensions.size(), 0);
        for (const Choice* choice : {&space, &time}) {
            for (const auto& [loop, index] : *choice) at[loops_[loop].loop.dimension] += index * loops_[loop].stride;
        }
        return at;
    }
    bool exists(const Choice& space, const Choice& time) const {
        const auto at = origin(space, time);
        for (std::size_t d = 0; d < at.size(); ++d) {
            if (at[d] >= problem_.extents[d]) return false;
        }
        return true;
    }

    // Coordinates that level l (-1: an arithmetic unit) holds, a box as every buffer of it is.
    Points tile(std::size_t tensor, int level, const Choice& space, const Choice& time) const {
        Choice outside;
        for (const auto& [loop, index] : time) {
            if (static_cast<int>(loops_[loop].level) > level) outside[loop] = index;
        }
        const auto at = origin(space, outside);
        Point low, high;
        for (const TensorRank& rank : problem_.tensors[tensor].ranks) {
            std::int64_t from = 0, to = 0;
            for (const ProjectionTerm& term : rank.terms) {
                const std::int64_t whole = level < 0 ? 1 : reach_[static_cast<std::size_t>(level)][term.dimension];
                const std::int64_t extent = std::min(whole, problem_.extents[term.dimension] - at[term.dimension]);
                from += term.coefficient * at[term.dimension];
                to += term.coefficient * (at[term.dimension] + extent - 1);
            }
            low.push_back(from);
            high.push_back(to);
        }
        Points points;
        Point p = low;
        while (true) {
            points.insert(p);
            std::size_t r = 0;
            for (; r < p.size() && ++p[r] > high[r]; ++r) p[r] = low[r];
            if (r == p.size()) return points;
        }
    }

    double accessesOf(std::size_t tensor, std::size_t level, int child, const Choice& instance) const {
        const auto children = childrenOf(level, child, instance);
        std::vector<Follower> followers(children.size());
        double sum = 0;
        for (const auto& time : choices(child, static_cast<int>(mapping_.levels.size()), true)) {
            std::set<Points> different;
            for (std::size_t c = 0; c < children.size(); ++c) {
                if (!exists(children[c], time)) continue;
                const Points now = tile(tensor, child, children[c], time);
                different.insert(child < 0 ? now : followers[c].step(now));
            }
            for (const Points& points : different) sum += static_cast<double>(points.size());
        }
        return sum;
    }

    const NestProblem& problem_;
    const NestMapping& mapping_;
    std::vector<Loop> loops_;
    std::vector<std::vector<std::int64_t>> reach_;  ///< extents of a tile per level and dimension
};

}  // namespace orrery::test
