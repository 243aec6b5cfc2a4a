#pragma once

// Predicted against measured: one point per schedule of an operator, as shares of the best. On the line the model is
// right; what matters is that the points on the right are high. Or times of several operators, on logarithmic axes.

#include "widgets/common/plot_zoom.h"
#include "widgets/plots/figure_view.h"

#include <vector>

namespace orrery::ui {

struct SchedulePoint {
    double told = 0, share = 0;  ///< of the best: predicted, measured (0 where it failed)
    double seconds = 0;          ///< 0: failed
    std::size_t rank = 0, toldRank = 0;
    double low = 0, high = -1;  ///< the interval of `told`; below `low`: none
};
/// NaN or 0 where there is none: the point is not drawn.
struct ScheduleTimePoint {
    double told = 0, seconds = 0;
};

class ScheduleScatter : public FigureView {
    Q_OBJECT
public:
    explicit ScheduleScatter(QWidget* parent = nullptr);
    void setPoints(std::vector<SchedulePoint> points);
    /// The same points, now with intervals: what is chosen and how far it is zoomed stays.
    void setIntervals(std::vector<SchedulePoint> points);
    void setTimes(const std::vector<ScheduleTimePoint>& points);
    const std::vector<SchedulePoint>& points() const { return points_; }
    void setCurrent(int point);  ///< −1: none
    int current() const { return current_; }
    int pointAt(const QPointF& place) const;  ///< the nearest within a few pixels; −1: none
    QPointF placeOf(int point) const;

    bool isEmpty() const override { return points_.empty(); }
    QString textAt(const QPointF& place) const override;
    QByteArray csv() const override;
    QSize sizeHint() const override { return {420, 280}; }
    QSize minimumSizeHint() const override { return {220, 140}; }

signals:
    void chosen(int point);  ///< by a person

protected:
    void paintFigure(QPainter& painter) const override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    void show(std::vector<SchedulePoint> points, bool times);
    bool isDrawn(const SchedulePoint& point) const;
    bool hasIntervals() const;
    void paintIntervals(QPainter& painter, const PlotAxis& x, const PlotAxis& y) const;
    double heightOf(const SchedulePoint& point) const { return times_ ? point.seconds : point.share; }
    PlotAxis covering(double from, double to) const;
    PlotAxis across() const;
    PlotAxis up() const;

    std::vector<SchedulePoint> points_;
    bool times_ = false;
    double low_ = 1, high_ = 1;  ///< of all times
    int current_ = -1;
    PlotZoom zoom_;
};

}  // namespace orrery::ui
