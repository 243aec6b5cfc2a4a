#pragma once

// A surrogate of a search's points, or of a study's answers: the method `surrogate(file=…)` answers by it
// (methods/learned/surrogate_method.h).

#include "evaluation/surrogate_fit.h"
#include "study/exploration/search.h"
#include "study/study.h"

#include <string>

namespace orrery {

/// Answers beyond this many are left out, drawn by seed: what a process keeps, and what fits in seconds.
inline constexpr std::size_t mostLearnedPoints = 1000;

struct LearnOptions {
    SurrogateFitOptions fit;
    std::string name, date;
};

/// Whether points of the problem can be learned, before they are answered. Fails as learnPoints().
Expected<void> learnable(const SearchProblem& problem);
/// Every point that has an answer. Inputs are the knobs; targets are those objectives that a method answers: `time`,
/// which must be among them, `energy`, figures. What follows from the design (area, price, devices, memory) is computed
/// anew with each answer. Fails with `surrogate.knob` on knobs of a method or a serving run, `surrogate.time`,
/// `surrogate.rows`, on points of tables, and as fitSurrogate().
Expected<Surrogate> learnPoints(const SearchProblem& problem, const PointAnswers& answers, const LearnOptions& options);

/// The answers of one method of a study. Inputs are what its scenarios differ in: attributes of designs of one shape,
/// options of one model, dimensions of plans, software. Fails with `surrogate.method` where the study has no such
/// method, `surrogate.differ` where scenarios differ in more than that, and as above.
Expected<Surrogate> learnStudy(const Study& study, std::span<const StudyResult> results, const std::string& method,
                               const LearnOptions& options);

}  // namespace orrery
