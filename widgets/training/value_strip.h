#pragma once

// A whole number as a row of stops: those that can be chosen, and, greyed with their reason, those that cannot. A press
// chooses, a drag slides over the stops, Esc puts the drag back; Left and Right step, Home and End go to the ends.

#include "widgets/common/edit_phase.h"

#include <QWidget>

#include <vector>

namespace orrery::ui {

struct StripValue {
    qint64 value = 1;
    QString text;     ///< `8`
    QString refused;  ///< why it cannot be; empty: it can
    QString tip;      ///< of one that can be
    bool operator==(const StripValue&) const = default;
};

class ValueStrip : public QWidget {
    Q_OBJECT
public:
    ValueStrip(const QString& objectName, const QString& name, const QString& tip, QWidget* parent = nullptr);
    /// Rising. Left alone while the mouse drags.
    void setValues(std::vector<StripValue> values, qint64 value);
    const std::vector<StripValue>& values() const { return values_; }
    qint64 value() const { return value_; }
    bool isDragging() const { return dragging_; }
    /// Where a value is drawn; empty if there is no room for it.
    QRectF cellOf(qint64 value) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// Begin with the value before, Drag as it changes, Commit at the end.
    void edited(qint64 value, orrery::ui::EditPhase phase);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    bool event(QEvent* event) override;

private:
    std::vector<std::size_t> shown() const;  ///< indices that there is room for
    int indexAt(double x) const;             ///< in `values_`; −1: none
    void dragTo(double x);
    void endDrag(bool keep);

    std::vector<StripValue> values_;
    qint64 value_ = 1, before_ = 1;
    bool dragging_ = false;
    int hovered_ = -1;
};

}  // namespace orrery::ui
