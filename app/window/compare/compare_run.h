#pragma once

// The answers of a comparison, made off the GUI thread. Never change.

#include "app/document/workload_cache.h"
#include "app/window/compare/compare_question.h"
#include "study/comparison/break_even.h"
#include "study/comparison/change_effects.h"
#include "study/comparison/time_difference.h"

#include <array>
#include <memory>

namespace orrery::app {

struct CompareView {
    CompareQuestion question;
    CaseComparison comparison;
    /// Of each case against the baseline, by DifferenceBy; nothing for the baseline and where there is no answer.
    std::vector<std::array<std::optional<TimeDifference>, 4>> differences;
};
using CompareViewPtr = std::shared_ptr<const CompareView>;

/// Terms of their own in a waterfall.
inline constexpr std::size_t mostWaterfallTerms = 12;

/// Fails as compareCases() and as a model that cannot be loaded.
Expected<CompareViewPtr> compareNow(const CompareQuestion& question, WorkloadCache& cache,
                                    const CalibrationSet* calibrations, std::stop_token stop, Progress& progress);

}  // namespace orrery::app
