#pragma once

// What the answer at one point predicts beside the objectives of the search.

#include "study/exploration/search.h"

#include <QString>

namespace orrery::app {

/// ` · Power 412 W (no interval is known) · Energy …` of what is no objective; empty where a source answers the points
/// (it knows no more than the objectives), or nothing more is predicted. Asks the method once, on the calling thread.
QString besideText(const SearchProblem& problem, std::uint64_t point, const CalibrationSet* calibrations,
                   const std::stop_token& stop);

}  // namespace orrery::app
