#include "methods/adapter/adapter_output.h"

#include "base/text/csv_stream.h"
#include "base/text/json_node.h"
#include "base/text/read_file.h"
#include "base/text/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>

namespace orrery {

namespace {

namespace fs = std::filesystem;
constexpr std::size_t largestReport = std::size_t{64} << 20;
/// libstdc++ matches by recursion: lines that no report has are passed over.
constexpr std::size_t longestLine = 4096;

struct Reading {
    std::vector<double> values;
    std::vector<int> lines;
};

/// `*` stands for any letters of one part of the path.
bool fits(std::string_view pattern, std::string_view name) {
    const auto star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == name;
    if (!name.starts_with(pattern.substr(0, star))) return false;
    pattern.remove_prefix(star + 1);
    for (std::size_t at = star; at <= name.size(); ++at)
        if (fits(pattern, name.substr(at))) return true;
    return false;
}

/// The one file that a pattern names in a folder; empty: none, and several are refused.
Expected<std::string> fileOf(const std::string& folder, const std::string& pattern, const AdapterRead& read,
                             const Adapter& adapter) {
    std::vector<fs::path> found{folder};
    for (const fs::path& part : fs::path(pattern)) {
        std::vector<fs::path> next;
        for (const fs::path& from : found) {
            std::error_code problem;
            if (part.string().find('*') == std::string::npos) {
                if (fs::exists(from / part, problem)) next.push_back(from / part);
                continue;
            }
            for (fs::directory_iterator entry(from, problem), end; !problem && entry != end; entry.increment(problem))
                if (fits(part.string(), entry->path().filename().string())) next.push_back(entry->path());
        }
        found = std::move(next);
    }
    if (found.empty()) return std::string();
    if (found.size() > 1)
        return fail("adapter.output", fmt::format("{} files are called `{}` in {}", found.size(), pattern, folder),
                    "one", "write more of its name", adapter.place(read.line));
    return found.front().string();
}

/// `1,234,567` as 1234567.
std::optional<double> numberOf(std::string_view text) {
    std::string plain;
    for (const char each : trimmed(text))
        if (each != ',' && each != '\'') plain += each;
    if (plain.starts_with("+")) plain.erase(0, 1);
    return numberIn(plain);
}

Unexpected noNumber(std::string_view text, const std::string& name, const std::string& file, int line) {
    const std::string shown(text.substr(0, 40));
    return fail("adapter.output",
                fmt::format("`{}` is no number, and `{}` should be one", isUtf8(shown) ? shown : "…", name),
                "a finite number", "is this the output of the version that the adapter was written for?",
                Place{file, line, 0, {}});
}

Expected<Reading> byRegex(const AdapterRead& read, const std::string& text, const std::string& file) {
    Reading reading;
    const std::regex pattern(read.regex);
    int line = 0;
    for (const std::string_view each : split(text, '\n')) {
        ++line;
        if (each.size() > longestLine) continue;
        std::match_results<std::string_view::const_iterator> match;
        if (!std::regex_search(each.begin(), each.end(), match, pattern)) continue;
        const std::string said = match[1].str();
        const auto value = numberOf(said);
        if (!value) return noNumber(said, read.name, file, line);
        reading.values.push_back(*value);
        reading.lines.push_back(line);
    }
    return reading;
}

Expected<Reading> byColumn(const AdapterRead& read, const std::string& text, const std::string& file,
                           const Adapter& adapter, const AdapterValues& values) {
    Reading reading;
    auto stream = CsvStream::of(text, file);
    auto more = stream.next();
    if (!more) return Unexpected(std::move(more.error()));
    if (!*more) return reading;
    std::vector<std::string> names;
    for (const auto cell : stream.cells()) names.emplace_back(cell);
    const auto at = [&](const std::string& name) -> Expected<std::size_t> {
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end())
            return fail("adapter.output", fmt::format("there is no column `{}`", name),
                        fmt::format("one of {}", fmt::join(names, ", ")), {}, Place{file, stream.line(), 0, {}});
        return static_cast<std::size_t>(found - names.begin());
    };
    const auto column = at(read.column);
    if (!column) return Unexpected(column.error());
    std::vector<std::pair<std::size_t, double>> wanted;
    for (const NamedExpression& each : read.where) {
        const auto place = at(each.name);
        if (!place) return Unexpected(place.error());
        const auto value = values.number(each.value, adapter, each.line);
        if (!value) return Unexpected(value.error());
        wanted.emplace_back(*place, *value);
    }
    std::vector<std::pair<std::size_t, std::string>> words;
    for (const auto& [name, word] : read.whereText) {
        const auto place = at(name);
        if (!place) return Unexpected(place.error());
        auto expanded = values.expand(word, adapter);
        if (!expanded) return Unexpected(std::move(expanded.error()));
        words.emplace_back(*place, std::move(*expanded));
    }
    const auto says = [&stream](const std::pair<std::size_t, std::string>& each) {
        return each.first < stream.cells().size() && stream.cells()[each.first] == each.second;
    };
    while (true) {
        more = stream.next();
        if (!more) return Unexpected(std::move(more.error()));
        if (!*more) return reading;
        const auto cells = stream.cells();
        const auto matches = [&](const auto& each) {
            const auto value = each.first < cells.size() ? numberOf(cells[each.first]) : std::nullopt;
            return value && std::abs(*value - each.second) <= 1e-9 * std::max(1.0, std::abs(each.second));
        };
        if (!std::all_of(wanted.begin(), wanted.end(), matches)) continue;
        if (!std::all_of(words.begin(), words.end(), says)) continue;
        if (*column >= cells.size())
            return fail("adapter.output", fmt::format("this row ends before its column `{}`", read.column),
                        fmt::format("{} cells", names.size()), {}, Place{file, stream.line(), 0, {}});
        const auto value = numberOf(cells[*column]);
        if (!value) return noNumber(cells[*column], read.name, file, stream.line());
        reading.values.push_back(*value);
        reading.lines.push_back(stream.line());
    }
}

Expected<Reading> byPointer(const AdapterRead& read, const std::string& text, const std::string& file) {
    auto root = parseJson(text, file, "adapter", {.bytes = largestReport});
    if (!root) return Unexpected(std::move(root.error()));
    const JsonNode* node = &*root;
    for (const std::string_view part : split(std::string_view(read.pointer).substr(1), '/')) {
        const JsonNode* next = nullptr;
        if (node->isObject()) next = node->find(part);
        if (const auto index = wholeIn(part);
            node->isArray() && index && *index >= 0 && static_cast<std::size_t>(*index) < node->items.size())
            next = &node->items[static_cast<std::size_t>(*index)];
        if (!next) return Reading{};
        node = next;
    }
    if (!node->isNumber()) return noNumber(node->shown(), read.name, file, node->line);
    return Reading{{node->number}, {node->line}};
}

}  // namespace

