#include "widgets/common/theme.h"

#include <algorithm>
#include <array>
#include <cmath>

// Every colour of the studio stands here. Operators and methods take the set of Okabe and Ito (2008), which people
// with any of the usual colour deficiencies can tell apart; related operator kinds share a hue and differ in
// lightness. Heat is cividis (Nuñez, Anderton, Renslow 2018), by the polynomials of d3-scale-chromatic.

namespace orrery::ui {
namespace {

const Palette lightPalette{
    .window = "#eff1f4",
    .surface = "#ffffff",
    .raised = "#f7f8fa",
    .line = "#d0d5dc",
    .faintLine = "#e6e9ed",
    .text = "#1b1f24",
    .mutedText = "#565e69",
    .accent = "#1160c4",
    .accentText = "#ffffff",
    .selection = "#d3e4fb",
    .good = "#146c2e",
    .warning = "#805000",
    .bad = "#b3242b",
};

const Palette darkPalette{
    .window = "#17191d",
    .surface = "#1e2126",
    .raised = "#282c32",
    .line = "#3b4149",
    .faintLine = "#2b3037",
    .text = "#e4e7eb",
    .mutedText = "#a5adb8",
    .accent = "#6db3ff",
    .accentText = "#0d131a",
    .selection = "#1f3d63",
    .good = "#5fc97c",
    .warning = "#e0b04a",
    .bad = "#ff8a80",
};

// Okabe and Ito; yellow and black as drawn on white and on near-black are below.
constexpr const char* orange = "#e69f00";
constexpr const char* skyBlue = "#56b4e9";
constexpr const char* green = "#009e73";
constexpr const char* blue = "#0072b2";
constexpr const char* vermilion = "#d55e00";
constexpr const char* purple = "#cc79a7";

struct Pair {
    const char* light;
    const char* dark;
};

Pair operatorPair(OperatorKind kind) {
    switch (kind) {
        case OperatorKind::MatMul:
            return {blue, "#3d9fdc"};
        case OperatorKind::Conv:
            return {"#3a9fd8", skyBlue};
        case OperatorKind::ConvTranspose:
            return {"#1d86c0", "#8accf2"};
        case OperatorKind::Attention:
            return {vermilion, "#ee7a22"};
        case OperatorKind::Softmax:
            return {"#dd9500", orange};
        case OperatorKind::Normalization:
            return {green, "#1fb88b"};
        case OperatorKind::Elementwise:
            return {"#3fb391", "#6bd3b2"};
        case OperatorKind::Reduce:
            return {"#00795a", "#00a07a"};
        case OperatorKind::Pool:
            return {"#5f9f6b", "#8cc795"};
        case OperatorKind::Gather:
            return {"#c46c9d", purple};
        case OperatorKind::Routing:
            return {"#9c4479", "#e3a5c6"};
        case OperatorKind::Scan:
            return {"#a99b00", "#f0e442"};
        case OperatorKind::Movement:
            return {"#7c8591", "#98a1ad"};
        case OperatorKind::View:
            return {"#a3abb5", "#6d7682"};
        case OperatorKind::Other:
            return {"#4d555f", "#c3cad3"};
    }
    return {"#4d555f", "#c3cad3"};
}

double linear(double channel) {
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

double luminance(const QColor& c) {
    return 0.2126 * linear(c.redF()) + 0.7152 * linear(c.greenF()) + 0.0722 * linear(c.blueF());
}

}  // namespace

double contrastRatio(const QColor& a, const QColor& b) {
    const double x = luminance(a);
    const double y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

const Palette& Theme::colours() const {
    return mode_ == Mode::Dark ? darkPalette : lightPalette;
}

QColor Theme::operatorColour(OperatorKind kind) const {
    const Pair pair = operatorPair(kind);
    return QColor(mode_ == Mode::Dark ? pair.dark : pair.light);
}

QColor Theme::methodColour(int index) const {
    static constexpr std::array<Pair, 8> pairs{{{blue, "#3d9fdc"},
                                                {vermilion, "#ee7a22"},
                                                {green, "#1fb88b"},
                                                {"#c46c9d", purple},
                                                {"#dd9500", orange},
                                                {"#3a9fd8", skyBlue},
                                                {"#a99b00", "#f0e442"},
                                                {"#4d555f", "#c3cad3"}}};
    const Pair pair = pairs[static_cast<std::size_t>(std::max(index, 0)) % pairs.size()];
    return QColor(mode_ == Mode::Dark ? pair.dark : pair.light);
}

QColor Theme::levelColour(int level) const {
    static constexpr std::array<Pair, 5> pairs{{{vermilion, "#ee7a22"},
                                                {"#dd9500", orange},
                                                {"#a99b00", "#f0e442"},
                                                {"#7f8c3a", "#b7c46a"},
                                                {"#5f9f6b", "#8cc795"}}};
    const Pair pair = pairs[static_cast<std::size_t>(std::max(level, 0)) % pairs.size()];
    return QColor(mode_ == Mode::Dark ? pair.dark : pair.light);
}

QColor Theme::boundColour(Bound bound) const {
    const bool dark = mode_ == Mode::Dark;
    switch (bound.kind) {
        case BoundKind::Compute:
            return QColor(dark ? "#3d9fdc" : blue);
        case BoundKind::Memory:
            return levelColour(bound.level);
        case BoundKind::Overhead:
            return QColor(dark ? "#98a1ad" : "#7c8591");
        case BoundKind::Network:
            return QColor(dark ? purple : "#c46c9d");
        case BoundKind::None:
            break;
    }
    return QColor(dark ? "#6d7682" : "#a3abb5");
}

QColor Theme::heat(double zeroToOne) const {
    const double t = std::isfinite(zeroToOne) ? std::clamp(zeroToOne, 0.0, 1.0) : 0;
    const double r = -4.54 - t * (35.34 - t * (2381.73 - t * (6402.7 - t * (7024.72 - t * 2710.57))));
    const double g = 32.49 + t * (170.73 + t * (52.82 - t * (131.46 - t * (176.58 - t * 67.37))));
    const double b = 81.24 + t * (442.36 - t * (2482.43 - t * (6167.24 - t * (6614.94 - t * 2475.67))));
    const auto byte = [](double v) { return std::clamp(static_cast<int>(std::lround(v)), 0, 255); };
    return QColor(byte(r), byte(g), byte(b));
}

QColor Theme::divergingHeat(double minusOneToOne) const {
    // Blue and vermilion differ for every usual colour deficiency; lightness says how far from the middle.
    const double t = std::isfinite(minusOneToOne) ? std::clamp(minusOneToOne, -1.0, 1.0) : 0;
    const bool dark = mode_ == Mode::Dark;
    const QColor middle(dark ? "#3b4149" : "#eceff2");
    const QColor end(t < 0 ? (dark ? skyBlue : blue) : (dark ? "#ee7a22" : vermilion));
    const double share = std::abs(t);
    const auto mix = [&](int from, int to) { return static_cast<int>(std::lround(from + (to - from) * share)); };
    return QColor(mix(middle.red(), end.red()), mix(middle.green(), end.green()), mix(middle.blue(), end.blue()));
}

QColor Theme::inkOn(const QColor& fill) const {
    const QColor black("#10141a");
    const QColor white("#ffffff");
    return contrastRatio(fill, black) >= contrastRatio(fill, white) ? black : white;
}

}  // namespace orrery::ui
