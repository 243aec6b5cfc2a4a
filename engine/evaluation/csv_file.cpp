#include "evaluation/csv_file.h"

#include "base/text/csv_stream.h"

#include <algorithm>
#include <charconv>

namespace orrery {

Expected<std::size_t> CsvFile::column(std::string_view name) const {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
    std::string known;
    for (const auto& word : header) known.append(known.empty() ? "" : ", ").append(word);
    return fail("reference.no-column", "there is no column '" + std::string(name) + "'", "one of " + known, {},
                Place{path, 1, 0, {}});
}

Expected<double> CsvFile::number(std::size_t row, std::size_t column) const {
    const int line = lines[row];
    if (column >= rows[row].size()) {
        return fail("reference.short-row", "the row has too few columns", {}, {}, Place{path, line, 0, {}});
    }
    const auto& cell = rows[row][column];
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc{}) {
        return fail("reference.not-a-number", "'" + cell + "' is not a number", {}, {}, Place{path, line, 0, {}});
    }
    return value;
}

Expected<CsvFile> readCsv(const std::string& path, bool hasHeader) {
    auto stream = CsvStream::open(path);
    if (!stream) return tl::unexpected(std::move(stream.error()));
    CsvFile file;
    file.path = path;
    while (true) {
        const auto more = stream->next();
        if (!more) return tl::unexpected(more.error());
        if (!*more) return file;
        const auto cells = stream->cells();
        if (hasHeader && file.header.empty()) {
            file.header.assign(cells.begin(), cells.end());
        } else {
            file.rows.emplace_back(cells.begin(), cells.end());
            file.lines.push_back(stream->line());
        }
    }
}

}  // namespace orrery
