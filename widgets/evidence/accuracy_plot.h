#pragma once

// What accuracy costs: every method's error on the references against the time that one of its answers takes, both
// axes logarithmic. The bar goes from the median to the ninetieth percentile of the absolute error.

#include "widgets/common/plot_zoom.h"

#include <QPointF>
#include <QWidget>

#include <vector>

namespace orrery::ui {

struct AccuracyPoint {
    QString method, title;
    int colour = 0;              ///< index for Theme::methodColour
    double mape = 0;             ///< mean absolute relative error
    double median = 0, p90 = 0;  ///< of the absolute relative error
    double seconds = 0;          ///< wall time of one answer
    bool simulated = false;      ///< the truth is: drawn hollow
    qint64 rows = 0;
};

class AccuracyPlot : public QWidget {
    Q_OBJECT
public:
    explicit AccuracyPlot(QWidget* parent = nullptr);
    void setPoints(std::vector<AccuracyPoint> points);
    void setCurrent(int point);  ///< -1: none
    int current() const { return current_; }
    /// The point under a place, -1 for none.
    int pointAt(const QPointF& place) const;
    QPointF placeOf(int point) const { return places_[static_cast<std::size_t>(point)]; }
    QSize sizeHint() const override { return {420, 300}; }
    QSize minimumSizeHint() const override { return {220, 160}; }

signals:
    void chosen(int point);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    void choose(int point);
    QString textOf(const AccuracyPoint& point) const;
    void paintPoint(QPainter& painter, std::size_t at, double low, double high) const;
    void paintNames(QPainter& painter, double right) const;

    std::vector<AccuracyPoint> points_;
    std::vector<QPointF> places_;
    int current_ = -1;
    PlotZoom zoom_;
};

}  // namespace orrery::ui
