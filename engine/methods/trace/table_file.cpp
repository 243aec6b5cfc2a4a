#include "methods/trace/table_file.h"

#include "base/text/csv_stream.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>

namespace orrery {

namespace {

constexpr std::size_t most_rows = std::size_t{1} << 25;

bool readNumber(std::string_view cell, double& value) {
    if (cell.empty()) {
        value = std::nan("");
        return true;
    }
    const auto* end = cell.data() + cell.size();
    const auto [stop, error] = std::from_chars(cell.data(), end, value);
    return error == std::errc() && stop == end;
}

}  // namespace

Expected<const std::vector<double>*> TableFile::column(const std::string& name) const {
    std::string known;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return &columns[i];
        known += (i > 0 ? ", " : "") + names[i];
    }
    return fail("trace.missing-column", fmt::format("the table has no column `{}`", name),
                fmt::format("a column `{}` beside {}", name, known), "write the table with it", Place{path, 1, 0, {}});
}

Expected<TableFile> readTable(const std::string& folder, const std::string& name) {
    TableFile table;
    std::error_code ignored;
    for (const char* ending : {".csv.gz", ".csv"}) {
        table.path = folder + "/" + name + ending;
        if (std::filesystem::is_regular_file(table.path, ignored)) break;
        table.path.clear();
    }
    if (table.path.empty()) {
        return fail("trace.no-table", fmt::format("there is no table `{}`", name),
                    fmt::format("{}.csv.gz or {}.csv", name, name), "name the folder that holds the tables",
                    Place{folder, 0, 0, {}});
    }
    auto stream = CsvStream::open(table.path);
    if (!stream) return tl::unexpected(std::move(stream.error()));
    auto more = stream->next();
    if (!more) return tl::unexpected(std::move(more.error()));
    if (!*more) {
        return fail("trace.empty", "the table is empty", "a line of names and rows of numbers", {},
                    Place{table.path, 0, 0, {}});
    }
    for (const auto cell : stream->cells()) table.names.emplace_back(cell);
    table.columns.resize(table.names.size());
    while (true) {
        more = stream->next();
        if (!more) return tl::unexpected(std::move(more.error()));
        if (!*more) break;
        const auto cells = stream->cells();
        const Place place{table.path, stream->line(), 0, {}};
        if (cells.size() != table.names.size()) {
            return fail("trace.short-row", fmt::format("a row of {} cells", cells.size()),
                        fmt::format("{} cells, as the first line has", table.names.size()), {}, place);
        }
        if (table.lines.size() == most_rows) {
            return fail("trace.too-large", "the table is too long", fmt::format("at most {} rows", most_rows), {},
                        place);
        }
        for (std::size_t i = 0; i < cells.size(); ++i) {
            double value = 0;
            if (!readNumber(cells[i], value)) {
                return fail("trace.bad-number", fmt::format("`{}` is no number", cells[i].substr(0, 40)),
                            fmt::format("a number in column {}", table.names[i]), {}, place);
            }
            table.columns[i].push_back(value);
        }
        table.lines.push_back(stream->line());
    }
    return table;
}

}  // namespace orrery
