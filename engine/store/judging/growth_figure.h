#pragma once

// How errors grow from kernels to sums of kernels, for the methods of a judged file: measured, between the limits √N
// (errors that have nothing in common) and N (all alike).

#include "evaluation/error_growth.h"
#include "store/judging/judging.h"

#include <string>
#include <vector>

namespace orrery {

struct MethodGrowth {
    std::size_t entry = 0;  ///< of the judged entries
    ErrorGrowth growth;     ///< of the kernels that count, and of all that was measured whole and that it prices
};

inline constexpr double growthCorrelation = 0.5;  ///< by which half-widths are added where a method does not say

/// Of the single kernels among `kernels`, and of what was measured whole among `whole`: each method has its own there,
/// for hardly any method prices all levels.
ErrorGrowth growthOf(const Evaluation& evaluation, std::span<const ReferenceTable> tables,
                     std::span<const RowRef> kernels, std::span<const RowRef> whole, std::size_t draws = 400);
/// Of the compared methods, best first; those without two kernels of one device are left out. O(methods × rows).
std::vector<MethodGrowth> growthsOf(const Judged& judged);

/// One method: error of a sum against the number of its kernels, both logarithmic, with both limits; right of them what
/// was measured whole.
std::string growthSvg(const ErrorGrowth& growth, std::string_view title, double width);

/// method, level, rows, kernels, error of the sum, √N, N, share inside the interval; one line per method and size of
/// sum, and one per level that was measured whole.
std::string growthCsv(const Judged& judged, std::span<const MethodGrowth> all);

}  // namespace orrery
