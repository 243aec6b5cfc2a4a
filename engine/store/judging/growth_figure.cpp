#include "store/judging/growth_figure.h"

#include "store/judging/svg_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace orrery {

namespace {

using store::SvgPage;

constexpr double letters = 8.5;  // pixels

Evaluation chosenOf(const Evaluation& evaluation, const std::vector<std::size_t>& places) {
    Evaluation some;
    const EvaluatedRows& all = evaluation.rows;
    for (const std::size_t i : places) {
        some.rows.predicted.push_back(all.predicted[i]);
        some.rows.low.push_back(all.low[i]);
        some.rows.high.push_back(all.high[i]);
        some.rows.measured.push_back(all.measured[i]);
        some.rows.ref.push_back(all.ref[i]);
    }
    return some;
}

}  // namespace

ErrorGrowth growthOf(const Evaluation& evaluation, std::span<const ReferenceTable> tables,
                     std::span<const RowRef> kernels, std::span<const RowRef> whole, std::size_t draws) {
    std::unordered_set<std::uint64_t> counts;
    for (const RowRef ref : kernels)
        if (tables[static_cast<std::size_t>(ref.table)].models.empty()) counts.insert(rowKey(ref));
    for (const RowRef ref : whole)
        if (!tables[static_cast<std::size_t>(ref.table)].models.empty()) counts.insert(rowKey(ref));
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < evaluation.rows.size(); ++i)
        if (counts.contains(rowKey(evaluation.rows.ref[i]))) places.push_back(i);
    return errorGrowth(chosenOf(evaluation, places), tables, growthCorrelation, 1, draws);
}

std::vector<MethodGrowth> growthsOf(const Judged& judged) {
    std::vector<MethodGrowth> all;
    const auto& rows = judged.question.common && !judged.common.empty() ? judged.common : judged.rows;
    for (const std::size_t i : judged.ranking) {
        ErrorGrowth growth = growthOf(*judged.entries[i].evaluation, *judged.tables, rows, judged.rows);
        if (growth.points.size() > 1) all.push_back({i, std::move(growth)});
    }
    return all;
}

