#include "study/exploration/evolution.h"

#include "study/exploration/scalar.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace orrery {

namespace {

// A step up or down of one knob, in the order of a draw; of words, all others. Of rows of a table hardly one differs in
// one knob alone: those that are nearest.
std::vector<std::uint64_t> neighbours(const SearchSpace& space, std::uint64_t point, double share,
                                      RandomStream& random) {
    auto levels = space.levelsAt(point);
    if (space.isOfRows()) {
        return space.nearest(levels, 2 * levels.size(), [&](std::uint64_t row) { return row == point; });
    }
    std::vector<std::uint64_t> out;
    for (std::size_t k = 0; k < levels.size(); ++k) {
        const std::uint32_t own = levels[k], count = static_cast<std::uint32_t>(space.knobs()[k].values.size());
        const auto step = static_cast<std::uint32_t>(std::max(1.0, std::round(share * count)));
        for (std::uint32_t level = 0; level < count; ++level) {
            const bool near = level + step == own || level == own + step;
            if (level == own || (!space.knobs()[k].words && !near)) continue;
            levels[k] = level;
            out.push_back(space.pointAt(levels));
        }
        levels[k] = own;
    }
    for (std::size_t i = out.size(); i-- > 1;) std::swap(out[i], out[random.below(i + 1)]);
    return out;
}

struct Ranked {
    std::uint64_t point = 0;
    Fitness fitness;
    std::size_t rank = 0;
    double crowding = 0;
};

// Fast enough for populations of hundreds: every pair is compared once for each front.
void rank(std::vector<Ranked>& all) {
    std::vector<std::size_t> beatenBy(all.size(), 0);
    std::vector<std::vector<std::size_t>> beats(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t j = 0; j < all.size(); ++j) {
            if (i == j || !dominates(all[i].fitness, all[j].fitness)) continue;
            beats[i].push_back(j);
            ++beatenBy[j];
        }
    }
    std::vector<std::size_t> front;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (beatenBy[i] == 0) front.push_back(i);
    for (std::size_t level = 0; !front.empty(); ++level) {
        std::vector<std::size_t> next;
        for (const std::size_t i : front) {
            all[i].rank = level;
            all[i].crowding = 0;
            for (const std::size_t j : beats[i])
                if (--beatenBy[j] == 0) next.push_back(j);
        }
        for (std::size_t k = 0; k < all[front.front()].fitness.costs.size(); ++k) {
            std::sort(front.begin(), front.end(), [&](std::size_t a, std::size_t b) {
                const double x = all[a].fitness.costs[k], y = all[b].fitness.costs[k];
                return x != y ? x < y : a < b;
            });
            const double span = all[front.back()].fitness.costs[k] - all[front.front()].fitness.costs[k];
            all[front.front()].crowding = all[front.back()].crowding = worstCost;
            if (!(span > 0) || std::isinf(span)) continue;
            for (std::size_t i = 1; i + 1 < front.size(); ++i) {
                all[front[i]].crowding +=
                    (all[front[i + 1]].fitness.costs[k] - all[front[i - 1]].fitness.costs[k]) / span;
            }
        }
        front = std::move(next);
    }
}

bool better(const Ranked& a, const Ranked& b) {
    if (a.rank != b.rank) return a.rank < b.rank;
    if (a.crowding != b.crowding) return a.crowding > b.crowding;
    return a.point < b.point;
}

std::uint32_t stepped(const Knob& knob, std::uint32_t level, RandomStream& random) {
    const auto count = static_cast<std::uint32_t>(knob.values.size());
    if (knob.words || count <= 3 || random.uniform() < 0.2) return static_cast<std::uint32_t>(random.below(count));
    const double moved = level + random.normal() * std::max(1.0, 0.1 * count);
    return static_cast<std::uint32_t>(std::clamp(std::round(moved), 0.0, static_cast<double>(count - 1)));
}

}  // namespace

void hillClimb(Search& search, RandomStream random) {
    if (!search.evaluate(latinPoints(search, 16, random))) return;
    for (int vain = 0; vain < 100;) {
        const std::size_t before = search.seen().size();
        const Descent descent(search, random);
        std::uint64_t at = search.seen().points.front();
        for (const std::uint64_t point : search.seen().points)
            if (descent.of(point) < descent.of(at)) at = point;
        double own = descent.of(at);
        for (double share = 0.25; share > 1e-4;) {
            bool moved = false;
            for (const std::uint64_t point : neighbours(search.space(), at, share, random)) {
                if (!search.evaluate(std::span(&point, 1))) return;
                if (const double cost = descent.of(point); cost < own) {
                    own = cost;
                    at = point;
                    moved = true;
                    break;
                }
            }
            // Rows have one set of neighbours, however long the step.
            if (!moved) share = search.space().isOfRows() ? 0 : share / 2;
        }
        // Around every best point all is known: from anywhere else.
        if (search.seen().size() == before) {
            const std::uint64_t anywhere = random.below(search.space().points());
            if (!search.evaluate(std::span(&anywhere, 1))) return;
        }
        vain = search.seen().size() == before ? vain + 1 : 0;
    }
}

void nsga2(Search& search, RandomStream random) {
    constexpr std::size_t population = 64;
    const SearchSpace& space = search.space();
    const double mutation = std::max(0.1, 1.0 / static_cast<double>(space.knobs().size()));
    const auto ranked = [&](const std::vector<std::uint64_t>& points) {
        std::vector<Ranked> all;
        for (const std::uint64_t point : points) all.push_back({point, fitnessOf(search, point)});
        rank(all);
        std::sort(all.begin(), all.end(), better);
        return all;
    };
    std::vector<std::uint64_t> members;
    for (std::size_t i = 0; i < population; ++i) members.push_back(random.below(space.points()));
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    if (!search.evaluate(members)) return;
    for (int vain = 0; vain < 50;) {
        const auto parents = ranked(members);
        const auto parent = [&]() -> std::uint64_t {
            const auto& a = parents[random.below(parents.size())];
            const auto& b = parents[random.below(parents.size())];
            return better(a, b) ? a.point : b.point;
        };
        std::vector<std::uint64_t> children;
        for (std::size_t i = 0; i < population; ++i) {
            auto levels = space.levelsAt(parent());
            const auto other = space.levelsAt(parent());
            for (std::size_t k = 0; k < levels.size(); ++k) {
                if (random.uniform() < 0.5) levels[k] = other[k];
                if (random.uniform() < mutation) levels[k] = stepped(space.knobs()[k], levels[k], random);
            }
            children.push_back(search.pointNear(levels, children));
        }
        const std::size_t before = search.seen().size();
        if (!search.evaluate(children)) return;
        vain = search.seen().size() == before ? vain + 1 : 0;
        members.insert(members.end(), children.begin(), children.end());
        std::sort(members.begin(), members.end());
        members.erase(std::unique(members.begin(), members.end()), members.end());
        const auto next = ranked(members);
        members.clear();
        for (std::size_t i = 0; i < std::min(population, next.size()); ++i) members.push_back(next[i].point);
    }
}

}  // namespace orrery
