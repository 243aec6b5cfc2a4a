#pragma once

#include "widgets/common/edit_phase.h"

#include <QSlider>

#include <optional>

namespace orrery::ui {

/// A slider over a logarithmic range. A press jumps to the mouse and begins a drag, release commits, Esc puts the
/// drag back. Arrow keys step by 5 % (or to the next power of two), Page keys by a factor of two. The wheel is left to
/// the panel that scrolls.
class LogSlider : public QSlider {
    Q_OBJECT
public:
    enum class Snap { Digits, Whole, PowerOfTwo };  ///< three significant digits, whole numbers, powers of two

    explicit LogSlider(QWidget* parent = nullptr);
    void setLogRange(double low, double high, Snap snap = Snap::Digits);
    double low() const { return low_; }
    double high() const { return high_; }
    void setValue(double value);  ///< ignored while the mouse drags; emits nothing
    double value() const { return value_; }
    void setMark(std::optional<double> mark);  ///< a tick: preset or default
    bool isDragging() const { return dragging_; }

    double valueAt(int x) const;
    int positionOf(double value) const;
    QSize sizeHint() const override { return {96, 16}; }
    QSize minimumSizeHint() const override { return {48, 16}; }

signals:
    void edited(double value, EditPhase phase);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override { event->ignore(); }
    void focusOutEvent(QFocusEvent* event) override;

private:
    double snapped(double value) const;
    void moveTo(double value);
    void endDrag(bool keep);

    double low_ = 1, high_ = 1000, value_ = 1, before_ = 1;
    Snap snap_ = Snap::Digits;
    std::optional<double> mark_;
    bool dragging_ = false;
};

}  // namespace orrery::ui
