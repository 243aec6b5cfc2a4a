#include "base/text/table.h"

#include "base/text/csv_stream.h"
#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace orrery {

namespace {

std::string joinedNames(const auto& names) {
    std::string list;
    for (const std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
    return list.substr(0, 200);
}

class TableReading {
public:
    TableReading(CsvStream& stream, const TableSpec& spec) : stream_(stream), spec_(spec) {
        table_.path = stream.path();
        table_.area = spec.area;
    }

    Expected<Table> read() {
        auto more = stream_.next();
        if (!more) return damaged(more.error());
        if (!*more) return none("the table is empty", "a line of column names and rows below it");
        if (auto good = head(); !good) return Unexpected(good.error());
        while (true) {
            more = stream_.next();
            if (!more) return damaged(more.error());
            if (!*more) break;
            if (auto good = row(); !good) return Unexpected(good.error());
        }
        if (table_.size() == 0 && !spec_.mayBeEmpty)
            return none("the table has no rows", "rows below the column names");
        return std::move(table_);
    }

private:
    Place place() const { return {table_.path, stream_.line(), 0, {}}; }
    std::string code(std::string_view word) const { return fmt::format("{}.{}", spec_.area, word); }
    Unexpected damaged(const Diagnostic& problem) const {
        return fail(code("unreadable"), problem.message, problem.expected, problem.hint, problem.place);
    }
    Unexpected none(std::string message, std::string expected) const {
        return fail(code("empty"), std::move(message), std::move(expected), "write the table again",
                    Place{table_.path, 0, 0, {}});
    }

    Expected<void> head() {
        const auto cells = stream_.cells();
        wanted_ = spec_.columns;
        all_ = wanted_.empty();
        constexpr double endless = std::numeric_limits<double>::max();
        if (all_)
            for (const auto cell : cells) wanted_.push_back({std::string(cell), false, -endless, endless});
        for (std::size_t i = 0; i < wanted_.size(); ++i) {
            const auto found = all_ ? cells.begin() + static_cast<std::ptrdiff_t>(i)
                                    : std::find(cells.begin(), cells.end(), wanted_[i].name);
            if (found == cells.end()) {
                return fail(code("no-column"), fmt::format("the table has no column {}", wanted_[i].name),
                            "it has " + joinedNames(cells), "name the columns in the first line", place());
            }
            at_.push_back(static_cast<std::size_t>(found - cells.begin()));
            table_.names.push_back(wanted_[i].name);
        }
        width_ = cells.size();
        table_.numbers.resize(wanted_.size());
        table_.texts.resize(wanted_.size());
        return {};
    }

    Expected<void> row() {
        const auto cells = stream_.cells();
        if (all_ && cells.size() != width_) {
            return fail(code("short-row"), fmt::format("a row of {} cells", cells.size()),
                        fmt::format("{} cells, as the first line has", width_), "repair the line", place());
        }
        if (table_.size() == spec_.mostRows) {
            return fail(code("too-large"), "the table is too long", fmt::format("at most {} rows", spec_.mostRows),
                        std::string(spec_.hint), place());
        }
        for (std::size_t i = 0; i < at_.size(); ++i) {
            const TableColumn& column = wanted_[i];
            if (at_[i] >= cells.size()) {
                return fail(code("short-row"), fmt::format("the line ends before column {}", column.name),
                            "a cell for every column", "repair the line", place());
            }
            const std::string_view cell = cells[at_[i]];
            if (column.text) {
                table_.texts[i].emplace_back(cell);
                continue;
            }
            if (all_ && cell.empty()) {
                table_.numbers[i].push_back(std::numeric_limits<double>::quiet_NaN());
                continue;
            }
            const auto value = numberIn(cell);
            if (!value || *value < column.least || *value > column.most) return badCell(column, cell);
            table_.numbers[i].push_back(*value);
        }
        table_.lines.push_back(stream_.line());
        return {};
    }
    Unexpected badCell(const TableColumn& column, std::string_view cell) const {
        return fail(
            code("bad-number"), fmt::format("{} is “{}”", column.name, cell.substr(0, 40)),
            all_ ? std::string("a number") : fmt::format("a number from {:.10g} to {:.10g}", column.least, column.most),
            "correct the cell or leave the row out", place());
    }

    CsvStream& stream_;
    const TableSpec& spec_;
    Table table_;
    std::vector<TableColumn> wanted_;
    std::vector<std::size_t> at_;  // cell of each wanted column
    std::size_t width_ = 0;
    bool all_ = false;
};

}  // namespace

TableColumn textColumn(std::string name) {
    return {std::move(name), true};
}

std::vector<TableColumn> numberColumns(std::initializer_list<std::string> names, double least, double most) {
    std::vector<TableColumn> columns;
    for (const auto& name : names) columns.push_back({name, false, least, most});
    return columns;
}

Expected<const std::vector<double>*> Table::column(std::string_view name) const {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return &numbers[i];
    }
    return fail(fmt::format("{}.no-column", area), fmt::format("the table has no column {}", name),
                "it has " + joinedNames(names), "name the columns in the first line", Place{path, 1, 0, {}});
}

std::string plainOrPacked(const std::string& path) {
    std::error_code ignored;
    const bool packed =
        !std::filesystem::is_regular_file(path, ignored) && std::filesystem::is_regular_file(path + ".gz", ignored);
    return packed ? path + ".gz" : path;
}

bool hasColumn(const std::string& path, std::string_view column) {
    auto stream = CsvStream::open(plainOrPacked(path));
    if (!stream) return false;
    const auto more = stream->next();
    const auto cells = stream->cells();
    return more && *more && std::find(cells.begin(), cells.end(), column) != cells.end();
}

Expected<Table> readTable(const std::string& path, const TableSpec& spec) {
    const std::string file = plainOrPacked(path);
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
        return fail(fmt::format("{}.no-table", spec.area), "the table is not there",
                    fmt::format("{}, plain or .gz", spec.what), std::string(spec.hint), Place{path, 0, 0, {}});
    }
    auto stream = CsvStream::open(file);
    if (!stream) {
        const Diagnostic& problem = stream.error();
        return fail(fmt::format("{}.unreadable", spec.area), problem.message, problem.expected, problem.hint,
                    problem.place);
    }
    return TableReading(*stream, spec).read();
}

}  // namespace orrery
