#pragma once

// Who decides which points of a space are asked for.

#include "base/random.h"
#include "study/exploration/search.h"

#include <span>
#include <string_view>

namespace orrery {

struct AgentInfo {
    std::string_view id, title, summary;
    bool needsBudget = false;  ///< asks for as many points as it may, so that somebody must say how many
    void (*run)(Search& search, RandomStream random);
    Expected<void> (*there)() = nullptr;  ///< whether what it runs on is installed; null: it needs nothing
};
/// `grid`, `one-at-a-time`, `random`, `latin`, `hill`, `nsga2`, `moead`, `cma-es`, `annealing`, `ants`, `bayesian`,
/// `multi-fidelity`.
std::span<const AgentInfo> searchAgents();
/// Fails with `search.agent`: on a name that none has, with the nearest; where what it runs on is not installed.
Expected<const AgentInfo*> searchAgent(std::string_view id);

/// Grids of more points must be asked for in number.
inline constexpr std::uint64_t mostGridPoints = 10'000'000;

/// Runs the agent until it is done, the budget is spent, or the search is stopped.
PointAnswers runSearch(const SearchProblem& problem, const AgentInfo& agent, const SearchOptions& options,
                       bool* stopped = nullptr);

/// What each knob does alone, from the points that `one-at-a-time` asks for; the others stand at the base point.
struct KnobEffect {
    std::size_t knob = 0;
    /// Rows of the evaluations, by the knob's values; nothing where a point was not asked for.
    std::vector<std::optional<std::size_t>> rows;
    std::vector<double> least, most;  ///< of each objective over those that are answered; NaN where none is
};
std::vector<KnobEffect> knobEffects(const SearchProblem& problem, const PointAnswers& evaluations);

}  // namespace orrery
