#include "workload/traces/table_columns.h"

#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

constexpr double most_in_cell = 9e15;

}  // namespace

TableColumns::TableColumns(std::string_view text, std::string_view file)
    : rows_(CsvStream::of(text, std::string(file))), file_(file) {}

Expected<bool> TableColumns::next() {
    for (;;) {
        auto more = rows_.next();
        if (!more || !*more) return more;
        if (names_.empty()) {
            for (const std::string_view cell : rows_.cells()) names_.emplace_back(cell);
            continue;
        }
        return true;
    }
}

Expected<std::string_view> TableColumns::cell(std::string_view name) const {
    const auto at = std::find(names_.begin(), names_.end(), name);
    if (at == names_.end()) return refuse("trace.syntax", fmt::format("there is no column `{}`", name), {});
    const auto column = static_cast<std::size_t>(at - names_.begin());
    if (column >= rows_.cells().size())
        return refuse("trace.syntax", fmt::format("the row ends before `{}`", name),
                      fmt::format("{} cells", names_.size()));
    return rows_.cells()[column];
}

bool TableColumns::has(std::string_view name) const {
    return std::find(names_.begin(), names_.end(), name) != names_.end();
}

Expected<double> TableColumns::number(std::string_view name) const {
    const auto text = cell(name);
    if (!text) return Unexpected(text.error());
    const auto value = numberIn(*text);
    if (!value || *value < 0 || *value > most_in_cell)
        return refuse("trace.value", fmt::format("`{}` of {} makes no sense", *text, name), "a number from 0 on");
    return *value;
}

Unexpected TableColumns::refuse(std::string code, std::string message, std::string expected, std::string hint) const {
    return fail(std::move(code), std::move(message), std::move(expected), std::move(hint),
                {std::string(file_), std::max(1, rows_.line()), 0, {}});
}

}  // namespace orrery
