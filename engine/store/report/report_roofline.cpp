#include "base/unit.h"
#include "store/export/export_parts.h"
#include "store/report/report_labels.h"
#include "store/report/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

namespace orrery::store {

namespace {

constexpr double width = 916, height = 470;
constexpr double left = 84, right = 18, top = 22, bottom = 48;
constexpr std::size_t mostPoints = 600;
constexpr int namedPoints = 4;

struct Point {
    std::size_t op;
    double intensity, rate, seconds;
};

// Logarithmic axes over whole decades.
struct Axes {
    double x0, x1, y0, y1;  // log10
    double x(double value) const { return left + (std::log10(value) - x0) / (x1 - x0) * (width - left - right); }
    double y(double value) const {
        return height - bottom - (std::log10(value) - y0) / (y1 - y0) * (height - top - bottom);
    }
};

std::vector<Point> pointsOf(const Estimate& estimate) {
    std::vector<Point> points;
    const OperatorEstimates& columns = estimate.operators;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (i >= columns.flops.size() || i >= columns.bytes.size()) break;
        const double flops = columns.flops[i], bytes = columns.bytes[i], seconds = columns.seconds[i];
        if (flops > 0 && bytes > 0 && seconds > 0) points.push_back({i, flops / bytes, flops / seconds, seconds});
    }
    std::stable_sort(points.begin(), points.end(),
                     [](const Point& a, const Point& b) { return a.seconds > b.seconds; });
    return points;
}

// Ceilings of equal height share one line and one label.
std::vector<Ceiling> joined(const std::vector<Ceiling>& ceilings, bool memory) {
    std::vector<Ceiling> lines;
    for (const Ceiling& ceiling : ceilings) {
        if (ceiling.memory != memory || !(ceiling.rate > 0) || !std::isfinite(ceiling.rate)) continue;
        const auto same = std::find_if(lines.begin(), lines.end(), [&](const Ceiling& line) {
            return std::fabs(line.rate / ceiling.rate - 1) < 1e-6;
        });
        if (same == lines.end()) {
            lines.push_back(ceiling);
        } else if (same->label != ceiling.label) {
            same->label += " · " + ceiling.label;
        }
    }
    std::stable_sort(lines.begin(), lines.end(), [](const Ceiling& a, const Ceiling& b) { return a.rate > b.rate; });
    return lines;
}

Axes axesFor(const std::vector<Point>& points, const std::vector<Ceiling>& roofs, const std::vector<Ceiling>& slopes) {
    double x0 = 1e300, x1 = 0, y0 = 1e300, y1 = 0;
    const auto include = [](double value, double& low, double& high) {
        low = std::min(low, value);
        high = std::max(high, value);
    };
    for (std::size_t i = 0; i < points.size() && i < mostPoints; ++i) {
        include(points[i].intensity, x0, x1);
        include(points[i].rate, y0, y1);
    }
    for (const Ceiling& roof : roofs) include(roof.rate, y0, y1);
    // Every ridge is on the page: it is what a roofline is read for.
    for (const Ceiling& slope : slopes) {
        if (!roofs.empty()) include(roofs.front().rate / slope.rate, x0, x1);
    }
    // Many decades below the roofs there is nothing to read, only stragglers.
    y0 = std::max(y0, y1 * 1e-7);
    x0 = std::max(x0, x1 * 1e-8);
    Axes axes{std::floor(std::log10(x0)), std::ceil(std::log10(x1) + 0.15), std::floor(std::log10(y0)),
              std::ceil(std::log10(y1) + 0.05)};
    if (axes.x1 - axes.x0 < 2) axes.x1 = axes.x0 + 2;
    if (axes.y1 - axes.y0 < 2) axes.y0 = axes.y1 - 2;
    return axes;
}

std::string grid(const Axes& axes) {
    std::string out;
    const auto put = std::back_inserter(out);
    const int stepX = axes.x1 - axes.x0 > 9 ? 2 : 1;
    for (int decade = static_cast<int>(axes.x0); decade <= static_cast<int>(axes.x1); decade += stepX) {
        const double value = std::pow(10.0, decade), x = axes.x(value);
        fmt::format_to(put, R"(<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}"/>)", x, top,
                       height - bottom);
        fmt::format_to(put, R"(<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>)", x, height - bottom + 18,
                       escaped(formatMeasure(value, Dimension::Number)));
    }
    for (int decade = static_cast<int>(axes.y0); decade <= static_cast<int>(axes.y1); ++decade) {
        const double value = std::pow(10.0, decade), y = axes.y(value);
        fmt::format_to(put, R"(<line class="grid" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>)", left, width - right,
                       y);
        fmt::format_to(put, R"(<text x="{}" y="{:.1f}" text-anchor="end">{}</text>)", left - 8, y + 4,
                       escaped(formatMeasure(value, Dimension::OperationRate)));
    }
    fmt::format_to(
        put, R"(<text x="{}" y="{}" text-anchor="middle">arithmetic intensity, FLOP per byte of main memory</text>)",
        (left + width - right) / 2, height - 8);
    return out;
}

