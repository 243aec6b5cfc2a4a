#pragma once

// A comparison of cases as JSON and CSV.

#include "study/comparison/break_even.h"
#include "study/comparison/change_effects.h"
#include "study/comparison/time_difference.h"

#include <string>
#include <vector>

namespace orrery {

/// What was asked of one case beside the table: all of it optional.
struct CaseFindings {
    std::size_t other = 0;  ///< index of the case that is held against the baseline
    std::optional<TimeDifference> difference;
    std::optional<ChangeEffects> changes;
    std::optional<BreakEven> breakEven;
    std::string breakEvenOf;  ///< the case whose attribute moves
};

/// `orrery-comparison` version 1: cases with all columns, each against the baseline; of each finding its terms, changes
/// and break-even. Equal for equal comparisons.
std::string comparisonJson(const CaseComparison& comparison, const std::vector<CaseFindings>& findings);
/// One line per case: design, workload, plan, method, each column with its interval, its ratio to the baseline's and
/// what may be said of it.
std::string comparisonCsv(const CaseComparison& comparison);
/// One line per term: label, seconds of both, their difference and the running sum.
std::string timeDifferenceCsv(const TimeDifference& difference);

}  // namespace orrery
