#pragma once

// A space that a surrogate answers (learning/surrogate.h): what was learned from a table of designs, asked about all
// combinations of its inputs, also those that no row of the table has.

#include "learning/surrogate.h"
#include "study/exploration/search_settings.h"

#include <memory>

namespace orrery {

/// Every input is a knob: with the values of the settings; with a range; or where neither is given with all words that
/// were seen, or five numbers over the range that was seen. Objectives and constraints are targets. Answers have the
/// surrogate's 90 % intervals, wider beyond what was seen. Fails with `surrogate.input` on knobs that are no input or
/// stand twice, on inputs that are no knob, and on a surrogate of a question; `surrogate.target` on an objective that
/// was not learned; `search.value` and `search.range` on values that are none.
Expected<SearchProblem> surrogateProblem(const SearchSettings& settings, std::shared_ptr<const Surrogate> surrogate);

}  // namespace orrery
