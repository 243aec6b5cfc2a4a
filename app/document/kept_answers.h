#pragma once

// Answers of other programs, kept while the studio is open: a run asks them, every edit does not. Any thread.

#include "study/study.h"

#include <memory>
#include <string>

namespace orrery::app {

/// Those of other programs among the results of a run; whether there was one.
bool keepAnswers(const Study& study, const std::vector<StudyResult>& results);
/// To the same question by the same method; null if none was kept.
std::shared_ptr<const Estimate> keptAnswer(const std::string& method, const Scenario& scenario);

}  // namespace orrery::app
