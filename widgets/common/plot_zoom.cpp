#include "widgets/common/plot_zoom.h"

#include <QLineF>
#include <QMouseEvent>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <utility>

namespace orrery::ui {

namespace {

constexpr double narrowest = 1e-3;  // of the whole axis
constexpr double slop = 4;          // pixels that a click may tremble

}  // namespace

void PlotZoom::Part::zoom(double at, double factor) {
    const double width = std::clamp((high - low) * factor, narrowest, 1.0);
    const double fixed = low + at * (high - low);
    low = std::clamp(fixed - at * width, 0.0, 1 - width);
    high = low + width;
    if (width >= 1) low = 0, high = 1;
}

void PlotZoom::Part::shift(double by) {
    const double moved = std::clamp(by, -low, 1 - high);
    low += moved;
    high += moved;
}

PlotAxis PlotZoom::part(const PlotAxis& whole, const Part& shown) {
    if (shown.whole()) return whole;
    PlotAxis axis = whole;
    const auto at = [&](double share) {
        return whole.log ? whole.low * std::pow(whole.high / whole.low, share)
                         : whole.low + share * (whole.high - whole.low);
    };
    axis.low = at(shown.low);
    axis.high = at(shown.high);
    return axis;
}

void PlotZoom::reset() {
    x_ = y_ = {};
    held_ = dragging_ = false;
}

bool PlotZoom::wheel(const QWheelEvent& event) {
    const QPointF at = event.position();
    // Shift turns a wheel sideways.
    const double steps = (event.angleDelta().y() != 0 ? event.angleDelta().y() : event.angleDelta().x()) / 120.0;
    if (!area_.contains(at) || steps == 0) return false;
    const double factor = std::pow(0.8, steps);
    const bool both = !up_ || !(event.modifiers() & (Qt::ShiftModifier | Qt::ControlModifier));
    if (both || event.modifiers() & Qt::ShiftModifier) x_.zoom((at.x() - area_.left()) / area_.width(), factor);
    if (up_ && (both || event.modifiers() & Qt::ControlModifier))
        y_.zoom((area_.bottom() - at.y()) / area_.height(), factor);
    return true;
}

bool PlotZoom::press(const QMouseEvent& event) {
    held_ = event.button() == Qt::LeftButton && area_.contains(event.position());
    dragging_ = false;
    pressed_ = event.position();
    pressedX_ = x_;
    pressedY_ = y_;
    return false;
}

bool PlotZoom::move(const QMouseEvent& event) {
    if (!held_ || !(event.buttons() & Qt::LeftButton)) return false;
    const QPointF by = event.position() - pressed_;
    dragging_ = dragging_ || QLineF(pressed_, event.position()).length() > slop;
    if (!dragging_ || isWhole()) return false;
    x_ = pressedX_;
    y_ = pressedY_;
    x_.shift(-by.x() / area_.width() * (x_.high - x_.low));
    if (up_) y_.shift(by.y() / area_.height() * (y_.high - y_.low));
    return true;
}

bool PlotZoom::release(const QMouseEvent&) {
    held_ = false;
    return std::exchange(dragging_, false);
}

bool PlotZoom::doubleClick(const QMouseEvent&) {
    held_ = false;
    if (isWhole()) return false;
    reset();
    return true;
}

}  // namespace orrery::ui
