#include "study/exploration/agent_benchmark.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace orrery {

namespace {

bool isRandom(const BenchmarkAgent& agent) {
    return agent.info->id == "random" && agent.part == 1;
}

AgentRun runOf(const BenchmarkSpace& space, const BenchmarkAgent& agent, std::uint64_t seed,
               const BenchmarkOptions& options) {
    SearchProblem problem = space.problem;
    problem.seed += seed;
    const SearchOptions own{
        .stop = options.stop, .evaluations = agent.evaluations(space), .calibrations = options.calibrations};
    Search search(problem, own);
    agent.info->run(search, RandomStream(problem.seed));
    Costs costs = costsOf(problem, search.seen());
    costs.low = costs.high = costs.value;
    return {std::move(costs), static_cast<double>(search.seen().size()), search.cost()};
}

// Into 0 to 1 of what all runs have seen.
class VolumeScale {
public:
    explicit VolumeScale(std::size_t width) : least_(width, infinite), most_(width, -infinite) {}
    void see(const Costs& costs) {
        for (std::size_t i = 0; i < costs.value.size(); ++i) {
            if (std::isnan(costs.value[i])) continue;
            least_[i % costs.width] = std::min(least_[i % costs.width], costs.value[i]);
            most_[i % costs.width] = std::max(most_[i % costs.width], costs.value[i]);
        }
    }
    double volume(Costs costs) const {
        for (std::size_t i = 0; i < costs.value.size(); ++i) costs.value[i] = scaled(i % costs.width, costs.value[i]);
        return hypervolume(costs, frontOf(costs).points, std::vector<double>(costs.width, 1.0));
    }

private:
    static constexpr double infinite = std::numeric_limits<double>::infinity();
    // Of what is made large costs stand below 0.
    double scaled(std::size_t k, double cost) const {
        const double near = std::min(std::abs(least_[k]), std::abs(most_[k]));
        const double far = std::max(std::abs(least_[k]), std::abs(most_[k]));
        const bool byRatio = least_[k] * most_[k] > 0 && far > 100 * near;
        const auto of = [&](double number) {
            return !byRatio ? number : number > 0 ? std::log(number) : -std::log(-number);
        };
        const double span = of(most_[k]) - of(least_[k]);
        return span > 0 ? (of(cost) - of(least_[k])) / span : 0;
    }
    std::vector<double> least_, most_;
};

// Of each count of `counts` the volume of so many rows of `all`, each the one that adds most. Cut short by `stop`.
std::vector<double> greedyVolumes(const VolumeScale& scale, const Costs& all, std::span<const std::size_t> counts,
                                  const std::stop_token& stop) {
    std::vector<double> out(counts.size(), 1);
    const std::size_t most = counts.empty() ? 0 : std::ranges::max(counts);
    std::vector<std::size_t> left = frontOf(all).points;
    Costs chosen{all.width, {}, {}, {}};
    const double whole = scale.volume(all);
    for (std::size_t n = 1; n <= most && !left.empty() && whole > 0; ++n) {
        double best = -1;
        std::size_t at = 0;
        for (std::size_t i = 0; i < left.size(); ++i) {
            if (stop.stop_requested()) return out;
            Costs with = chosen;
            const auto row = all.value.begin() + static_cast<std::ptrdiff_t>(left[i] * all.width);
            with.value.insert(with.value.end(), row, row + static_cast<std::ptrdiff_t>(all.width));
            with.low = with.high = with.value;
            if (const double volume = scale.volume(std::move(with)); volume > best) best = volume, at = i;
        }
        const auto row = all.value.begin() + static_cast<std::ptrdiff_t>(left[at] * all.width);
        chosen.value.insert(chosen.value.end(), row, row + static_cast<std::ptrdiff_t>(all.width));
        chosen.low = chosen.high = chosen.value;
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
        for (std::size_t c = 0; c < counts.size(); ++c)
            if (counts[c] == n) out[c] = best / whole;
    }
    return out;
}

double quartile(std::vector<double> sorted, double share) {
    const double at = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

void scoreSpace(const BenchmarkSpace& space, std::span<const AgentRun> runs, std::span<BenchmarkScore> scores,
                const std::stop_token& stop) {
    const std::size_t width = space.problem.objectives.size(), seeds = runs.size() / scores.size();
    Costs all{width, {}, {}, {}};
    const auto take = [&](const Costs& costs) {
        const Front front = frontOf(costs);
        for (const std::size_t i : front.points) {
            const auto row = costs.value.begin() + static_cast<std::ptrdiff_t>(i * width);
            all.value.insert(all.value.end(), row, row + static_cast<std::ptrdiff_t>(width));
        }
    };
    VolumeScale scale(width);
    for (const AgentRun& run : runs) scale.see(run.costs), take(run.costs);
    if (space.problem.space.isOfRows()) {
        const Costs rows = costsOf(space.problem, runSearch(space.problem, **searchAgent("grid"), {}));
        scale.see(rows), take(rows);
    }
    all.low = all.high = all.value;
    const double whole = scale.volume(all);
    // For those who had a part of the evaluations: the others are held to the whole front.
    std::vector<std::size_t> counts;
    for (const BenchmarkScore& score : scores)
        if (score.agent.part > 1) counts.push_back(score.agent.evaluations(space));
    const std::vector<double> greedy = greedyVolumes(scale, all, counts, stop);
    for (std::size_t a = 0, part = 0; a < scores.size(); ++a)
        if (scores[a].agent.part > 1) scores[a].greedy = greedy[part++];
    for (std::size_t a = 0; a < scores.size(); ++a) {
        BenchmarkScore& score = scores[a];
        for (const AgentRun& run : runs.subspan(a * seeds, seeds)) {
            score.volumes.push_back(whole > 0 ? scale.volume(run.costs) / whole : 0);
            score.answers += run.answers / static_cast<double>(seeds);
            score.cost += run.cost / static_cast<double>(seeds);
        }
        std::vector<double> sorted = score.volumes;
        std::ranges::sort(sorted);
        score.low = quartile(sorted, 0.25);
        score.median = quartile(sorted, 0.5);
        score.high = quartile(sorted, 0.75);
    }
    const auto random = std::ranges::find_if(scores, [](const auto& score) { return isRandom(score.agent); });
    for (BenchmarkScore& score : scores)
        if (&score != &*random) score.chance = rankSumChance(score.volumes, random->volumes);
}

// The least chances first, each against what is left of 5 % for those behind it (Holm 1979).
void judge(std::vector<BenchmarkScore>& scores) {
    std::vector<BenchmarkScore*> order;
    for (BenchmarkScore& score : scores)
        if (!isRandom(score.agent)) order.push_back(&score);
    std::ranges::stable_sort(order, {}, [](const BenchmarkScore* score) { return score->chance; });
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (order[i]->chance * static_cast<double>(order.size() - i) > 0.05) return;
        order[i]->worse = true;
    }
}

}  // namespace

