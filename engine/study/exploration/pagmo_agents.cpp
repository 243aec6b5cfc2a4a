#include "study/exploration/pagmo_agents.h"

#include "base/plugin.h"
#include "study/exploration/box_walk.h"
#include "study/exploration/scalar.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace orrery {

namespace {

using Numbers = BoxNumbers;
constexpr const char* pluginName = "orrery-agents.so";
constexpr const char* pluginVariable = "ORRERY_AGENTS";
constexpr std::size_t firstPoints = 16, walks = 4, mostVain = 200;
constexpr double refusedCost = 2e6;

std::vector<std::uint32_t> levelsIn(const SearchSpace& space, std::span<const double> place) {
    std::vector<std::uint32_t> levels;
    for (std::size_t k = 0; k < place.size(); ++k) {
        const auto count = static_cast<double>(space.knobs()[k].values.size());
        levels.push_back(static_cast<std::uint32_t>(std::clamp(std::floor(place[k] * count), 0.0, count - 1)));
    }
    return levels;
}

Numbers placeIn(const SearchSpace& space, std::uint64_t point) {
    Numbers place;
    const auto levels = space.levelsAt(point);
    for (std::size_t k = 0; k < levels.size(); ++k)
        place.push_back((levels[k] + 0.5) / static_cast<double>(space.knobs()[k].values.size()));
    return place;
}

/// Costs of places that stand one behind the other. Throws WalkOver: let it pass.
using AskPlaces = std::function<Numbers(const Numbers&)>;
struct WalkOver {};

// Once: the library stays to the end.
const Expected<WalkBox>& walkBox() {
    static const Expected<WalkBox> found = []() -> Expected<WalkBox> {
        const std::string path = pluginPath(pluginName, pluginVariable);
        void* plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        const auto walk = plugin ? reinterpret_cast<WalkBox>(dlsym(plugin, walkBoxName)) : nullptr;
        if (walk) return walk;
        const char* why = plugin ? nullptr : dlerror();
        return fail("search.agent", fmt::format("this agent's algorithm cannot be loaded: {}", why ? why : path),
                    fmt::format("`{}` beside this program", pluginName),
                    fmt::format("set {} to where it is, or choose another agent", pluginVariable));
    }();
    return found;
}

// From members with their costs, until the algorithm is done or `ask` throws.
void walk(BoxAlgorithm algorithm, std::size_t objectives, unsigned seed, const SearchSpace& space,
          std::span<const std::uint64_t> members, const std::function<Numbers(std::uint64_t)>& costsOf,
          const AskPlaces& ask) {
    BoxWalk box{algorithm, space.knobs().size(), objectives, {}, {}, seed, &ask};
    for (const std::uint64_t point : members) {
        std::ranges::copy(placeIn(space, point), std::back_inserter(box.places));
        std::ranges::copy(costsOf(point), std::back_inserter(box.costs));
    }
    walkBox().value()(box);
}

std::vector<std::uint64_t> anywhere(const SearchSpace& space, std::size_t count, RandomStream& random) {
    std::vector<std::uint64_t> points(count);
    for (std::uint64_t& point : points) point = random.below(space.points());
    return points;
}

// Rounds until the search ends, from the best seen; after one that found nothing new, from as many points anywhere as
// there are walks. Ends by itself once a hundred points in a row were known.
void inRounds(Search& search, RandomStream& random,
              const std::function<bool(std::span<const std::uint64_t> starts)>& round) {
    std::vector<std::uint64_t> starts;
    for (;;) {
        const std::size_t before = search.seen().size();
        if (!round(starts)) return;
        starts.clear();
        if (search.seen().size() > before) continue;
        for (const std::uint64_t point : anywhere(search.space(), 100, random))
            if (starts.size() < walks && !search.find(point)) starts.push_back(point);
        if (starts.empty() || !search.evaluate(starts)) return;
    }
}

// A walk for one number that is taken up again and again: pagmo asks in the middle of its work, and to answer several
// walks as one batch each is run from its start with the answers that it has had, up to where it wants more. That costs
// no evaluation and needs no thread.
struct Walker {
    Descent descent;
    unsigned seed = 0;
    std::vector<std::uint64_t> start;
    Numbers record = {};
    bool over = false;

