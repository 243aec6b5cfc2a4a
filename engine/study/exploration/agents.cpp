#include "study/exploration/agents.h"

#include "base/text/nearest.h"
#include "study/exploration/bayesian.h"
#include "study/exploration/evolution.h"
#include "study/exploration/ladder.h"
#include "study/exploration/multi_fidelity.h"
#include "study/exploration/pagmo_agents.h"
#include "study/exploration/scalar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

void grid(Search& search, RandomStream) {
    std::vector<std::uint64_t> some;
    for (std::uint64_t point = 0; point < search.space().points(); ++point) {
        some.push_back(point);
        if (some.size() < 4096 && point + 1 < search.space().points()) continue;
        if (!search.evaluate(some)) return;
        some.clear();
    }
}

constexpr std::size_t freeKnobTurns = 9;  // of a free knob by itself: enough to see a bend

// Nothing where a table has no row that differs from its first in this alone.
std::vector<std::optional<std::uint64_t>> alongKnob(const SearchSpace& space, std::size_t knob) {
    auto levels = space.levelsAt(space.basePoint());
    std::vector<std::optional<std::uint64_t>> points;
    const std::size_t count = space.knobs()[knob].values.size();
    const std::size_t turns = space.knobs()[knob].free ? std::min(count, freeKnobTurns) : count;
    for (std::size_t i = 0; i < turns; ++i) {
        levels[knob] = static_cast<std::uint32_t>(turns == count ? i : i * (count - 1) / (turns - 1));
        points.push_back(space.exactly(levels));
    }
    return points;
}

void oneAtATime(Search& search, RandomStream) {
    std::vector<std::uint64_t> points{search.space().basePoint()};
    for (std::size_t knob = 0; knob < search.space().knobs().size(); ++knob) {
        for (const auto& point : alongKnob(search.space(), knob))
            if (point) points.push_back(*point);
    }
    search.evaluate(points);
}

// Ends by itself in a space of which nearly all is known: a thousand draws in vain.
void randomWalk(Search& search, RandomStream random) {
    for (int vain = 0; vain < 1000;) {
        std::vector<std::uint64_t> some(256);
        for (std::uint64_t& point : some) point = random.below(search.space().points());
        const std::size_t before = search.seen().size();
        if (!search.evaluate(some)) return;
        vain = search.seen().size() == before ? vain + static_cast<int>(some.size()) : 0;
    }
}

void latinHypercube(Search& search, RandomStream random) {
    for (int vain = 0; vain < 1000;) {
        const std::vector<std::uint64_t> some = latinPoints(search, 64, random);
        const std::size_t before = search.seen().size();
        if (!search.evaluate(some)) return;
        vain = search.seen().size() == before ? vain + static_cast<int>(some.size()) : 0;
    }
}

constexpr std::array agents{
    AgentInfo{"grid", "Every combination", "All points, the last knob fastest.", false, grid},
    AgentInfo{"one-at-a-time", "One knob at a time",
              "Each knob through all its values (a free one through nine); the others keep the values of the question.",
              false, oneAtATime},
    AgentInfo{"random", "Random", "Points drawn evenly. What every other agent must beat.", true, randomWalk},
    AgentInfo{"latin", "Latin hypercube",
              "Random points in strata of 64, over which each knob's values are spread evenly.", true, latinHypercube},
    AgentInfo{"hill", "Hill climbing",
              "From points spread evenly to the best neighbour until none is better, with a weight of the objectives "
              "of its own "
              "each time.",
              true, hillClimb},
    AgentInfo{"nsga2", "NSGA-II",
              "A population of 64 that is crossed, mutated and sorted by fronts and crowding; points that break a "
              "constraint come last.",
              true, nsga2},
    AgentInfo{"moead", "MOEA/D",
              "A population of 24, one for each weight of the objectives, in which neighbours learn from one another.",
              true, moead, pagmoIsThere},
    AgentInfo{
        "cma-es", "CMA-ES",
        "A normal distribution that learns its shape. Of several objectives one number, by weights drawn anew for "
        "each of four walks.",
        true, cmaEs, pagmoIsThere},
    AgentInfo{"annealing", "Simulated annealing",
              "Steps of one knob that may lead uphill while it is hot. Of several objectives one number, by weights "
              "drawn anew for each of four walks.",
              true, annealing, pagmoIsThere},
    AgentInfo{"ants", "Ant colony",
              "24 ants around the best that were found, ever closer; of several objectives around the whole front.",
              true, antColony, pagmoIsThere},
    AgentInfo{
        "bayesian", "Bayesian optimisation",
        "A Gaussian process per objective says which points are expected to add most to the front, and are likely "
        "to keep the constraints.",
        true, bayesian},
    AgentInfo{"multi-fidelity", "Multi-fidelity",
              "Asks cheap methods first and the search's own where it matters: most expected gain per second. A cheap "
              "answer costs its share of the budget.",
              true, multiFidelity},
};

}  // namespace

std::span<const AgentInfo> searchAgents() {
    return agents;
}

Expected<const AgentInfo*> searchAgent(std::string_view id) {
    std::vector<std::string> known;
    for (const AgentInfo& agent : agents) {
        if (agent.id == id) {
            if (const auto there = agent.there ? agent.there() : Expected<void>(); !there)
                return tl::unexpected(there.error());
            return &agent;
        }
        known.emplace_back(agent.id);
    }
    return fail("search.agent", fmt::format("no agent is called `{}`", id), quotedList(known, "or"),
                didYouMean(id, known));
}

PointAnswers runSearch(const SearchProblem& problem, const AgentInfo& agent, const SearchOptions& options,
                       bool* stopped) {
    Search search(problem, options);
    agent.run(search, RandomStream(problem.seed));
    if (stopped) *stopped = search.stopped();
    if (options.cheap) *options.cheap = search.takeLadder();
    return search.take();
}

std::vector<KnobEffect> knobEffects(const SearchProblem& problem, const PointAnswers& evaluations) {
    std::unordered_map<std::uint64_t, std::size_t> rows;
    for (std::size_t i = 0; i < evaluations.size(); ++i) rows.emplace(evaluations.points[i], i);
    const std::size_t width = problem.objectives.size();
    std::vector<KnobEffect> effects;
    for (std::size_t knob = 0; knob < problem.space.knobs().size(); ++knob) {
        constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
        KnobEffect effect{knob, {}, std::vector<double>(width, unknown), std::vector<double>(width, unknown)};
        for (const auto& point : alongKnob(problem.space, knob)) {
            const auto found = point ? rows.find(*point) : rows.end();
            effect.rows.push_back(found == rows.end() ? std::nullopt : std::optional(found->second));
            if (found == rows.end() || !evaluations.answered(found->second)) continue;
            for (std::size_t k = 0; k < width; ++k) {
                const double value = evaluations.value[found->second * width + k];
                effect.least[k] = std::fmin(effect.least[k], value);
                effect.most[k] = std::fmax(effect.most[k], value);
            }
        }
        effects.push_back(std::move(effect));
    }
    return effects;
}

}  // namespace orrery
