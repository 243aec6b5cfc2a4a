#pragma once

// A run in words and as a table: the figures that users feel first, then what the fleet does. Definitions:
// serving/metrics.h.

#include "serving/result_interval.h"
#include "widgets/serving/serving_run.h"

#include <optional>
#include <vector>

namespace orrery::ui {
class CellsTable;
}

namespace orrery::app {

/// `First token 46 ms (p99 118 ms) · per token 15 ms · 5.94 requests/s · 98 % meet the SLO`
QString headlineOf(const ui::ServingRun& run);
/// One line per figure, one column per run with its 90 % interval beside it; of two, their difference too. Figures of
/// tenants and stages follow. `intervals`: of each run, as far as they are there.
void fillFigures(ui::CellsTable& table, const ui::ServingRuns& runs,
                 const std::vector<std::optional<ServingIntervals>>& intervals);

/// A run of more iterations than this is not made again for its intervals.
inline constexpr std::uint64_t mostSureIterations = 1'000'000;

}  // namespace orrery::app
