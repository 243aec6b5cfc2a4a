#pragma once

// A run in words and as a table: the figures that users feel first, then what the fleet does. Definitions:
// serving/metrics.h.

#include "widgets/serving/serving_run.h"

namespace orrery::ui {
class CellsTable;
}

namespace orrery::app {

/// `First token 46 ms (p99 118 ms) · per token 15 ms · 5.94 requests/s · promise kept by 98 %`
QString headlineOf(const ui::ServingRun& run);
/// One line per figure, one column per run; of two, their difference too.
void fillFigures(ui::CellsTable& table, const ui::ServingRuns& runs);

}  // namespace orrery::app
