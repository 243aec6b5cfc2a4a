#include "widgets/common/log_slider.h"

#include "widgets/common/theme.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {
constexpr int positions = 1000;
constexpr int knob = 5;  // radius; the groove ends this far from the edges

double digits(double value, int significant) {
    if (value == 0) return 0;
    const double scale = std::pow(10.0, significant - 1 - std::floor(std::log10(std::abs(value))));
    return std::round(value * scale) / scale;
}
}  // namespace

LogSlider::LogSlider(QWidget* parent) : QSlider(Qt::Horizontal, parent) {
    setRange(0, positions);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    connect(&Theme::instance(), &Theme::changed, this, [this] { update(); });
}

void LogSlider::setLogRange(double low, double high, Snap snap) {
    low_ = low;
    high_ = std::max(high, low * 1.0001);
    snap_ = snap;
    update();
}

void LogSlider::setValue(double value) {
    if (dragging_) return;
    value_ = value;
    const int position = std::clamp(
        static_cast<int>(std::lround(positions * std::log(value / low_) / std::log(high_ / low_))), 0, positions);
    const QSignalBlocker quiet(this);
    QSlider::setValue(value > 0 ? position : 0);
    update();
}

void LogSlider::setMark(std::optional<double> mark) {
    if (mark == mark_) return;
    mark_ = mark;
    update();
}

double LogSlider::valueAt(int x) const {
    const double span = std::max(1, width() - 2 * knob);
    const double fraction = std::clamp((x - knob) / span, 0.0, 1.0);
    return snapped(low_ * std::pow(high_ / low_, fraction));
}

int LogSlider::positionOf(double value) const {
    if (!(value > 0)) return knob;
    const double fraction = std::clamp(std::log(value / low_) / std::log(high_ / low_), 0.0, 1.0);
    return knob + static_cast<int>(std::lround(fraction * std::max(1, width() - 2 * knob)));
}

double LogSlider::snapped(double value) const {
    switch (snap_) {
        case Snap::Whole:
            return std::max(1.0, std::round(digits(value, 3)));
        case Snap::PowerOfTwo:
            return std::exp2(std::round(std::log2(value)));
        case Snap::Digits:
            break;
    }
    return digits(value, 3);
}

void LogSlider::moveTo(double value) {
    if (value == value_) return;
    value_ = value;
    const QSignalBlocker quiet(this);
    QSlider::setValue(static_cast<int>(std::lround(positions * std::log(value / low_) / std::log(high_ / low_))));
    update();
}

void LogSlider::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return event->ignore();
    dragging_ = true;
    before_ = value_;
    emit edited(before_, EditPhase::Begin);
    // A press on the knob takes hold of it; elsewhere the knob jumps to the mouse.
    const int x = event->position().toPoint().x();
    if (std::abs(x - positionOf(value_)) > knob) {
        moveTo(valueAt(x));
        emit edited(value_, EditPhase::Drag);
    }
}

void LogSlider::mouseMoveEvent(QMouseEvent* event) {
    if (!dragging_) return;
    const double next = valueAt(event->position().toPoint().x());
    if (next == value_) return;
    moveTo(next);
    emit edited(value_, EditPhase::Drag);
}

void LogSlider::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton && dragging_) endDrag(true);
}

void LogSlider::endDrag(bool keep) {
    if (!keep) {
        moveTo(before_);
        emit edited(value_, EditPhase::Drag);
    }
    dragging_ = false;
    emit edited(value_, EditPhase::Commit);
    update();
}

void LogSlider::keyPressEvent(QKeyEvent* event) {
    const bool up = event->key() == Qt::Key_Right || event->key() == Qt::Key_Up || event->key() == Qt::Key_PageUp;
    const bool down = event->key() == Qt::Key_Left || event->key() == Qt::Key_Down || event->key() == Qt::Key_PageDown;
    if (event->key() == Qt::Key_Escape && dragging_) return endDrag(false);
    if (dragging_ || (!up && !down)) return event->ignore();
    const bool page = event->key() == Qt::Key_PageUp || event->key() == Qt::Key_PageDown;
    const double stride = page || snap_ == Snap::PowerOfTwo ? 2.0 : 1.05;
    double next = snapped(std::clamp(up ? value_ * stride : value_ / stride, low_, high_));
    if (snap_ == Snap::Whole && next == value_) next = std::clamp(value_ + (up ? 1 : -1), low_, high_);
    if (next == value_) return;
    moveTo(next);
    emit edited(value_, EditPhase::Commit);
}

void LogSlider::focusOutEvent(QFocusEvent* event) {
    if (dragging_ && event->reason() != Qt::PopupFocusReason) endDrag(true);
    QSlider::focusOutEvent(event);
}

void LogSlider::paintEvent(QPaintEvent*) {
    const Palette& colours = Theme::instance().colours();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double middle = height() / 2.0;
    const double at = positionOf(value_);
    const bool usable = isEnabled();
    painter.setPen(QPen(colours.line, 2, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(QPointF(knob, middle), QPointF(width() - knob, middle));
    if (mark_) {
        painter.setPen(QPen(colours.mutedText, 1));
        const double x = positionOf(*mark_) + 0.5;
        painter.drawLine(QPointF(x, middle - 5), QPointF(x, middle + 5));
    }
    const QColor ink = usable ? colours.accent : colours.mutedText;
    painter.setPen(QPen(ink, 2, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(QPointF(knob, middle), QPointF(at, middle));
    painter.setPen(QPen(ink, 1.5));
    painter.setBrush(dragging_ || underMouse() ? ink : colours.surface);
    painter.drawEllipse(QPointF(at, middle), knob - 0.75, knob - 0.75);
    if (hasFocus()) {
        QColor halo = colours.accent;
        halo.setAlpha(70);
        painter.setPen(QPen(halo, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(QPointF(at, middle), knob + 1.5, knob + 1.5);
    }
}

}  // namespace orrery::ui
