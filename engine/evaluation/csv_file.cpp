#include "evaluation/csv_file.h"

#include "base/text/words.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

namespace orrery {

namespace {

constexpr std::size_t largest = std::size_t{256} << 20;

Unexpected unreadable(const std::string& path, std::string why) {
    return fail("reference.unreadable", "cannot read the reference file: " + std::move(why), "a CSV file, plain or .gz",
                "Check the folder of the reference data", Place{path, 0, 0, {}});
}

Expected<std::string> readAll(const std::string& path) {
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), &gzclose);
    if (!file) return unreadable(path, "it cannot be opened");
    std::string text;
    std::array<char, 1 << 16> buffer{};
    int got = 0;
    while ((got = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()))) > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(got));
        if (text.size() > largest) return unreadable(path, "it is over 256 MiB");
    }
    int state = Z_OK;
    gzerror(file.get(), &state);
    if (got < 0 || (state != Z_OK && state != Z_STREAM_END)) return unreadable(path, "it is damaged or cut short");
    return text;
}

std::vector<std::string> cells(std::string_view line) {
    std::vector<std::string> row;
    while (true) {
        const auto comma = line.find(',');
        row.emplace_back(trimmed(line.substr(0, comma)));
        if (comma == std::string_view::npos) return row;
        line.remove_prefix(comma + 1);
    }
}

}  // namespace

Expected<std::size_t> CsvFile::column(std::string_view name) const {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
    std::string known;
    for (const auto& word : header) known.append(known.empty() ? "" : ", ").append(word);
    return fail("reference.no-column", "there is no column '" + std::string(name) + "'", "one of " + known, {},
                Place{path, 1, 0, {}});
}

Expected<double> CsvFile::number(std::size_t row, std::size_t column) const {
    const auto line = static_cast<int>(row + (header.empty() ? 1 : 2));
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
    auto text = readAll(path);
    if (!text) return tl::unexpected(std::move(text.error()));
    CsvFile file;
    file.path = path;
    std::string_view rest = *text;
    while (!rest.empty()) {
        const auto end = rest.find('\n');
        const auto line = trimmed(rest.substr(0, end));
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        if (line.empty()) continue;
        if (hasHeader && file.header.empty()) {
            file.header = cells(line);
        } else {
            file.rows.push_back(cells(line));
        }
    }
    return file;
}

}  // namespace orrery
