#pragma once

// What configurations are judged by, the jobs that find it, and the table that shows it.

#include "app/window/serving/serving_question.h"
#include "base/unit.h"
#include "methods/system/planned_fleet.h"
#include "study/serving/sweep.h"
#include "widgets/evidence/plot_frame.h"

#include <memory>
#include <mutex>

namespace orrery::ui {
class CellsTable;
}

namespace orrery::app {

/// A figure of a configuration. NaN: it has none.
struct SearchFigure {
    QString head, tip;
    double (*value)(const SweepAnswer&);
    Dimension dimension;
    ui::TickText ticks;
    bool more;  ///< whether more of it is better
};
const std::vector<SearchFigure>& searchFigures();

/// A search under way, or done: what came of it so far. Written by workers.
struct SearchFindings {
    std::mutex lock;
    ServingStudy question;  ///< as it was asked; not changed afterwards
    bool capacities = false;
    std::vector<SweepAnswer> points;
    std::vector<bool> known;
    std::vector<CapacityProbe> probes[2];  ///< of the policy, and of the second one
    std::optional<double> capacity[2];
    std::optional<FigureInterval> sure[2];  ///< of the capacity; none: not known, or not yet
    std::size_t count = 0;                  ///< things known, for who looks whether there is news
    std::optional<Diagnostic> refusal;
};
using SearchFindingsPtr = std::shared_ptr<SearchFindings>;

/// Every configuration of the question's axes, on all cores.
void findConfigurations(SearchFindings& findings, const std::shared_ptr<const Hardware>& drawing, IterationTimes& cache,
                        std::stop_token stop, Progress& progress);
/// The highest load under the promise, of each policy.
void findCapacity(SearchFindings& findings, const std::shared_ptr<const Hardware>& drawing, IterationTimes& cache,
                  std::stop_token stop, Progress& progress);

/// Rows of the table: indices into points, without those that repeat another one.
std::vector<int> fillSearchTable(ui::CellsTable& table, const ServingStudy& question,
                                 const std::vector<SweepAnswer>& points, const std::vector<bool>& known);
/// `Tensor 2 · vLLM V1`
QString searchPointText(const ServingStudy& question, const SweepAnswer& point);

}  // namespace orrery::app