Disc discOf(const Axes& axes, const Point& point, double total) {
    return {std::clamp(axes.x(point.intensity), left, width - right),
            std::clamp(axes.y(point.rate), top, height - bottom),
            3 + 17 * std::sqrt(total > 0 ? point.seconds / total : 0)};
}

// Slopes end at the highest roof.
std::vector<Slope> slopeLines(const Axes& axes, const std::vector<Ceiling>& slopes, double highest) {
    std::vector<Slope> lines;
    for (const Ceiling& slope : slopes) {
        const double from = std::max(std::pow(10.0, axes.x0), std::pow(10.0, axes.y0) / slope.rate);
        const double to = std::max(from, std::min(std::pow(10.0, axes.x1), highest / slope.rate));
        const double x = axes.x(from), y = axes.y(from * slope.rate);
        const double dx = axes.x(to) - x, dy = axes.y(to * slope.rate) - y, length = std::hypot(dx, dy);
        lines.push_back({x, y, length, length > 0 ? dx / length : 1, length > 0 ? dy / length : 0});
    }
    return lines;
}

std::string slopesText(const std::vector<Ceiling>& slopes, const std::vector<Slope>& lines, LabelPlaces& places) {
    std::string drawn, names;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const Slope& line = lines[i];
        if (!(line.length > 0)) continue;
        fmt::format_to(std::back_inserter(drawn),
                       R"(<line class="slope" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)", line.x, line.y,
                       line.x + line.length * line.cosine, line.y + line.length * line.sine);
        const auto spot = places.alongSlope(i, 6.2 * static_cast<double>(slopes[i].label.size()));
        const double angle = std::atan2(line.sine, line.cosine) * 180 / 3.14159265358979;
        fmt::format_to(
            std::back_inserter(names),
            R"svg(<text class="slopename halo" transform="translate({:.1f} {:.1f}) rotate({:.2f})" x="{:.0f}" y="{}">{}</text>)svg",
            line.x, line.y, angle, spot.along, spot.above ? -5 : 14, escaped(slopes[i].label));
    }
    return drawn + names;
}

std::string kindsLegend(const Scenario& scenario, const std::vector<Point>& points) {
    std::set<OperatorKind> kinds;
    for (const Point& point : points) kinds.insert(operatorLabel(scenario, point.op).kind);
    std::string out = R"(<div class="legend">)";
    for (const OperatorKind kind : kinds) {
        out += fmt::format(R"(<span><i class="{}"></i>{}</span>)", kindClass(kind), escaped(orrery::toText(kind)));
    }
    return out + "</div>";
}

std::string roofsText(const Axes& axes, const std::vector<Ceiling>& roofs, const std::vector<Ceiling>& slopes,
                      LabelPlaces& places) {
    std::string lines, names;
    for (const Ceiling& roof : roofs) {
        const double y = axes.y(roof.rate);
        const double start =
            axes.x(std::clamp(roof.rate / slopes.front().rate, std::pow(10.0, axes.x0), std::pow(10.0, axes.x1)));
        fmt::format_to(std::back_inserter(lines),
                       R"(<line class="roof" x1="{0:.1f}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>)", start, width - right,
                       y);
        const double wide = 6.4 * static_cast<double>(roof.label.size());
        std::vector<Box> candidates;
        for (double end = width - right; end - wide > start; end -= 20) {
            candidates.push_back({end - wide, y - 17, wide, 13});
            candidates.push_back({end - wide, y + 4, wide, 13});
        }
        // A roof without its name says nothing: rather over a point than not at all.
        const auto free = places.firstFree(candidates);
        if (candidates.empty()) continue;
        const Box box = free.value_or(candidates.front());
        fmt::format_to(std::back_inserter(names),
                       R"(<text class="roofname halo" x="{:.1f}" y="{:.1f}" text-anchor="end">{}</text>)", box.x + wide,
                       box.y + 12, escaped(roof.label));
    }
    return lines + names;
}

