#pragma once

// The table of cases: each number with its interval, and what it is to the baseline's.

#include "app/window/compare/compare_run.h"
#include "widgets/comparison/waterfall_plot.h"
#include "widgets/evidence/cells_model.h"

namespace orrery::app {

struct CompareCells {
    QStringList heads;
    std::vector<std::vector<ui::Cell>> rows;  ///< in the order of the cases
};
/// The first column pins. Differences in parentheses are not sure: the intervals overlap, or none is stated.
CompareCells compareCells(const CompareView& view);

/// `1.2 ms`, `−1.2 ms`, `+1.2 ms`.
QString signedTimeText(double seconds, bool plus);
ui::WaterfallData waterfallData(const CompareView& view, std::size_t shown, DifferenceBy by);

}  // namespace orrery::app