Expected<std::optional<double>> readNumber(const AdapterRead& read, const Adapter& adapter, const AdapterValues& values,
                                           const std::string& folder, bool recorded) {
    const std::string pattern = read.file.empty() ? "stdout.txt" : read.file == "stderr" ? "stderr.txt" : read.file;
    auto file = fileOf(folder, pattern, read, adapter);
    if (!file) return Unexpected(std::move(file.error()));
    if (file->empty()) {
        if (recorded) return std::optional<double>();
        return fail("adapter.output", fmt::format("the program has written no `{}`", pattern),
                    fmt::format("a file with `{}`", read.name), "run its command by hand and look",
                    adapter.place(read.line));
    }
    const auto text = readFile(*file, {.most = largestReport, .code = "adapter.output", .expected = "a report"});
    if (!text) return Unexpected(text.error());
    auto reading = !read.regex.empty()    ? byRegex(read, *text, *file)
                   : !read.column.empty() ? byColumn(read, *text, *file, adapter, values)
                                          : byPointer(read, *text, *file);
    if (!reading) {
        reading.error().code = "adapter.output";
        return Unexpected(std::move(reading.error()));
    }
    const auto& found = reading->values;
    if (found.empty()) {
        if (read.absent) return read.absent;
        if (recorded && !(read.where.empty() && read.whereText.empty())) return std::optional<double>();
        const std::string sought = !read.regex.empty() ? read.regex : !read.column.empty() ? read.column : read.pointer;
        return fail("adapter.output", fmt::format("there is no `{}` in it: nothing fits `{}`", read.name, sought),
                    "the output of the version that the adapter was written for", {}, Place{*file, 1, 0, {}});
    }
    switch (read.row) {
        case AdapterRow::Only:
            if (found.size() > 1)
                return fail(
                    "adapter.output",
                    fmt::format("`{}` stands there {} times, and the adapter expects one", read.name, found.size()),
                    "row: first, last, sum, mean or most", {}, Place{*file, reading->lines[1], 0, {}});
            break;
        case AdapterRow::First:
            break;
        case AdapterRow::Last:
            return std::optional(found.back());
        case AdapterRow::Sum:
        case AdapterRow::Mean: {
            double sum = 0;
            for (const double each : found) sum += each;
            return std::optional(read.row == AdapterRow::Sum ? sum : sum / static_cast<double>(found.size()));
        }
        case AdapterRow::Most:
            return std::optional(*std::max_element(found.begin(), found.end()));
    }
    return std::optional(found.front());
}

}  // namespace orrery
