#include "methods/trace/table_reader.h"

#include "base/text/csv_stream.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace orrery {

namespace {

constexpr std::size_t most_rows = 4'000'000;
constexpr double largest = 2147483647.0;

std::string pathOf(const std::filesystem::path& folder, std::string_view file) {
    std::error_code ignored;
    const std::filesystem::path plain = folder / file;
    const std::filesystem::path packed = plain.string() + ".gz";
    return !std::filesystem::exists(plain, ignored) && std::filesystem::exists(packed, ignored) ? packed.string()
                                                                                                : plain.string();
}

std::size_t find(std::span<const std::string_view> heads, std::string_view name) {
    for (std::size_t i = 0; i < heads.size(); ++i)
        if (heads[i] == name) return i;
    return heads.size();
}

}  // namespace

bool hasColumn(const std::filesystem::path& folder, std::string_view file, std::string_view column) {
    auto stream = CsvStream::open(pathOf(folder, file));
    if (!stream) return false;
    const auto more = stream->next();
    return more && *more && find(stream->cells(), column) < stream->cells().size();
}

Expected<TableColumns> readColumns(const std::filesystem::path& folder, std::string_view file,
                                   const std::vector<const char*>& texts, const std::vector<const char*>& numbers,
                                   double least) {
    const std::string path = pathOf(folder, file);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        return fail("tables.missing", fmt::format("{} is not there", file), "a table, plain or gzipped",
                    "is this the folder of a profile?", Place{.file = path});
    auto stream = CsvStream::open(path);
    if (!stream)
        return fail("tables.unreadable", stream.error().message, stream.error().expected, stream.error().hint,
                    stream.error().place);
    const auto place = [&] { return Place{.file = path, .line = stream->line()}; };
    const auto unreadable = [&](const Diagnostic& problem) {
        return fail("tables.unreadable", problem.message, problem.expected, problem.hint, problem.place);
    };
    auto more = stream->next();
    if (!more) return unreadable(more.error());
    std::vector<std::size_t> textAt, numberAt;
    const auto locate = [&](const char* name, std::vector<std::size_t>& at) -> Expected<void> {
        const std::size_t found = *more ? find(stream->cells(), name) : 0;
        if (!*more || found == stream->cells().size()) {
            std::string heads;
            if (*more)
                for (const std::string_view head : stream->cells())
                    heads += (heads.empty() ? "" : ", ") + std::string(head);
            return fail("tables.missing", fmt::format("there is no column {}", name),
                        heads.empty() ? std::string("a line of column names") : "it has " + heads.substr(0, 200),
                        "name the columns in the first line", place());
        }
        at.push_back(found);
        return {};
    };
    for (const char* name : texts)
        if (auto ok = locate(name, textAt); !ok) return Unexpected(ok.error());
    for (const char* name : numbers)
        if (auto ok = locate(name, numberAt); !ok) return Unexpected(ok.error());

    TableColumns table;
    table.texts.resize(texts.size());
    table.numbers.resize(numbers.size());
    while (true) {
        more = stream->next();
        if (!more) return unreadable(more.error());
        if (!*more) break;
        const auto cells = stream->cells();
        if (table.size() == most_rows)
            return fail("tables.too-large", fmt::format("{} has more than {} rows", file, most_rows), "a profile", "",
                        place());
        for (std::size_t i = 0; i < textAt.size(); ++i)
            table.texts[i].emplace_back(textAt[i] < cells.size() ? cells[textAt[i]] : std::string_view{});
        for (std::size_t i = 0; i < numberAt.size(); ++i) {
            const std::string_view cell = numberAt[i] < cells.size() ? cells[numberAt[i]] : std::string_view{};
            double value = 0;
            const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
            if (error != std::errc{} || end != cell.data() + cell.size() || !(value >= least && value <= largest))
                return fail("tables.number", fmt::format("{} is “{}”", numbers[i], cell.substr(0, 40)),
                            fmt::format("a number from {} to 2147483647", least),
                            "correct the cell or leave the row out", place());
            table.numbers[i].push_back(value);
        }
        table.lines.push_back(stream->line());
    }
    if (table.size() == 0)
        return fail("tables.empty", fmt::format("{} has no rows", file), "measured rows below the column names",
                    "profile again", Place{.file = path});
    return table;
}

}  // namespace orrery
