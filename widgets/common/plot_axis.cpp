#include "widgets/common/plot_axis.h"

#include "widgets/common/theme.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery::ui {

void paintPlotTitle(QPainter& painter, const QString& text, int width) {
    QFont font = Theme::instance().font(FontRole::Small);
    font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    painter.setPen(Theme::instance().colours().mutedText);
    const int high = std::max(plotTitleHeight - 6, painter.fontMetrics().height());
    painter.drawText(QRect(0, 0, width, high), Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(text, Qt::ElideRight, width));
}

void paintTickLabel(QPainter& painter, double x, int y, const QString& text, int width) {
    const QFontMetrics metrics = painter.fontMetrics();
    const double half = metrics.horizontalAdvance(text) / 2.0;
    const double left = std::clamp(x - half, 0.0, std::max(0.0, width - 2 * half));
    painter.drawText(QPointF(left, y + metrics.ascent() + 4), text);
}

PlotAxis PlotAxis::covering(std::vector<double> values, double from, double to, double logFrom) {
    std::erase_if(values, [](double value) { return !(value > 0) || !std::isfinite(value); });
    PlotAxis axis;
    axis.from = from;
    axis.to = to;
    if (values.empty()) return axis;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    axis.low = *low;
    axis.high = *high;
    if (axis.high < 1.001 * axis.low) {  // all the same: it stands in the middle of an octave each way
        axis.low /= 2;
        axis.high *= 2;
        axis.log = true;
        return axis;
    }
    axis.log = axis.high > logFrom * axis.low;
    if (axis.log) {
        const double margin = std::pow(axis.high / axis.low, 0.08);
        axis.low /= margin;
        axis.high *= margin;
    } else {
        const double margin = std::max((axis.high - axis.low) * 0.15, axis.high * 0.02);
        axis.low = std::max(0.0, axis.low - margin);
        axis.high += margin;
    }
    return axis;
}

double PlotAxis::position(double value) const {
    const double fraction =
        log ? std::log(std::max(value, low * 1e-3) / low) / std::log(high / low) : (value - low) / (high - low);
    return from + std::clamp(fraction, -0.05, 1.05) * (to - from);
}

std::vector<double> PlotAxis::ticks(double spacing) const {
    const double room = std::max(2.0, std::abs(to - from) / spacing);
    std::vector<double> ticks;
    if (log) {
        const double decades = std::log10(high / low);
        const std::vector<std::vector<double>> choices = {{1, 2, 5}, {1, 3}, {1}};
        for (const auto& mantissas : choices) {
            ticks.clear();
            for (int power = static_cast<int>(std::floor(std::log10(low))); power <= std::ceil(std::log10(high));
                 ++power)
                for (const double mantissa : mantissas)
                    if (const double tick = mantissa * std::pow(10, power); tick >= low && tick <= high)
                        ticks.push_back(tick);
            if (static_cast<double>(ticks.size()) <= room + 1) break;
        }
        if (static_cast<double>(ticks.size()) > room + 1) {
            const auto stride = static_cast<std::size_t>(std::ceil(decades / room));
            std::vector<double> fewer;
            for (std::size_t i = 0; i < ticks.size(); i += stride) fewer.push_back(ticks[i]);
            ticks = fewer;
        }
        if (ticks.size() >= 2) return ticks;
        ticks.clear();
    }
    const double raw = (high - low) / room;
    const double scale = std::pow(10, std::floor(std::log10(raw)));
    double step = scale * (raw / scale <= 1 ? 1 : raw / scale <= 2 ? 2 : raw / scale <= 5 ? 5 : 10);
    constexpr std::array clock{30., 60., 120., 300., 600., 1200., 1800., 3600., 7200., 14400., 21600., 43200., 86400.};
    if (time && high >= 120 && raw > clock.front() / 2 && raw <= clock.back())
        step = *std::ranges::lower_bound(clock, raw);
    for (double stride = step; ticks.size() < 2; stride /= 2) {
        ticks.clear();
        for (double tick = std::ceil(low / stride) * stride; tick <= high * (1 + 1e-12); tick += stride)
            ticks.push_back(std::abs(tick) < stride * 1e-9 ? 0 : tick);  // sums of steps miss zero by a little
    }
    return ticks;
}

}  // namespace orrery::ui
