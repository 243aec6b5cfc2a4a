#pragma once

// How a search came to what it found: the best of each objective, and how much its front covers, over the points as
// they were asked for.

#include "study/exploration/search.h"

#include <cstdint>
#include <vector>

namespace orrery {

struct SearchHistory {
    std::vector<std::uint64_t> evaluations;  ///< 1 to all, by about even ratios
    /// [objective][sample]: the best feasible value so far; no number (NaN) before the first.
    std::vector<std::vector<double>> best;
    /// What the front of the first two objectives covers, up to the worst that was feasible: its share of what it
    /// covers in the end, 0 to 1. Empty with one objective, and where all points are on one line.
    std::vector<double> volume;
};
/// O(points × log front).
SearchHistory historyOf(const SearchProblem& problem, const PointAnswers& seen, std::size_t samples = 200);

}  // namespace orrery
