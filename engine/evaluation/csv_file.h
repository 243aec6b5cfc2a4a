#pragma once

#include "base/diagnostic.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// The cells of a table as text, read by a CsvStream; for tables that mix numbers, units and words.
struct CsvFile {
    std::string path;
    std::vector<std::string> header;  ///< empty if the file was read without one
    std::vector<std::vector<std::string>> rows;
    std::vector<int> lines;  ///< of the file, per row

    /// Index of a column; fails naming the columns that there are.
    Expected<std::size_t> column(std::string_view name) const;
    /// Cell as a number, without a unit that follows it (`0.1900ms`); fails with file and line.
    Expected<double> number(std::size_t row, std::size_t column) const;
};

/// Fails with `reference.unreadable` if the file is absent or broken.
Expected<CsvFile> readCsv(const std::string& path, bool hasHeader = true);

}  // namespace orrery