std::string growthSvg(const ErrorGrowth& growth, std::string_view title, double width) {
    const double height = std::clamp(width * 0.5, 200.0, 320.0);
    SvgPage page(width, height, fmt::format("{}: error of a sum of kernels", title));
    if (growth.points.size() < 2) {
        page.text(width / 2, height / 2, "No two measured kernels of one device", letters + 1, store::mutedColour,
                  "middle");
        return page.finish();
    }
    const double levelsWide = growth.levels.empty() ? 0 : std::min(58.0, width * 0.13);
    const double left = 46, top = 22, bottom = height - 34;
    const double right = width - 70 - levelsWide * static_cast<double>(growth.levels.size());
    double low = 1e300, high = 0;
    for (const LevelPoint& level : growth.levels) {
        low = std::min(low, std::max(level.measured, 1e-6));
        high = std::max(high, level.measured);
    }
    for (const GrowthPoint& point : growth.points) {
        for (const double value : {point.measured, point.independent, point.common}) {
            if (value > 0) low = std::min(low, value);
            high = std::max(high, value);
        }
    }
    const int first = static_cast<int>(std::floor(std::log10(std::max(low, 1e-6)))),
              last = std::max(first + 1, static_cast<int>(std::ceil(std::log10(std::max(high, 1e-6)))));
    const double most = std::log2(static_cast<double>(growth.points.back().kernels));
    const auto x = [&](std::size_t kernels) {
        return left + std::log2(static_cast<double>(kernels)) / most * (right - left);
    };
    const auto y = [&](double error) {
        return bottom - (std::log10(std::max(error, std::pow(10.0, first))) - first) / (last - first) * (bottom - top);
    };
    for (int d = first; d <= last; ++d) {
        const double at = y(std::pow(10.0, d));
        page.line(left, at, width - 70, at, store::faintColour, 1);
        page.text(left - 5, at + 3, store::decadeOfError(d), letters, store::mutedColour, "end");
    }
    const std::size_t every = growth.points.size() > 7 ? 2 : 1;
    for (std::size_t i = 0; i < growth.points.size(); i += every)
        page.text(x(growth.points[i].kernels), bottom + 13, std::to_string(growth.points[i].kernels), letters,
                  store::mutedColour, "middle");
    page.text((left + right) / 2, height - 6, width < 400 ? "kernels in the sum" : "measured kernels in the sum",
              letters + 1, store::inkColour, "middle");
    page.text(left, 12, fmt::format("{}: error of the sum (root mean square)", title), letters + 0.5, store::inkColour,
              "start", true);
    struct Line {
        double GrowthPoint::*value;
        std::string_view name, colour, dash;
    };
    double above = -1e9;
    for (const Line& line : {Line{&GrowthPoint::common, "N: all alike", store::mutedColour, "4 3"},
                             Line{&GrowthPoint::measured, "measured", "#0072b2", ""},
                             Line{&GrowthPoint::independent, "√N: by itself", store::mutedColour, "1.5 2"}}) {
        std::vector<std::pair<double, double>> points;
        for (const GrowthPoint& point : growth.points) points.emplace_back(x(point.kernels), y(point.*line.value));
        page.polyline(points, line.colour, line.dash.empty() ? 1.8 : 1.2, line.dash);
        // What all kernels miss alike, sums of them miss whatever their number.
        if (line.value == &GrowthPoint::common && !growth.levels.empty())
            page.line(points.back().first, points.back().second, width - 70, points.back().second, line.colour, 1.2,
                      line.dash);
        for (std::size_t i = 0; line.dash.empty() && i < points.size(); ++i) {
            page.tip(fmt::format("sums of {} kernels: {:.1f} % off, {:.0f} % of them inside the interval",
                                 growth.points[i].kernels, 100 * growth.points[i].measured,
                                 100 * growth.points[i].coverage));
            page.circle(points[i].first, points[i].second, 3, line.colour, "#ffffff", 1);
        }
        // Names stand at the right end, each below the one before.
        above = std::max(above + 11, points.back().second + 3);
        page.text(width - 64, above, line.name, letters, line.dash.empty() ? "#0072b2" : store::mutedColour);
    }
    for (std::size_t i = 0; i < growth.levels.size(); ++i) {
        const LevelPoint& level = growth.levels[i];
        const double at = right + levelsWide * (static_cast<double>(i) + 0.5);
        page.tip(fmt::format(
            "{}: {} rows, {:.1f} % off (root mean square), median {:.1f} %, {:.0f} % inside the interval",
            levelName(level.task), level.rows, 100 * level.measured, 100 * level.median, 100 * level.coverage));
        page.polygon({{at - 4, y(level.measured) - 4},
                      {at + 4, y(level.measured) - 4},
                      {at + 4, y(level.measured) + 4},
                      {at - 4, y(level.measured) + 4}},
                     "#0072b2", "#ffffff", 1);
        const std::string name(levelName(level.task));
        const auto space = name.find(' ');
        page.text(at, bottom + 12, name.substr(0, space), letters, store::mutedColour, "middle");
        page.text(at, bottom + 22, fmt::format("{}, n {}", name.substr(space + 1), level.rows), letters - 0.5,
                  store::mutedColour, "middle");
    }
    return page.finish();
}

std::string growthCsv(const Judged& judged, std::span<const MethodGrowth> all) {
    std::string out = "method,level,rows,kernels,error_of_sum,independent,common,inside,common_by\n";
    for (const MethodGrowth& each : all) {
        std::string name = judged.entries[each.entry].asked;
        if (name.find_first_of(",\"") != std::string::npos) {
            std::string quoted = "\"";
            for (const char c : name) quoted.append(c == '"' ? "\"\"" : std::string(1, c));
            name = quoted + "\"";
        }
        for (const GrowthPoint& point : each.growth.points)
            out += fmt::format("{},kernels,{},{},{:.6g},{:.6g},{:.6g},{:.4g},{:.4g}\n", name, each.growth.rows,
                               point.kernels, point.measured, point.independent, point.common, point.coverage,
                               each.growth.correlation);
        for (const LevelPoint& level : each.growth.levels)
            out += fmt::format("{},{},{},,{:.6g},,,{:.4g},\n", name, toText(level.task), level.rows, level.measured,
                               level.coverage);
    }
    return out;
}

}  // namespace orrery
