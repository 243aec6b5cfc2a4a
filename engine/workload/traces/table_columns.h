#pragma once

// A table whose first line names its columns, row by row, with the line in every complaint.

#include "base/text/csv_stream.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

class TableColumns {
public:
    /// `text` and `file` must outlive it.
    TableColumns(std::string_view text, std::string_view file);

    Expected<bool> next();  ///< false at the end; fails as CsvStream::next() does
    /// Of the row last read. Fails with `trace.syntax` where there is no such column, or the row ends before it.
    Expected<std::string_view> cell(std::string_view name) const;
    /// Fails with `trace.value` for what is no number from 0 to 9e15.
    Expected<double> number(std::string_view name) const;
    bool has(std::string_view name) const;  ///< such a column, once a row was read
    int line() const { return rows_.line(); }
    /// At the row last read.
    Unexpected refuse(std::string code, std::string message, std::string expected, std::string hint = {}) const;

private:
    CsvStream rows_;
    std::string_view file_;
    std::vector<std::string> names_;
};

}  // namespace orrery
