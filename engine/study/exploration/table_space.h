#pragma once

// A space that a table answers: numbers that somebody else's simulator found (ArchGym's points), or that were measured.
// Knobs and objectives are its columns; a point is a row. What a search asks of it costs nothing, so that agents can be
// compared on it, and learned methods fitted.

#include "study/exploration/search_settings.h"

#include <string>
#include <vector>

namespace orrery {

struct PointTable {
    std::string path;
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;  ///< as many cells as columns
    std::vector<int> lines;                      ///< of the file, of each row
};
/// CSV, plain or gzipped, or Parquet (CsvStream), with a header. Fails with file and line: `table.empty` without a row,
/// `table.columns` where two columns have one name, `table.cells` on a row of other length.
Expected<PointTable> readPointTable(const std::string& path);

/// Knobs take all values of their columns, or those that the settings list, and only rows of these values are points.
/// A column is of numbers where all its cells are; its values stand in ascending order, and its steps are ratios where
/// they span more than two decades above 0. Rows that repeat an earlier one are left out with a warning. Objectives and
/// constraints are columns of numbers. Fails with `table.column` on columns that are not there or asked for twice,
/// `table.number` on an objective that is no number (with its line), `table.twice` where rows contradict one another
/// (with both lines), `search.value` on a value that no row has, `search.empty` where no row is left.
Expected<SearchProblem> tableProblem(const SearchSettings& settings, const PointTable& table, Diagnostics& warnings);

}  // namespace orrery
