#pragma once

// A CSV of numbers as columns, plain or gzipped: what profilers of serving engines write.

#include "base/diagnostic.h"

#include <string>
#include <vector>

namespace orrery {

struct TableFile {
    std::string path;
    std::vector<std::string> names;
    std::vector<std::vector<double>> columns;  ///< NaN where a cell is empty
    std::vector<int> lines;                    ///< of the file, per row

    /// Fails with `trace.missing-column` and the names that there are.
    Expected<const std::vector<double>*> column(const std::string& name) const;
};

/// `folder`/`name`.csv.gz or .csv. Fails with `trace.no-table` where neither is, `trace.bad-number`, `trace.short-row`.
Expected<TableFile> readTable(const std::string& folder, const std::string& name);

}  // namespace orrery