    double costOf(std::uint64_t point) const {
        const double cost = descent.of(point);
        return std::isfinite(cost) ? std::min(cost, refusedCost / 2) : refusedCost;
    }
    // The next levels that it wants, at most `ahead` that do not depend on one another; none: it is over.
    std::vector<std::vector<std::uint32_t>> wanted(const SearchSpace& space, BoxAlgorithm algorithm, std::size_t ahead);
};

std::vector<std::vector<std::uint32_t>> Walker::wanted(const SearchSpace& space, BoxAlgorithm algorithm,
                                                       std::size_t ahead) {
    std::vector<std::vector<std::uint32_t>> levels;
    const std::size_t width = space.knobs().size();
    std::size_t next = 0;
    const AskPlaces ask = [&](const Numbers& places) {
        Numbers costs(places.size() / width);
        for (std::size_t i = 0; i < costs.size(); ++i) {
            if (next < record.size()) {
                costs[i] = record[next++];
            } else {
                levels.push_back(levelsIn(space, std::span(places).subspan(i * width, width)));
            }
        }
        if (levels.size() >= ahead) throw WalkOver{};
        return costs;
    };
    try {
        walk(
            algorithm, 1, seed, space, start, [this](std::uint64_t point) { return Numbers{costOf(point)}; }, ask);
    } catch (const WalkOver&) {
    }
    over = levels.empty();
    return levels;
}

// Walks side by side, each with weights of its own, from the best points for these.
void descend(Search& search, RandomStream random, std::size_t members, std::size_t ahead, BoxAlgorithm algorithm) {
    if (!search.evaluate(latinPoints(search, firstPoints, random))) return;
    inRounds(search, random, [&](std::span<const std::uint64_t> starts) {
        std::vector<Walker> walkers;
        for (std::size_t i = 0; i < walks; ++i) {
            Descent descent(search, random);
            auto start = descent.best(members + i);
            // Of one objective all have the same best: each but the first leaves one more out.
            if (search.problem().objectives.size() == 1 && start.size() > i)
                start.erase(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(i));
            start.resize(members, start.front());
            // Half of them: ants need two places to stand between.
            if (!starts.empty()) std::fill_n(start.begin(), (members + 1) / 2, starts[i % starts.size()]);
            if (!starts.empty() && ahead > 1) std::ranges::fill(start, starts[i % starts.size()]);
            walkers.push_back({std::move(descent), random(), std::move(start)});
        }
        for (std::size_t vain = 0; vain <= mostVain;) {
            std::vector<std::uint64_t> batch;
            std::vector<std::vector<std::uint64_t>> asked(walks);
            for (std::size_t i = 0; i < walks; ++i) {
                if (walkers[i].over) continue;
                for (const auto& levels : walkers[i].wanted(search.space(), algorithm, ahead)) {
                    asked[i].push_back(search.pointNear(levels, batch));
                    batch.push_back(asked[i].back());
                }
            }
            if (batch.empty()) return true;
            const std::size_t before = search.seen().size();
            if (!search.evaluate(batch)) return false;
            vain = search.seen().size() == before ? vain + batch.size() : 0;
            for (std::size_t i = 0; i < walks; ++i)
                for (const std::uint64_t point : asked[i]) walkers[i].record.push_back(walkers[i].costOf(point));
        }
        return true;
    });
}

// The best of what was seen, front by front: the members that a population begins anew with.
std::vector<std::uint64_t> foremost(const Search& search, std::size_t members) {
    std::vector<std::uint64_t> points;
    std::vector<Fitness> fitness;
    std::vector<std::size_t> rest(search.seen().size());
    for (std::size_t i = 0; i < rest.size(); ++i) {
        rest[i] = i;
        fitness.push_back(fitnessOf(search, search.seen().points[i]));
    }
    while (points.size() < members && !rest.empty()) {
        std::vector<std::size_t> behind;
        for (const std::size_t i : rest) {
            if (std::ranges::any_of(rest, [&](std::size_t j) { return dominates(fitness[j], fitness[i]); })) {
                behind.push_back(i);
            } else if (points.size() < members) {
                points.push_back(search.seen().points[i]);
            }
        }
        rest = std::move(behind);
    }
    points.resize(members, points.front());
    return points;
}

// One population for all objectives. Of one objective two equal ones: these algorithms insist on several.
void together(Search& search, RandomStream random, std::size_t members, BoxAlgorithm algorithm) {
    if (!search.evaluate(latinPoints(search, members, random))) return;
    const std::size_t width = search.space().knobs().size();
    const std::size_t objectives = std::max<std::size_t>(search.problem().objectives.size(), 2);
    inRounds(search, random, [&](std::span<const std::uint64_t> starts) {
        const CostScale scale(search);
        const auto costsOf = [&](std::uint64_t point) {
            auto costs = scale.bounded(search, point);
            costs.resize(objectives, costs.front());
            return costs;
        };
        std::size_t vain = 0;
        const AskPlaces ask = [&](const Numbers& places) {
            std::vector<std::uint64_t> batch;
            for (std::size_t at = 0; at < places.size(); at += width)
                batch.push_back(
                    search.pointNear(levelsIn(search.space(), std::span(places).subspan(at, width)), batch));
            const std::size_t before = search.seen().size();
            if (!search.evaluate(batch)) throw WalkOver{};
            vain = search.seen().size() == before ? vain + batch.size() : 0;
            if (vain > mostVain) throw WalkOver{};
            Numbers all;
            for (const std::uint64_t point : batch) {
                const auto costs = costsOf(point);
                all.insert(all.end(), costs.begin(), costs.end());
            }
            return all;
        };
        const unsigned seed = random();
        auto start = foremost(search, members);
        std::copy(starts.begin(), starts.end(), start.end() - static_cast<std::ptrdiff_t>(starts.size()));
        try {
            walk(algorithm, objectives, seed, search.space(), start, costsOf, ask);
        } catch (const WalkOver&) {
        }
        return !search.ended();
    });
}

}  // namespace

Expected<void> pagmoIsThere() {
    if (const auto& found = walkBox(); !found) return tl::unexpected(found.error());
    return {};
}

void moead(Search& search, RandomStream random) {
    together(search, random, 24, BoxAlgorithm::Moead);
}

void cmaEs(Search& search, RandomStream random) {
    const auto width = static_cast<double>(search.space().knobs().size());
    const auto members = static_cast<std::size_t>(std::max(5.0, 4 + std::floor(3 * std::log(width))));
    descend(search, random, members, members, BoxAlgorithm::CmaEs);
}

void annealing(Search& search, RandomStream random) {
    descend(search, random, 1, 1, BoxAlgorithm::Annealing);
}

void antColony(Search& search, RandomStream random) {
    constexpr std::size_t ants = 24;
    if (search.problem().objectives.size() == 1) return descend(search, random, ants, 1, BoxAlgorithm::Ants);
    together(search, random, ants, BoxAlgorithm::AntsOfMany);
}

}  // namespace orrery
