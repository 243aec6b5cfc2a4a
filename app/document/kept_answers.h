#pragma once

// Answers of slow methods and of other programs, kept while the studio is open: a run asks them, every edit does not.
// Any thread.

#include "learning/calibration.h"
#include "study/study.h"

#include <memory>
#include <string>

namespace orrery::app {

/// True: a run asks this choice of a method, no edit does. Not of recorded output, which is read at once. False where
/// no method goes by it.
bool asksByRunOnly(const std::string& choice, const Scenario& scenario);
/// Those of such methods among the results of a run; whether there was one.
bool keepAnswers(const Study& study, const std::vector<StudyResult>& results, const CalibrationSet* calibrations);
/// To the same question by the same method with the same calibrations (null: what ships); null if none was kept.
std::shared_ptr<const Estimate> keptAnswer(const std::string& method, const Scenario& scenario,
                                           const CalibrationSet* calibrations);

}  // namespace orrery::app
