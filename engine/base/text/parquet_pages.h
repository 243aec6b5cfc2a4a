#pragma once

// The values of one column of a row group of a Parquet file, from its pages.

#include "base/text/parquet_meta.h"

#include <tl/expected.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::parquet {

struct Column {
    std::vector<char> present;         ///< per row; empty: all are
    std::vector<std::uint32_t> value;  ///< per row: index into the one filled below; 0 where absent
    std::vector<std::int64_t> integers;
    std::vector<double> reals;
    std::vector<std::string_view> texts;
    std::vector<std::unique_ptr<std::string>> pages;  ///< unpacked; texts lie in them
    std::size_t rows() const { return value.size(); }
    /// Appends the cell as it stands in CSV, quoted where it must be.
    void append(std::size_t row, const Leaf& leaf, std::string& out) const;
};

/// `file` outlives the column. Fails with a sentence: what is wrong, or which codec or encoding is not read.
tl::expected<Column, std::string> readColumn(std::string_view file, const Leaf& leaf, const Chunk& chunk,
                                             std::int64_t rows);

}  // namespace orrery::parquet