double rankSumChance(std::span<const double> these, std::span<const double> others) {
    std::vector<std::pair<double, bool>> all;
    for (const double each : these) all.emplace_back(each, true);
    for (const double each : others) all.emplace_back(each, false);
    std::ranges::sort(all);
    const double n = static_cast<double>(these.size()), m = static_cast<double>(others.size());
    double ranks = 0, ties = 0;
    for (std::size_t i = 0; i < all.size();) {
        std::size_t end = i;
        while (end < all.size() && all[end].first == all[i].first) ++end;
        const double mean = (static_cast<double>(i) + static_cast<double>(end) + 1) / 2;
        const double equal = static_cast<double>(end - i);
        for (; i < end; ++i) ranks += all[i].second ? mean : 0;
        ties += equal * equal * equal - equal;
    }
    const double variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)));
    if (!(variance > 0)) return 1;  // all are equal
    const double above = ranks - n * (n + 1) / 2 - n * m / 2;
    return 0.5 * std::erfc(-(above + 0.5) / std::sqrt(2 * variance));
}

std::string BenchmarkAgent::name() const {
    return part == 1 ? std::string(info->id) : fmt::format("{}/{}", info->id, part);
}

std::string BenchmarkAgent::title() const {
    return part == 1 ? std::string(info->title) : fmt::format("{}, 1/{}", info->title, part);
}

std::uint64_t BenchmarkAgent::evaluations(const BenchmarkSpace& space) const {
    return std::max<std::uint64_t>(1, space.evaluations / part);
}