// The end of a long name, whose beginning is the same for a whole block; cut between characters.
std::string shortName(const std::string& name) {
    constexpr std::size_t longest = 34;
    if (name.size() <= longest) return name;
    std::size_t from = name.size() - longest + 2;
    while (from < name.size() && (static_cast<unsigned char>(name[from]) & 0xC0) == 0x80) ++from;
    return "…" + name.substr(from);
}

std::string pointsText(const Axes& axes, const Scenario& scenario, const Estimate& estimate,
                       const std::vector<Point>& points, double total, LabelPlaces& places) {
    std::string out, names;
    int named = 0;
    for (std::size_t i = 0; i < points.size() && i < mostPoints; ++i) {
        const Point& point = points[i];
        const auto label = operatorLabel(scenario, point.op);
        const double share = total > 0 ? point.seconds / total : 0;
        const auto [x, y, radius] = discOf(axes, point, total);
        fmt::format_to(
            std::back_inserter(out),
            R"(<circle class="point {}" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"><title>{}&#10;{} of {:.1f} %, {}, {}&#10;bound by {}</title></circle>)",
            kindClass(label.kind), x, y, radius, escaped(label.name), escaped(format(Seconds(point.seconds))),
            100 * share, escaped(format(FlopsPerSecond(point.rate))), escaped(format(FlopsPerByte(point.intensity))),
            escaped(boundText(estimate, point.op)));
        if (named >= namedPoints || share < 0.02) continue;
        const std::string name = shortName(label.name);
        const double wide = 6.6 * static_cast<double>(name.size()), gap = radius + 6;
        const auto box = places.firstFree({{x + gap, y - 7, wide, 14},
                                           {x + gap, y + 4, wide, 14},
                                           {x - gap - wide, y - 7, wide, 14},
                                           {x - wide / 2, y + gap, wide, 14},
                                           {x - wide / 2, y - gap - 14, wide, 14}});
        if (!box) continue;
        ++named;
        fmt::format_to(std::back_inserter(names), R"(<text class="label halo" x="{:.1f}" y="{:.1f}">{}</text>)", box->x,
                       box->y + 12, escaped(name));
    }
    return out + names;
}

}  // namespace

std::string rooflineSvg(const Scenario& scenario, const Estimate& estimate) {
    const auto points = pointsOf(estimate);
    const auto roofs = joined(estimate.ceilings, false), slopes = joined(estimate.ceilings, true);
    if (points.empty() || roofs.empty() || slopes.empty()) return {};
    const Axes axes = axesFor(points, roofs, slopes);
    const double total = std::accumulate(estimate.operators.seconds.begin(), estimate.operators.seconds.end(), 0.0);
    std::vector<Disc> discs;
    for (std::size_t i = 0; i < points.size() && i < mostPoints; ++i) discs.push_back(discOf(axes, points[i], total));
    std::vector<double> heights;
    for (const Ceiling& roof : roofs) heights.push_back(axes.y(roof.rate));
    const auto lines = slopeLines(axes, slopes, roofs.front().rate);
    LabelPlaces places({left, top, width - left - right, height - top - bottom - 6}, std::move(discs), lines,
                       std::move(heights));
    std::string out = fmt::format(R"(<figure><svg viewBox="0 0 {} {}" role="img" aria-label="Roofline of {}">)", width,
                                  height, escaped(scenario.name()));
    out += grid(axes) + slopesText(slopes, lines, places);
    const std::string roofNames = roofsText(axes, roofs, slopes, places);
    out += pointsText(axes, scenario, estimate, points, total, places) + roofNames + "</svg>";
    out += kindsLegend(scenario, points);
    out +=
        R"(<figcaption class="note">Each point is an operator; its area is its share of the time, its colour its kind.)";
    const std::size_t silent = estimate.operators.size() - points.size();
    if (silent == 1) out += " One operator that does no arithmetic is not drawn.";
    if (silent > 1) out += fmt::format(" {} operators that do no arithmetic are not drawn.", silent);
    if (points.size() > mostPoints) out += fmt::format(" Only the {} longest are drawn.", mostPoints);
    return out + "</figcaption></figure>";
}

}  // namespace orrery::store
