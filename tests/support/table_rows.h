#pragma once

// Tables of reference data, a map by column for every row.

#include "base/text/csv_stream.h"

#include <map>
#include <string>
#include <vector>

namespace orrery::testing {

using TableRow = std::map<std::string, std::string, std::less<>>;

/// Empty where the file is absent.
inline std::vector<TableRow> tableRows(const std::string& path) {
    std::vector<TableRow> rows;
    auto table = CsvStream::open(path);
    std::vector<std::string> heads;
    while (table && table->next().value_or(false)) {
        const auto cells = table->cells();
        if (heads.empty()) {
            heads.assign(cells.begin(), cells.end());
            continue;
        }
        TableRow& row = rows.emplace_back();
        for (std::size_t i = 0; i < heads.size() && i < cells.size(); ++i) row[heads[i]] = std::string(cells[i]);
    }
    return rows;
}

}  // namespace orrery::testing
