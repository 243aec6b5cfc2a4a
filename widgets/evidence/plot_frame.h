#pragma once

// What the plots of this folder share: an area with a grid, ticks at its left and bottom, a title, axis names.

#include "widgets/common/plot_axis.h"

#include <QRectF>
#include <QStringList>

class QPainter;

namespace orrery::ui {

/// How an axis' ticks are written.
enum class TickText { Seconds, Percent, Number };
QString tickText(double value, TickText how, int digits = 2);
/// Of all ticks of an axis, with as many digits as tell neighbours apart.
QStringList tickTexts(const std::vector<double>& ticks, TickText how);
/// The labels of an axis of seconds, from `y` downwards.
void paintTimeTicks(QPainter& painter, PlotAxis axis, int y, int width);

struct PlotFrame {
    QString title, xName, yName;
    TickText xTicks = TickText::Number, yTicks = TickText::Percent;
    QRectF area;  ///< inside the axes

    /// Leaves room for titles and ticks in a widget of that size.
    static QRectF areaIn(const QSize& size);
    void paint(QPainter& painter, const PlotAxis& x, const PlotAxis& y, int width) const;
};

/// A sentence in the middle, for a plot without data.
void paintEmptyPlot(QPainter& painter, const QRect& area, const QString& sentence);

}  // namespace orrery::ui
