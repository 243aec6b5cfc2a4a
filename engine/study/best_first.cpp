#include "study/best_first.h"

#include <algorithm>

namespace orrery {

namespace {

ScenarioRanking ranked(const std::vector<StudyResult>& results, const std::vector<std::size_t>& numbers) {
    std::vector<AskedAnswer> answers;
    for (const std::size_t i : numbers) answers.push_back({results[i].method, results[i].estimate.get()});
    const AnswerRanking ranking = rankAnswers(answers);
    ScenarioRanking here;
    for (const std::size_t at : ranking.order) here.order.push_back(numbers[at]);
    if (ranking.best) here.best = numbers[*ranking.best];
    here.reason = ranking.reason;
    here.bound = boundBeside(answers, ranking);
    return here;
}

}  // namespace

ScenarioRanking rankScenario(const std::vector<StudyResult>& results, std::size_t scenario) {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i].scenario == scenario) numbers.push_back(i);
    }
    return ranked(results, numbers);
}

std::vector<StudyResult> bestFirst(const std::vector<StudyResult>& results) {
    std::size_t scenarios = 0;
    for (const StudyResult& result : results) scenarios = std::max(scenarios, result.scenario + 1);
    std::vector<std::vector<std::size_t>> byScenario(scenarios);
    for (std::size_t i = 0; i < results.size(); ++i) byScenario[results[i].scenario].push_back(i);
    std::vector<StudyResult> sorted;
    sorted.reserve(results.size());
    for (const auto& numbers : byScenario) {
        for (const std::size_t i : ranked(results, numbers).order) sorted.push_back(results[i]);
    }
    return sorted;
}

}  // namespace orrery
