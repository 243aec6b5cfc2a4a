#pragma once

// A table read line by line: CSV, plain or packed by gzip or zstd, of which little stands in memory, or Parquet, which is told by its
// first bytes and read as the lines of CSV that it would be.

#include "base/diagnostic.h"
#include "base/hash.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Cells are separated by commas, semicolons or tabs, whichever the first line has most of; a cell may stand in double
/// quotes (doubled inside), but not reach over a line's end. Empty lines and a byte-order mark are skipped. Carriage
/// returns and blanks around cells are dropped.
class CsvStream {
public:
    /// Fails with `reference.unreadable`: absent, a folder, not openable.
    static Expected<CsvStream> open(const std::string& path);
    /// The first bytes of a file, plain or gzipped, at most so many. Fails as open() and next() do.
    static Expected<std::string> head(const std::string& path, std::size_t most);
    /// Of a text that stands in `path` from `firstLine` on; the text must outlive the stream.
    static CsvStream of(std::string_view text, std::string path, int firstLine = 1);

    CsvStream(CsvStream&&) noexcept;
    CsvStream& operator=(CsvStream&&) noexcept;
    ~CsvStream();

    /// Reads the next line that is not empty; false at the end. Fails with `reference.unreadable` where the file is
    /// damaged or cut short, holds a zero byte, or has a line over 1 MiB.
    Expected<bool> next();
    /// The same, not cut into cells: for files of one JSON object per line. Valid until the next line.
    Expected<bool> next(std::string_view& text);
    /// Of the line last read; valid until the next one.
    std::span<const std::string_view> cells() const { return cells_; }
    int line() const { return line_; }
    const std::string& path() const { return path_; }
    /// Of everything read so far.
    std::string hash() const { return hash_.hex(); }

private:
    struct Source;
    explicit CsvStream(std::unique_ptr<Source> source);
    Expected<bool> readLine(std::string_view& text);
    void split(std::string_view text);

    std::unique_ptr<Source> source_;
    std::string path_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0, end_ = 0;
    bool ended_ = false;
    int line_ = 0;
    char separator_ = 0;
    std::vector<std::string_view> cells_;
    std::vector<std::string> unquoted_;
    Hash hash_;
};

}  // namespace orrery
