#pragma once

#include <QPointF>
#include <QRectF>

#include <cmath>

namespace orrery::ui {

struct Range {
    double low = 1, high = 10;
    bool contains(double v) const { return v >= low && v <= high; }
    bool operator==(const Range&) const = default;
};

/// Zooms a logarithmic range by a factor about a value that stays where it is; factor > 1 shows less.
inline Range zoomed(Range range, double about, double factor) {
    const double a = std::log10(about);
    return {std::pow(10, a + (std::log10(range.low) - a) / factor),
            std::pow(10, a + (std::log10(range.high) - a) / factor)};
}
/// Shifts a logarithmic range by a share of its width.
inline Range shifted(Range range, double share) {
    const double by = std::pow(range.high / range.low, share);
    return {range.low * by, range.high * by};
}
inline double lerpLog(double a, double b, double t) {
    return a > 0 && b > 0 ? std::exp(std::log(a) + (std::log(b) - std::log(a)) * t) : b;
}

/// Two logarithmic axes over a rectangle of pixels; y grows upwards.
struct LogAxes {
    Range x, y;
    QRectF area;

    double pixelX(double value) const {
        return area.left() + area.width() * std::log(value / x.low) / std::log(x.high / x.low);
    }
    double pixelY(double value) const {
        return area.bottom() - area.height() * std::log(value / y.low) / std::log(y.high / y.low);
    }
    QPointF toPixel(double vx, double vy) const { return {pixelX(vx), pixelY(vy)}; }
    double valueX(double pixel) const { return x.low * std::pow(x.high / x.low, (pixel - area.left()) / area.width()); }
    double valueY(double pixel) const {
        return y.low * std::pow(y.high / y.low, (area.bottom() - pixel) / area.height());
    }
};

}  // namespace orrery::ui
