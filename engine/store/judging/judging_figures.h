#pragma once

// The figures of a judged file as SVG at any width: attributes only, no style sheet, so that every reader of SVG draws
// them alike. On white, for papers and reports.

#include "store/judging/judging.h"

#include <span>
#include <string>

namespace orrery {

/// Of a column (3.5 in) and of a page (7.16 in) of a paper in two columns; pixels of 1/96 in.
inline constexpr double columnWidth = 336, pageWidth = 687;

/// Error against the cost of an answer, both logarithmic: colour is methodology, shape is level, hollow is simulated
/// truth, a dotted ring coverage below 85 %; the bar goes from median to 90th percentile, strokes hold the mean error
/// of 90 % of resampled rows, the bar across the costs of half of the parts of the rows; a dashed line joins what no
/// other beats in both, a line settings of one method. Pale with a star: methods that are not compared, on their own
/// rows. Grey crosses: published claims with tool and source, where the question wants them.
std::string planeSvg(const Judged& judged, double width);
/// The same against measured rows that a method was fitted to; beside its name what fitting to them takes.
std::string setUpSvg(const Judged& judged, double width);
/// Methods by methodology × columns: signed median error, 90 % of it, rows.
std::string matrixSvg(const Judged& judged, double width);
/// Predicted ÷ measured of each row that counts, a line of strokes per method, best first.
std::string residualsSvg(const Judged& judged, double width);

}  // namespace orrery
