#pragma once

#include "base/unit.h"

#include <QString>

#include <vector>

class QPainter;

namespace orrery::ui {

/// An axis of positive numbers, logarithmic where the range is wide: value ↔ pixel, and ticks that read well.
struct PlotAxis {
    double low = 1, high = 10;
    double from = 0, to = 100;  ///< pixels; from > to for upward axes
    bool log = true;
    bool time = false;  ///< in seconds: beyond two minutes, ticks stand at whole minutes, hours or halves of them

    /// Covers the values with a margin; `logFrom`: ratio above which it is logarithmic.
    static PlotAxis covering(std::vector<double> values, double from, double to, double logFrom = 5);
    double position(double value) const;
    /// At least two, at most about one per `spacing` pixels.
    std::vector<double> ticks(double spacing) const;
};

inline constexpr int plotTitleHeight = 24;
/// What a plot shows, at its top.
void paintPlotTitle(QPainter& painter, const QString& text, int width);
/// A tick's label centred under `x`, kept inside the width.
void paintTickLabel(QPainter& painter, double x, int y, const QString& text, int width);

}  // namespace orrery::ui
