#pragma once

// A study's answers in the order in which to believe them.

#include "evaluation/best_answer.h"
#include "study/study.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct ScenarioRanking {
    std::vector<std::size_t> order;   ///< indices into the results of this scenario, best first
    std::optional<std::size_t> best;  ///< index into the results
    std::string reason;               ///< see AnswerRanking
    std::optional<Seconds> bound;     ///< that stands beside the best
};
ScenarioRanking rankScenario(const std::vector<StudyResult>& results, std::size_t scenario);

/// The same results, scenario by scenario, each best first.
std::vector<StudyResult> bestFirst(const std::vector<StudyResult>& results);

}  // namespace orrery