std::vector<BenchmarkAgent> withRandom(std::span<const BenchmarkAgent> agents) {
    std::vector<BenchmarkAgent> all(agents.begin(), agents.end());
    if (std::ranges::none_of(all, isRandom)) all.emplace_back(*searchAgent("random"));
    return all;
}

AgentRun agentRun(std::span<const BenchmarkSpace> spaces, std::span<const BenchmarkAgent> agents,
                  const BenchmarkOptions& options, std::uint64_t number) {
    const auto seeds = static_cast<std::uint64_t>(options.seeds);
    const std::uint64_t of = number / seeds;
    return runOf(spaces[of / agents.size()], agents[of % agents.size()], number % seeds, options);
}

Expected<std::vector<BenchmarkScore>> benchmarkAgents(std::span<const BenchmarkSpace> spaces,
                                                      std::span<const BenchmarkAgent> agents,
                                                      const BenchmarkOptions& options) {
    const std::vector<BenchmarkAgent> all = withRandom(agents);
    const std::size_t ofSpace = all.size() * static_cast<std::size_t>(options.seeds);
    std::vector<AgentRun> runs(spaces.size() * ofSpace);
    const auto run = [&](std::size_t i) {
        if (options.stop.stop_requested()) return;
        runs[i] = agentRun(spaces, all, options, i);
        if (options.progress) options.progress->advance(1);
    };
    bool ended = true;
    if (options.elsewhere) {
        std::vector<std::uint64_t> numbers(runs.size());
        std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
        ended = options.elsewhere(numbers, runs);
    } else if (options.executor) {
        options.executor->forEach(runs.size(), run);
    } else {
        for (std::size_t i = 0; i < runs.size(); ++i) run(i);
    }
    if (!ended || options.stop.stop_requested()) return fail("study.cancelled", "the agents were stopped");
    std::vector<BenchmarkScore> scores;
    for (std::size_t space = 0; space < spaces.size(); ++space) {
        std::vector<BenchmarkScore> own;
        for (const BenchmarkAgent& agent : all) own.push_back({space, agent, {}});
        scoreSpace(spaces[space], std::span(runs).subspan(space * ofSpace, ofSpace), own, options.stop);
        if (options.stop.stop_requested()) return fail("study.cancelled", "the agents were stopped");
        for (BenchmarkScore& score : own) scores.push_back(std::move(score));
    }
    judge(scores);
    return scores;
}

std::string benchmarkTable(std::span<const BenchmarkSpace> spaces, std::span<const BenchmarkScore> scores) {
    std::string head = "| Agent | Cost |", line = "|---|---:|";
    for (const BenchmarkSpace& space : spaces) {
        head += fmt::format(" {} ({} of {}) |", space.name, space.evaluations, space.problem.space.points());
        line += "---:|";
    }
    std::string text = head + "\n" + line + "\n";
    const std::size_t agents = spaces.empty() ? 0 : scores.size() / spaces.size();
    for (std::size_t a = 0; a < agents; ++a) {
        double share = 0;
        std::string cells;
        for (std::size_t s = 0; s < spaces.size(); ++s) {
            const BenchmarkScore& score = scores[s * agents + a];
            share += score.cost / static_cast<double>(spaces[s].evaluations) / static_cast<double>(spaces.size());
            cells += fmt::format(" {:.3f} [{:.3f}, {:.3f}]{} |", score.median, score.low, score.high,
                                 score.worse ? " worse" : "");
        }
        text += fmt::format("| {} | {:.2f} |{}\n", scores[a].agent.title(), share, cells);
        if (scores[a].agent.part == 1) continue;
        text += fmt::format("| as many, chosen greedily from all | {:.2f} |", share);
        for (std::size_t s = 0; s < spaces.size(); ++s) text += fmt::format(" {:.3f} |", scores[s * agents + a].greedy);
        text += "\n";
    }
    return text;
}

std::string withBenchmarkTable(std::string page, const std::string& table) {
    const auto begin = page.find("| Agent | Cost |");
    if (begin == std::string::npos) return table;
    auto end = begin;
    while (end < page.size() && page[end] == '|') end = std::min(page.find('\n', end), page.size() - 1) + 1;
    return page.replace(begin, end - begin, table);
}

}  // namespace orrery
