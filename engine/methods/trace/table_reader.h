#pragma once

// Columns of a published table, found by name, checked cell by cell.

#include "base/diagnostic.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct TableColumns {
    std::vector<std::vector<std::string>> texts;
    std::vector<std::vector<double>> numbers;  ///< finite, from `least` to 2^31
    std::vector<int> lines;
    std::size_t size() const { return lines.size(); }
};

/// Reads `folder`/`file`, or the same with `.gz`. At least one row, at most 4 million. Codes `tables.unreadable`,
/// `tables.missing` (file or column), `tables.number`, `tables.empty`, `tables.too-large`.
Expected<TableColumns> readColumns(const std::filesystem::path& folder, std::string_view file,
                                   const std::vector<const char*>& texts, const std::vector<const char*>& numbers,
                                   double least = 0);
/// Whether the table is there and has that column.
bool hasColumn(const std::filesystem::path& folder, std::string_view file, std::string_view column);

}  // namespace orrery
