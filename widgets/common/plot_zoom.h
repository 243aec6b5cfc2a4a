#pragma once

// What part of its axes a plot shows: the wheel zooms at the pointer (with Shift only across, with Ctrl only up), a
// drag moves, a double click shows everything again.

#include "widgets/common/plot_axis.h"

#include <QPointF>
#include <QRectF>

class QMouseEvent;
class QWheelEvent;

namespace orrery::ui {

class PlotZoom {
public:
    /// `up`: false where only the horizontal axis is one.
    explicit PlotZoom(bool up = true) : up_(up) {}
    /// The part of an axis that is shown. Called while the plot is painted or placed.
    PlotAxis across(const PlotAxis& whole) const { return part(whole, x_); }
    PlotAxis up(const PlotAxis& whole) const { return part(whole, y_); }
    /// Where the axes lie: events outside mean nothing.
    void setArea(const QRectF& area) { area_ = area; }
    const QRectF& area() const { return area_; }
    bool isWhole() const { return x_.whole() && y_.whole(); }
    void reset();

    /// Each returns whether the picture changed.
    bool wheel(const QWheelEvent& event);
    bool press(const QMouseEvent& event);
    bool move(const QMouseEvent& event);
    bool release(const QMouseEvent& event);  ///< true: it ended a drag, and was no click
    bool doubleClick(const QMouseEvent& event);

private:
    struct Part {
        double low = 0, high = 1;  ///< shares of the whole axis, from its `from` to its `to`
        bool whole() const { return low == 0 && high == 1; }
        void zoom(double at, double factor);
        void shift(double by);
    };
    static PlotAxis part(const PlotAxis& whole, const Part& shown);

    bool up_;
    Part x_, y_, pressedX_, pressedY_;
    QRectF area_;
    QPointF pressed_;
    bool held_ = false, dragging_ = false;
};

}  // namespace orrery::ui
