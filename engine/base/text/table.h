#pragma once

// Columns of a table (CSV, plain or gzipped) in memory: found by name in its first line, checked cell by cell. Over
// CsvStream, which whoever needs one row after the other reads itself.

#include "base/diagnostic.h"

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct TableColumn {
    std::string name;
    bool text = false;
    double least = 0, most = 2147483647.0;  ///< of numbers; infinite ones are none
};
TableColumn textColumn(std::string name);
/// One number column by each name, all within the same bounds.
std::vector<TableColumn> numberColumns(std::initializer_list<std::string> names, double least = 0,
                                       double most = 2147483647.0);

struct TableSpec {
    std::string_view area = "tables";   ///< begins the codes
    std::vector<TableColumn> columns;   ///< that must be there; empty: all that are, as numbers, NaN where empty
    std::string_view what = "a table";  ///< for messages: what should stand there
    std::string_view hint = "is this the right folder?";
    std::size_t mostRows = std::size_t{1} << 25;
    bool mayBeEmpty = false;  ///< of rows; the line of names must be there
};

struct Table {
    std::string path;
    std::vector<std::string> names;
    std::vector<std::vector<double>> numbers;     ///< as `names`; empty for texts
    std::vector<std::vector<std::string>> texts;  ///< as `names`; empty for numbers
    std::vector<int> lines;                       ///< of the file, per row
    std::string_view area = "tables";
    std::size_t size() const { return lines.size(); }
    /// A column of numbers by name. Fails with `<area>.no-column` and the names that there are.
    Expected<const std::vector<double>*> column(std::string_view name) const;
};

/// Codes `<area>.no-table` (absent), `.unreadable` (damaged), `.no-column`, `.short-row`, `.bad-number` (or out of
/// bounds), `.empty`, `.too-large`, with file and line.
Expected<Table> readTable(const std::string& path, const TableSpec& spec);
/// `path`, or `path`.gz where only that is there.
std::string plainOrPacked(const std::string& path);
/// Whether the table is there and has that column.
bool hasColumn(const std::string& path, std::string_view column);

}  // namespace orrery
