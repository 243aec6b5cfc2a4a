#include "store/judging/svg_page.h"

#include "store/report/report_parts.h"

#include <algorithm>
#include <array>

namespace orrery::store {

std::string_view methodologyColour(int methodology) {
    // Analytical, cycle-accurate, trace-driven, learned, hybrid.
    static constexpr std::array<std::string_view, 5> colours{"#0072b2", "#d55e00", "#009e73", "#b8478c", "#b07d00"};
    // Results of others may not say theirs.
    if (methodology < 0 || methodology >= static_cast<int>(colours.size())) return mutedColour;
    return colours[static_cast<std::size_t>(methodology)];
}

double textWidth(std::string_view text, double size) {
    double units = 0;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte & 0xC0) == 0x80) continue;  // inside a letter of UTF-8
        if (std::string_view("iljtfr.,:;|()[]'-").find(c) != std::string_view::npos) {
            units += 0.34;
        } else if (std::string_view("mwMW%").find(c) != std::string_view::npos) {
            units += 0.86;
        } else if (c == ' ') {
            units += 0.28;
        } else {
            units += c >= 'A' && c <= 'Z' ? 0.67 : 0.58;
        }
    }
    return units * size;
}

SvgPage::SvgPage(double width, double height, std::string_view title) {
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" "
        "font-family=\"Inter, Helvetica, Arial, sans-serif\" role=\"img\">\n<title>{2}</title>\n"
        "<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"#ffffff\"/>\n",
        width, height, escaped(title));
}

std::string SvgPage::tipped() {
    if (tip_.empty()) return "/>\n";
    std::string end = fmt::format("><title>{}</title>", escaped(tip_));
    tip_.clear();
    return end;
}

void SvgPage::tip(std::string_view words) {
    tip_ = words;
}

namespace {

std::string dashed(std::string_view dash) {
    return dash.empty() ? std::string() : fmt::format(" stroke-dasharray=\"{}\"", dash);
}

std::string pointsText(const std::vector<std::pair<double, double>>& points) {
    std::string text;
    for (const auto& [x, y] : points) text += fmt::format("{}{:.2f},{:.2f}", text.empty() ? "" : " ", x, y);
    return text;
}

}  // namespace

void SvgPage::line(double x0, double y0, double x1, double y1, std::string_view colour, double width,
                   std::string_view dash, bool round, double opacity) {
    out_ += fmt::format(
        "<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\" stroke-width=\"{:.2f}\"{}{}{}/>\n",
        x0, y0, x1, y1, colour, width, dashed(dash), round ? " stroke-linecap=\"round\"" : "",
        opacity < 1 ? fmt::format(" stroke-opacity=\"{:.2f}\"", opacity) : "");
}

void SvgPage::box(double x, double y, double w, double h, std::string_view fill, double opacity) {
    out_ += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"{}", x, y, w, h,
                        fill, opacity < 1 ? fmt::format(" fill-opacity=\"{:.3f}\"", opacity) : "");
    const bool named = !tip_.empty();
    out_ += tipped();
    if (named) out_ += "</rect>\n";
}

void SvgPage::circle(double x, double y, double r, std::string_view fill, std::string_view stroke, double width,
                     std::string_view dash) {
    out_ += fmt::format(
        "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"{:.2f}\"{}", x, y, r,
        fill, stroke, width, dashed(dash));
    const bool named = !tip_.empty();
    out_ += tipped();
    if (named) out_ += "</circle>\n";
}

void SvgPage::polygon(const std::vector<std::pair<double, double>>& points, std::string_view fill,
                      std::string_view stroke, double width) {
    out_ += fmt::format("<polygon points=\"{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"{:.2f}\"", pointsText(points),
                        fill, stroke, width);
    const bool named = !tip_.empty();
    out_ += tipped();
    if (named) out_ += "</polygon>\n";
}

void SvgPage::polyline(const std::vector<std::pair<double, double>>& points, std::string_view colour, double width,
                       std::string_view dash) {
    out_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.2f}\"{}/>\n",
                        pointsText(points), colour, width, dashed(dash));
}

void SvgPage::text(double x, double y, std::string_view words, double size, std::string_view colour,
                   std::string_view anchor, bool bold, double turned) {
    out_ += fmt::format(
        "<text x=\"{0:.2f}\" y=\"{1:.2f}\" font-size=\"{2:.1f}\" fill=\"{3}\"{4}{5}{6}>{7}</text>\n", x, y, size,
        colour, anchor == "start" ? "" : fmt::format(" text-anchor=\"{}\"", anchor), bold ? " font-weight=\"600\"" : "",
        turned != 0 ? fmt::format(" transform=\"rotate({:.0f} {:.2f} {:.2f})\"", turned, x, y) : "", escaped(words));
}

std::string SvgPage::finish() {
    return std::move(out_) + "</svg>\n";
}

std::string decadeOfTime(int exponent) {
    static constexpr std::array<std::string_view, 5> units{"ns", "µs", "ms", "s", "ks"};
    const int unit = std::clamp(static_cast<int>(std::floor(exponent / 3.0)) + 3, 0, 4);
    return fmt::format("{:g} {}", std::pow(10.0, exponent - 3 * (unit - 3)), units[static_cast<std::size_t>(unit)]);
}

std::string decadeOfError(int exponent) {
    return fmt::format("{:g} %", std::pow(10.0, exponent + 2));
}

}  // namespace orrery::store
