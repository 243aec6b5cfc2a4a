#include "widgets/graph/measured_times.h"

#include "base/text/words.h"
#include "base/unit.h"
#include "evaluation/csv_file.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <unordered_map>

namespace orrery::ui {
namespace {

std::optional<std::size_t> columnOf(const CsvFile& file, const std::vector<std::string>& starts) {
    for (std::size_t c = 0; c < file.header.size(); ++c) {
        for (const std::string& start : starts) {
            if (lower(file.header[c]).starts_with(start)) return c;
        }
    }
    return std::nullopt;
}

/// `us` of `time (us)`, `time [us]`, `time_us`; empty if there is none.
std::string unitOf(const std::string& header) {
    const std::size_t begin = header.find_first_of("([_ ");
    if (begin == std::string::npos) return {};
    const std::size_t from = header.find_first_not_of("([_ ", begin);
    if (from == std::string::npos) return {};
    return header.substr(from, header.find_first_of(")] ", from) - from);
}

}  // namespace

Expected<MeasuredTimes> readMeasuredTimes(const std::string& path, const Graph& graph) {
    Expected<CsvFile> file = readCsv(path);
    if (!file) return tl::unexpected(file.error());
    const std::optional<std::size_t> name = columnOf(*file, {"operator", "name"});
    const std::optional<std::size_t> time = columnOf(*file, {"time", "duration"});
    if (!name || !time)
        return fail("measured.columns", "the file has no column of " + std::string(!name ? "operators" : "times"),
                    "a first line like: operator,time (us)", "name the columns `operator` and `time`",
                    {path, 1, 0, {}});
    const std::string unit = unitOf(file->header[*time]);
    if (!unit.empty() && !parseMeasure("1 " + unit, Dimension::Time))
        return fail("measured.unit", "`" + unit + "` is no unit of time", "s, ms, us or ns",
                    "write the column as `time (us)`", {path, 1, 0, {}});

    std::unordered_map<std::string_view, std::size_t> operators;
    for (std::size_t op = 0; op < graph.operators.size(); ++op) operators.emplace(graph.operators[op].name, op);
    MeasuredTimes result;
    result.seconds.assign(graph.operators.size(), std::numeric_limits<double>::quiet_NaN());
    std::set<std::string> unmatched;
    for (std::size_t row = 0; row < file->rows.size(); ++row) {
        const auto& cells = file->rows[row];
        const int line = static_cast<int>(row) + 2;
        if (cells.size() <= std::max(*name, *time))
            return fail("measured.short-row", "the line has too few cells", {}, {}, {path, line, 0, {}});
        const std::string& cell = cells[*time];
        const bool bare =
            !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell.back())) || cell.back() == '.');
        const Expected<Measure> measure =
            parseMeasure(bare && !unit.empty() ? cell + " " + unit : cell, Dimension::Time);
        if (!measure || measure->perCycle || measure->si < 0)
            return fail("measured.time", "`" + cell + "` is no time", "a number of 0 or more, with a unit: 0.19 ms", {},
                        {path, line, 0, {}});
        const auto found = operators.find(cells[*name]);
        if (found == operators.end()) {
            if (unmatched.insert(cells[*name]).second) result.unmatched.push_back(cells[*name]);
            continue;
        }
        double& seconds = result.seconds[found->second];
        if (std::isnan(seconds)) seconds = 0, ++result.matched;
        seconds += measure->si;
    }
    if (result.matched == 0)
        return fail("measured.no-match", "no row names an operator of this workload",
                    graph.operators.empty() ? std::string() : "names like `" + graph.operators.front().name + "`",
                    "use the names of the operator table", {path, 0, 0, {}});
    return result;
}

}  // namespace orrery::ui
