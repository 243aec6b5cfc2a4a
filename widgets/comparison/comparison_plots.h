#pragma once

#include "widgets/common/plot_zoom.h"
#include "widgets/comparison/comparison_view.h"

#include <QWidget>

namespace orrery::ui {

/// Prediction and interval of every method on one time axis, one line each; the reference as a vertical line.
class IntervalPlot : public QWidget {
    Q_OBJECT
public:
    explicit IntervalPlot(QWidget* parent = nullptr);
    void set(SnapshotPtr snapshot, std::optional<ReferenceValue> reference);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {160, 96}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    int rowHeight() const;
    PlotZoom zoom_{false};

    SnapshotPtr snapshot_;
    std::optional<ReferenceValue> reference_;
};

/// What precision costs: width of the interval (or error against the reference) over the wall time of the answer.
class CostPlot : public QWidget {
    Q_OBJECT
public:
    explicit CostPlot(QWidget* parent = nullptr);
    void set(SnapshotPtr snapshot, std::optional<ReferenceValue> reference);
    QSize sizeHint() const override { return {320, 220}; }
    QSize minimumSizeHint() const override { return {160, 140}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Point {
        QPointF at;
        int answer;
    };
    double worth(const Answer& answer) const;  ///< relative width, or |error|
    SnapshotPtr snapshot_;
    std::optional<ReferenceValue> reference_;
    std::vector<Point> points_;
    PlotZoom zoom_;
};

}  // namespace orrery::ui
