#include "base/unit.h"
#include "store/export_parts.h"
#include "store/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

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

struct Box {
    double x, y, w, h;
    bool meets(const Box& o) const { return x < o.x + o.w && o.x < x + w && y < o.y + o.h && o.y < y + h; }
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

// Slopes end at the highest roof; their names stand along them, each further up than the one before, so that parallel
// lines do not print over each other.
std::string slopesText(const Axes& axes, const std::vector<Ceiling>& slopes, double highest) {
    std::string out;
    const auto put = std::back_inserter(out);
    const double angle = -std::atan2(axes.y(1) - axes.y(10), axes.x(10) - axes.x(1)) * 180 / 3.14159265358979;
    for (std::size_t i = 0; i < slopes.size(); ++i) {
        const double rate = slopes[i].rate;
        const double from = std::max(std::pow(10.0, axes.x0), std::pow(10.0, axes.y0) / rate);
        const double to = std::min(std::pow(10.0, axes.x1), highest / rate);
        if (to <= from) continue;
        fmt::format_to(put, R"(<line class="slope" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)", axes.x(from),
                       axes.y(from * rate), axes.x(to), axes.y(to * rate));
        const double share = 0.10 + 0.04 * static_cast<double>(i % 4);
        const double at = std::pow(10.0, std::log10(from) + share * (std::log10(to) - std::log10(from)));
        fmt::format_to(
            put,
            R"svg(<text class="slopename halo" transform="translate({:.1f} {:.1f}) rotate({:.2f})" dy="-5">{}</text>)svg",
            axes.x(at), axes.y(at * rate), angle, escaped(slopes[i].label));
    }
    return out;
}

std::string roofsText(const Axes& axes, const std::vector<Ceiling>& roofs, const std::vector<Ceiling>& slopes,
                      std::vector<Box>& taken) {
    std::string out;
    const auto put = std::back_inserter(out);
    const double steepest = slopes.empty() ? 0 : slopes.front().rate;
    for (const Ceiling& roof : roofs) {
        const double y = axes.y(roof.rate);
        const double start = steepest > 0
                                 ? std::clamp(roof.rate / steepest, std::pow(10.0, axes.x0), std::pow(10.0, axes.x1))
                                 : std::pow(10.0, axes.x0);
        fmt::format_to(put, R"(<line class="roof" x1="{0:.1f}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>)", axes.x(start),
                       width - right, y);
        const double wide = 6.4 * static_cast<double>(roof.label.size());
        Box box{width - right - wide, y - 17, wide, 13};
        if (std::any_of(taken.begin(), taken.end(), [&](const Box& other) { return other.meets(box); })) box.y = y + 4;
        if (std::any_of(taken.begin(), taken.end(), [&](const Box& other) { return other.meets(box); })) continue;
        taken.push_back(box);
        fmt::format_to(put, R"(<text class="roofname halo" x="{}" y="{:.1f}" text-anchor="end">{}</text>)",
                       width - right, box.y + 12, escaped(roof.label));
    }
    return out;
}

std::string pointsText(const Axes& axes, const Scenario& scenario, const Estimate& estimate,
                       const std::vector<Point>& points, std::vector<Box>& taken) {
    std::string out, names;
    const double total = std::accumulate(estimate.operators.seconds.begin(), estimate.operators.seconds.end(), 0.0);
    int named = 0;
    for (std::size_t i = 0; i < points.size() && i < mostPoints; ++i) {
        const Point& point = points[i];
        const auto label = operatorLabel(scenario, point.op);
        const double share = total > 0 ? point.seconds / total : 0;
        const double radius = 3 + 17 * std::sqrt(share);
        const double x = std::clamp(axes.x(point.intensity), left, width - right);
        const double y = std::clamp(axes.y(point.rate), top, height - bottom);
        fmt::format_to(
            std::back_inserter(out),
            R"(<circle class="point {}" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"><title>{}&#10;{} of {:.1f} %, {}, {}&#10;bound by {}</title></circle>)",
            kindClass(label.kind), x, y, radius, escaped(label.name), escaped(format(Seconds(point.seconds))),
            100 * share, escaped(format(FlopsPerSecond(point.rate))), escaped(format(FlopsPerByte(point.intensity))),
            escaped(boundText(estimate, point.op)));
        if (named >= namedPoints || share < 0.02) continue;
        const std::string name = label.name.size() > 34 ? "…" + label.name.substr(label.name.size() - 32) : label.name;
        const double wide = 6.6 * static_cast<double>(name.size());
        const bool leftwards = x + radius + 6 + wide > width - right;
        const Box box{leftwards ? x - radius - 6 - wide : x + radius + 6, y + 2, wide, 14};
        if (std::any_of(taken.begin(), taken.end(), [&](const Box& other) { return other.meets(box); })) continue;
        taken.push_back(box);
        ++named;
        fmt::format_to(std::back_inserter(names),
                       R"(<text class="label halo" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)",
                       leftwards ? box.x + wide : box.x, box.y + 12, leftwards ? "end" : "start", escaped(name));
    }
    return out + names;
}

}  // namespace

std::string rooflineSvg(const Scenario& scenario, const Estimate& estimate) {
    const auto points = pointsOf(estimate);
    const auto roofs = joined(estimate.ceilings, false), slopes = joined(estimate.ceilings, true);
    if (points.empty() || roofs.empty() || slopes.empty()) return {};
    const Axes axes = axesFor(points, roofs, slopes);
    std::vector<Box> taken;
    std::string out = fmt::format(R"(<figure><svg viewBox="0 0 {} {}" role="img" aria-label="Roofline of {}">)", width,
                                  height, escaped(scenario.name()));
    out += grid(axes) + slopesText(axes, slopes, roofs.front().rate);
    std::string roofLines = roofsText(axes, roofs, slopes, taken);
    out += pointsText(axes, scenario, estimate, points, taken) + roofLines + "</svg>";
    out +=
        R"(<figcaption class="note">Each point is an operator; its area is its share of the time, its colour its kind.)";
    const std::size_t silent = estimate.operators.size() - points.size();
    if (silent > 0) out += fmt::format(" {} operators that do no arithmetic are not drawn.", silent);
    if (points.size() > mostPoints) out += fmt::format(" Only the {} longest are drawn.", mostPoints);
    return out + "</figcaption></figure>";
}

}  // namespace orrery::store
