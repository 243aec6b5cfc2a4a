#pragma once

// A drift as files: JSON as resources/schema/drift.schema.json says, and its families as CSV.

#include "evaluation/drift/drift.h"

#include <string>

namespace orrery {

/// Errors, coverages and widths are shares (0.03 is 3 %).
std::string driftJson(const Drift& drift);
/// One line per family.
std::string driftCsv(const Drift& drift);

/// Of all families of one kind: the median family's figures, as comparisons of versions are told.
struct DriftSummary {
    std::string kind;
    std::size_t families = 0, moved = 0;
    std::size_t noticed = 0;  ///< of those that moved, in 90 % of the draws or more
    std::size_t still = 0;    ///< families of which at most `stillShare` of the kernels moved
    double falseAlarms = 0;   ///< mean share of draws in which a still family was said to move
    double untouched = 0, factor = 0, repaired = 0;
    double repairedInside = 0, staleInside = -1;  ///< means over families
};
std::vector<DriftSummary> summariesOf(const Drift& drift);

}  // namespace orrery
