#pragma once

// Agents against one another: how much of a space's front each finds with as many answers, over many seeds.

#include "study/exploration/agents.h"
#include "study/exploration/front.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

struct BenchmarkSpace {
    std::string name;
    SearchProblem problem;
    std::uint64_t evaluations = 0;  ///< that each agent may ask for
};

/// An agent, and which part of a space's evaluations it may ask for: 3 is a third, for agents that claim to need less.
struct BenchmarkAgent {
    const AgentInfo* info = nullptr;
    std::uint64_t part = 1;  ///< from 1
    BenchmarkAgent(const AgentInfo* agent, std::uint64_t of = 1) : info(agent), part(of) {}
    std::string name() const;   ///< `multi-fidelity/3`
    std::string title() const;  ///< `Multi-fidelity, 1/3`
    std::uint64_t evaluations(const BenchmarkSpace& space) const;
};

/// One agent in one space from one seed: what it found.
struct AgentRun {
    Costs costs;  ///< intervals are points
    double answers = 0, cost = 0;
};

/// One agent in one space.
struct BenchmarkScore {
    std::size_t space = 0;
    BenchmarkAgent agent = nullptr;
    std::vector<double> volumes;           ///< by seed: see below
    double low = 0, median = 0, high = 0;  ///< of them: quartiles
    double answers = 0, cost = 0;          ///< in the mean: points that were answered, and Search::cost()
    double greedy = 1;                     ///< volume of as many answers, chosen greedily from all that is known
    double chance = 1;                     ///< of so low a volume, were the agent as good as `random`
    bool worse = false;                    ///< than `random`, beyond chance
};

struct BenchmarkOptions {
    Executor* executor = nullptr;  ///< null: one thread
    std::stop_token stop;
    Progress* progress = nullptr;  ///< one step per run
    int seeds = 20;                ///< from the problem's own on
    const CalibrationSet* calibrations = nullptr;
    /// Answers the runs of these numbers elsewhere, each in its place; false where it was stopped. In place of
    /// `executor`.
    std::function<bool(std::span<const std::uint64_t> numbers, std::span<AgentRun> runs)> elsewhere;
};

/// As benchmarkAgents() takes them: `random` with all evaluations is among them, at the end if it was not asked for.
std::vector<BenchmarkAgent> withRandom(std::span<const BenchmarkAgent> agents);
/// The run of this number: spaces, then agents, then seeds. `agents` as withRandom() gives them.
AgentRun agentRun(std::span<const BenchmarkSpace> spaces, std::span<const BenchmarkAgent> agents,
                  const BenchmarkOptions& options, std::uint64_t number);

/// Space by space, agents in order of withRandom().
///
/// A volume is the hypervolume of what a run found over that of all that is known: every run of every agent, and all
/// rows of a table. Costs are scaled to the range that all feasible points have, in ln where they span two decades
/// above 0; the reference point is the worst of each. 1: all of the front.
/// `greedy` takes of all that is known the answer that adds most, again and again: at least 1 − 1/e of what the best
/// choice of as many covers (a submodular volume; Nemhauser, Wolsey, Fisher 1978). An agent may have more.
///
/// An agent is worse than `random` where a one-sided rank-sum test (Mann and Whitney 1947, normal with ties) says so at
/// 5 % over all spaces and agents together (Holm 1979).
///
/// Fails with `study.cancelled` once the stop token is set.
Expected<std::vector<BenchmarkScore>> benchmarkAgents(std::span<const BenchmarkSpace> spaces,
                                                      std::span<const BenchmarkAgent> agents,
                                                      const BenchmarkOptions& options);

/// How likely `these` would rank so low among `others` and themselves if both were drawn alike.
double rankSumChance(std::span<const double> these, std::span<const double> others);

/// `| Agent | Cost | space … |`: medians and quartiles, in Markdown; what is worse than `random` is marked.
std::string benchmarkTable(std::span<const BenchmarkSpace> spaces, std::span<const BenchmarkScore> scores);
/// The page with this table in place of the one that has the same first two columns; the table alone where it has none.
std::string withBenchmarkTable(std::string page, const std::string& table);

}  // namespace orrery
