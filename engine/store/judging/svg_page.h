#pragma once

// Marks on a page of SVG. For sources of this folder only.

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::store {

/// Okabe and Ito's colours by methodology, as the studio's light theme has them; greys.
std::string_view methodologyColour(int methodology);
inline constexpr std::string_view inkColour = "#1b1f24", mutedColour = "#565e69", lineColour = "#c3cad3",
                                  faintColour = "#e9ecf0";

/// About how wide Inter sets a text; within 8 % for names of methods.
double textWidth(std::string_view text, double size);

class SvgPage {
public:
    SvgPage(double width, double height, std::string_view title);
    void line(double x0, double y0, double x1, double y1, std::string_view colour, double width = 1,
              std::string_view dash = {}, bool round = false, double opacity = 1);
    void box(double x, double y, double w, double h, std::string_view fill, double opacity = 1);
    void circle(double x, double y, double r, std::string_view fill, std::string_view stroke, double width,
                std::string_view dash = {});
    void polygon(const std::vector<std::pair<double, double>>& points, std::string_view fill, std::string_view stroke,
                 double width);
    void polyline(const std::vector<std::pair<double, double>>& points, std::string_view colour, double width,
                  std::string_view dash = {});
    /// `anchor`: start, middle, end. `y` is the baseline.
    void text(double x, double y, std::string_view words, double size, std::string_view colour,
              std::string_view anchor = "start", bool bold = false, double turned = 0);
    void tip(std::string_view words);  ///< of the mark that comes next
    std::string finish();

private:
    std::string tipped();
    std::string out_, tip_;
};

/// `1 µs`, `10 ms`: a decade of seconds; `10 %` of an error.
std::string decadeOfTime(int exponent);
std::string decadeOfError(int exponent);

}  // namespace orrery::store
