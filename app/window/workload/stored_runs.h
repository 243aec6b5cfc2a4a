#pragma once

// Runs of before, out of the project's database, for the graph's colours.

#include "widgets/graph/heat.h"

#include <QString>

#include <cstdint>
#include <vector>

namespace orrery::app {

struct RunChoice {
    std::int64_t id = 0;
    QString text;  ///< `Run 3 · 21 Nov 14:02`
    QString tip;
};
/// The runs with results, the newest first; none where there is no database. Makes none.
Expected<std::vector<RunChoice>> storedRuns(const QString& database);
/// The answers of a run to the workload with these operators, one list for each device. Fails with a code `run.…` if
/// the run asked about other operators.
Expected<std::vector<ui::StoredAnswers>> answersOfRun(const QString& database, std::int64_t run,
                                                      const Workload& workload);

}  // namespace orrery::app
