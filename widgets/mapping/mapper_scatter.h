#pragma once

// What a mapper has found: each best-so-far mapping by latency and energy, and how the objective fell with the number
// of mappings costed.

#include "base/quantity.h"
#include "mapping/mappers/mapper.h"

#include <QWidget>

#include <vector>

namespace orrery::ui {

class MapperScatter : public QWidget {
    Q_OBJECT
public:
    explicit MapperScatter(QWidget* parent = nullptr);
    /// Latencies are cycles while the clock is 0.
    void setCurve(const std::vector<MapperPoint>& curve, Hertz clock);
    /// No mapping has a smaller objective: a line below the curve. 0: nothing is known.
    void setLowerBound(double bound);
    void clear() { setCurve({}, {}); }
    std::size_t pointCount() const { return curve_.size(); }
    /// The point of the upper picture under a place, -1 for none.
    int pointAt(const QPointF& place) const;
    QSize sizeHint() const override { return {360, 420}; }
    QSize minimumSizeHint() const override { return {200, 220}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    double latency(const MapperPoint& point) const;
    QString latencyText(const MapperPoint& point) const;
    QString pointText(std::size_t index) const;
    void paintScatter(QPainter& painter, const QRectF& area);
    void paintCurve(QPainter& painter, const QRectF& area);

    std::vector<MapperPoint> curve_;
    std::vector<QPointF> places_;
    Hertz clock_;
    double lowerBound_ = 0;
};

}  // namespace orrery::ui
