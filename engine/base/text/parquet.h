#pragma once

// Tables in Apache Parquet, as lines of CSV: what Arrow, pandas, Polars and DuckDB write of flat tables (format of
// apache/parquet-format). Numbers, words and truth values; plain and dictionary pages; Snappy, gzip and Zstandard.

#include "base/diagnostic.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace orrery {

/// Whether a file begins like Parquet.
bool looksLikeParquet(std::string_view head);

class ParquetRows {
public:
    static constexpr std::size_t largest = std::size_t{1} << 30;  ///< file, in bytes
    static constexpr std::int64_t mostRows = std::int64_t{1} << 25;
    static constexpr std::int64_t mostCells = std::int64_t{1} << 26;  ///< of one row group, which stands in memory

    /// Fails with `reference.unreadable`: damaged, cut short, over the bounds above, without a flat column, or of a
    /// codec or encoding that is not read, which is named. Columns that hold lists or structures are left out.
    static Expected<ParquetRows> open(std::string bytes, std::string path);
    ParquetRows(ParquetRows&&) noexcept;
    ParquetRows& operator=(ParquetRows&&) noexcept;
    ~ParquetRows();

    /// Appends the next line with its end: the names of the columns first, then row after row; an absent value is an
    /// empty cell. False at the end. Fails as open().
    Expected<bool> append(std::string& lines);

private:
    struct State;
    explicit ParquetRows(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace orrery
