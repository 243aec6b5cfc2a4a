#include "methods/system/cases/published_parts.h"

#include "base/text/csv_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace orrery {

Expected<TextColumns> readColumns(const std::string& path, const std::vector<std::string_view>& names,
                                  std::string_view area) {
    auto file = CsvStream::open(path);
    if (!file) return tl::unexpected(file.error());
    TextColumns out;
    out.path = path;
    out.width = names.size();
    std::vector<std::size_t> at;
    for (;;) {
        const auto more = file->next();
        if (!more) return tl::unexpected(more.error());
        if (!*more) break;
        const auto cells = file->cells();
        if (at.empty()) {
            for (const std::string_view name : names) {
                const auto found = std::find(cells.begin(), cells.end(), name);
                if (found == cells.end())
                    return fail(fmt::format("{}.no-column", area), fmt::format("the table has no column {}", name),
                                fmt::format("columns {}", fmt::join(names, ", ")),
                                "give the file as the simulator wrote it", {path, file->line()});
                at.push_back(static_cast<std::size_t>(found - cells.begin()));
            }
            continue;
        }
        for (std::size_t c = 0; c < at.size(); ++c) {
            if (at[c] >= cells.size())
                return fail(fmt::format("{}.bad-value", area), fmt::format("the line ends before column {}", names[c]),
                            "a cell for every column", "repair the line", {path, file->line()});
            out.cells.emplace_back(cells[at[c]]);
        }
        out.lines.push_back(file->line());
    }
    if (out.lines.empty())
        return fail(fmt::format("{}.no-rows", area), "the table has no rows", "a row per request", {}, {path});
    return out;
}

Expected<double> numberAt(const TextColumns& table, std::size_t row, std::size_t column, double low, double high,
                          std::string_view area) {
    const std::string& text = table.at(row, column);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value >= low) || !(value <= high))
        return fail(fmt::format("{}.bad-value", area), fmt::format("\"{}\" is out of place", text.substr(0, 40)),
                    fmt::format("a number from {} to {}", low, high), "repair the line",
                    {table.path, table.lines[row]});
    return value;
}

bool fileExists(const std::string& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

RequestStream streamOf(std::vector<PublishedRow> rows, std::string name, std::string source) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const PublishedRow& a, const PublishedRow& b) { return a.arrival < b.arrival; });
    RequestStream stream;
    stream.name = std::move(name);
    stream.source = std::move(source);
    for (const PublishedRow& row : rows) {
        stream.arrival.push_back(toTicks(row.arrival));
        stream.prompt.push_back(row.prompt);
        stream.output.push_back(row.output);
        stream.id.push_back(row.id);
    }
    return stream;
}

}  // namespace orrery
