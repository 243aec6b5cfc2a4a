#pragma once

// A comparison as tables in a terminal.

#include "store/export/comparison_exports.h"

#include <string>

namespace orrery::cli {

/// One row per column of the comparison, one column per case, the baseline first; below each number what it is to the
/// baseline's.
std::string comparisonText(const CaseComparison& comparison);
/// Terms with bars that go on where the one above ends.
std::string waterfallText(const AnsweredCase& before, const AnsweredCase& after, const TimeDifference& difference);
std::string changesText(const AnsweredCase& before, const AnsweredCase& after, const ChangeEffects& effects);
std::string breakEvenText(const std::string& mover, const std::string& still, const BreakEven& found);

}  // namespace orrery::cli
