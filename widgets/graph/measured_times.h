#pragma once

// Measured times of operators, from a file that a person has.

#include "base/diagnostic.h"
#include "workload/graph.h"

#include <string>
#include <vector>

namespace orrery::ui {

struct MeasuredTimes {
    std::vector<double> seconds;         ///< per operator of the graph, of all its repeats; NaN: not in the file
    std::vector<std::string> unmatched;  ///< names in the file that the graph does not have, each once
    int matched = 0;                     ///< operators with a time
};

/// Reads a CSV with a column `operator` (or `name`) and a column `time`, whose unit stands in the header (`time (us)`,
/// `time_ms`) or behind each number (`0.19 ms`); seconds if in neither. Names are matched exactly. Rows of the same
/// name add up, as a profile that lists every execution means them to. Fails naming file and line: no such column, a
/// cell that is no time, a negative time, no row that matches.
Expected<MeasuredTimes> readMeasuredTimes(const std::string& path, const Graph& graph);

}  // namespace orrery::ui
