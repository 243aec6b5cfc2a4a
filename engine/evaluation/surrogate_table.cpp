#include "evaluation/surrogate_table.h"

#include "base/text/csv_stream.h"
#include "base/text/nearest.h"
#include "base/text/words.h"
#include "learning/trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace orrery {

namespace {

constexpr std::size_t mostTableRows = 1'000'000, mostTableWords = 256;

struct Cells {
    std::vector<std::string> names;
    std::vector<std::vector<std::string>> rows;
    std::vector<int> lines;
    std::string path;

    std::optional<std::size_t> column(std::string_view name) const {
        const auto found = std::find(names.begin(), names.end(), name);
        return found == names.end() ? std::nullopt : std::optional<std::size_t>(found - names.begin());
    }
    Unexpected noColumn(std::string_view name) const {
        return fail("surrogate.no-column", fmt::format("no column is called `{}`", name), quotedList(names, "or"),
                    didYouMean(name, names), {path, 1});
    }
    Expected<std::vector<double>> numbers(std::size_t column) const {
        std::vector<double> out;
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const auto number = numberIn(rows[r][column]);
            if (!number) {
                return fail("surrogate.bad-number",
                            fmt::format("`{}` of `{}` is no number", rows[r][column], names[column]),
                            "a number in every row", {}, {path, lines[r]});
            }
            out.push_back(*number);
        }
        return out;
    }
};

Expected<Cells> readCells(const std::string& path) {
    auto stream = CsvStream::open(path);
    if (!stream) return Unexpected(stream.error());
    Cells cells;
    cells.path = path;
    for (;;) {
        const auto more = stream->next();
        if (!more) return Unexpected(more.error());
        if (!*more) break;
        std::vector<std::string> row(stream->cells().begin(), stream->cells().end());
        if (cells.names.empty()) {
            cells.names = std::move(row);
            continue;
        }
        if (row.size() != cells.names.size()) {
            return fail("surrogate.short-row", fmt::format("{} cells for {} columns", row.size(), cells.names.size()),
                        "a cell for every column", {}, {path, stream->line()});
        }
        if (cells.rows.size() == mostTableRows)
            return fail("surrogate.too-large", "the table has too many rows", fmt::format("at most {}", mostTableRows));
        cells.rows.push_back(std::move(row));
        cells.lines.push_back(stream->line());
    }
    if (cells.rows.empty())
        return fail("surrogate.empty", "the table has no rows", "a line of names and rows below it", {}, {path, 1});
    return cells;
}

// b = factor · a + constant in every row.
bool tellsAll(const std::vector<double>& a, const std::vector<double>& b) {
    double meanA = 0, meanB = 0, aa = 0, bb = 0, ab = 0;
    const auto count = static_cast<double>(a.size());
    for (std::size_t r = 0; r < a.size(); ++r) meanA += a[r] / count, meanB += b[r] / count;
    for (std::size_t r = 0; r < a.size(); ++r) {
        aa += (a[r] - meanA) * (a[r] - meanA);
        bb += (b[r] - meanB) * (b[r] - meanB);
        ab += (a[r] - meanA) * (b[r] - meanB);
    }
    return aa > 0 && bb > 0 && a.size() > 2 && ab * ab >= (1 - 1e-10) * aa * bb;
}

}  // namespace

Expected<SurrogateTable> readSurrogateTable(const std::string& path, const std::vector<std::string>& targets,
                                            const std::vector<std::string>& ignored) {
    const auto cells = readCells(path);
    if (!cells) return Unexpected(cells.error());
    SurrogateTable table;
    SurrogateRows& rows = table.rows;
    std::vector<bool> taken(cells->names.size(), false);
    for (const std::string& name : ignored) {
        const auto column = cells->column(name);
        if (!column) return cells->noColumn(name);
        taken[*column] = true;
    }
    for (const std::string& name : targets) {
        const auto column = cells->column(name);
        if (!column) return cells->noColumn(name);
        if (std::find(rows.targets.begin(), rows.targets.end(), name) != rows.targets.end()) continue;
        auto values = cells->numbers(*column);
        if (!values) return Unexpected(values.error());
        taken[*column] = true;
        rows.targets.push_back(name);
        rows.values.push_back(std::move(*values));
    }
    std::vector<std::vector<double>> columns;
    for (std::size_t c = 0; c < cells->names.size(); ++c) {
        if (taken[c]) continue;
        SurrogateInput input;
        input.name = cells->names[c];
        auto numbers = cells->numbers(c);
        if (numbers) {
            const auto told = std::find_if(rows.values.begin(), rows.values.end(),
                                           [&](const auto& values) { return tellsAll(*numbers, values); });
            if (told != rows.values.end()) {
                const std::string& target = rows.targets[static_cast<std::size_t>(told - rows.values.begin())];
                table.notes.push_back(
                    {.severity = Severity::Note,
                     .code = "surrogate.tells-all",
                     .message =
                         fmt::format("`{}` is `{}` but for a factor and a constant, and left out", input.name, target),
                     .place = {path, 1}});
                continue;
            }
            columns.push_back(std::move(*numbers));
        } else {
            input.words = true;
            std::vector<double> places;
            for (const auto& row : cells->rows) {
                if (placeOfWord(input, row[c]) < 0) input.values.push_back(row[c]);
                if (input.values.size() > mostTableWords) {
                    return fail("surrogate.words",
                                fmt::format("`{}` has more than {} words", input.name, mostTableWords),
                                "numbers, or a few words", "leave it out: `--ignore " + input.name + "`", {path, 1});
                }
                places.push_back(placeOfWord(input, row[c]));
            }
            columns.push_back(std::move(places));
        }
        rows.inputs.push_back(std::move(input));
    }
    if (rows.inputs.empty())
        return fail("surrogate.inputs", "no column is left as an input", "columns beside the targets", {}, {path, 1});
    for (std::size_t r = 0; r < cells->rows.size(); ++r)
        for (const auto& column : columns) rows.numbers.push_back(column[r]);
    takeRanges(rows);
    if (const std::size_t features = surrogateFeatureNames(rows.inputs).size(); features > largestInputs) {
        return fail("surrogate.inputs", fmt::format("the columns make {} features, a word being one", features),
                    fmt::format("at most {}", largestInputs), "leave some out with `--ignore`", {path, 1});
    }
    return table;
}

Expected<SurrogateTable> readRowsFor(const Surrogate& surrogate, const std::string& path) {
    const auto cells = readCells(path);
    if (!cells) return Unexpected(cells.error());
    SurrogateTable table;
    SurrogateRows& rows = table.rows;
    rows.inputs = surrogate.inputs;
    std::vector<std::vector<double>> columns;
    for (const SurrogateInput& input : surrogate.inputs) {
        const auto column = cells->column(input.name);
        if (!column) return cells->noColumn(input.name);
        if (!input.words) {
            auto numbers = cells->numbers(*column);
            if (!numbers) return Unexpected(numbers.error());
            columns.push_back(std::move(*numbers));
            continue;
        }
        columns.emplace_back();
        for (const auto& row : cells->rows) columns.back().push_back(placeOfWord(input, row[*column]));
    }
    for (const SurrogateTarget& target : surrogate.targets) {
        const auto column = cells->column(target.name);
        if (!column) continue;
        auto values = cells->numbers(*column);
        if (!values) return Unexpected(values.error());
        rows.targets.push_back(target.name);
        rows.values.push_back(std::move(*values));
    }
    for (std::size_t r = 0; r < cells->rows.size(); ++r)
        for (const auto& column : columns) rows.numbers.push_back(column[r]);
    return table;
}

}  // namespace orrery
