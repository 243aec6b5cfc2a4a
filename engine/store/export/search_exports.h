#pragma once

// A search as JSON and CSV.

#include "study/exploration/agent_benchmark.h"
#include "study/exploration/agents.h"

#include <string>
#include <vector>

namespace orrery {

struct SearchOutcome {
    std::string name;
    const SearchProblem* problem = nullptr;
    const AgentInfo* agent = nullptr;
    PointAnswers evaluations;
    BaseAnswer base;  ///< the question as drawn
    bool finished = true;
    double seconds = 0;
    std::size_t answered = 0;             ///< points that were answered now, not known from before
    std::vector<RungAnswers> cheap = {};  ///< what cheaper methods answered besides
};

/// `orrery-search` version 1: problem, counts, the base, of each objective the best, the front (and which others may
/// belong to it), and the history in the order in which points were asked for. Equal for equal searches but for
/// `seconds`.
std::string searchJson(const SearchOutcome& outcome);
/// One line per point: its number, knobs, objectives with interval, violation, front (`front`, `possible`), refusal.
std::string searchCsv(const SearchOutcome& outcome);
/// One line per space, agent and seed: space, points, evaluations, agent, seed, volume, and of the agent in the space
/// quartiles, answers, cost, chance, worse.
std::string benchmarkCsv(std::span<const BenchmarkSpace> spaces, std::span<const BenchmarkScore> scores);

}  // namespace orrery
