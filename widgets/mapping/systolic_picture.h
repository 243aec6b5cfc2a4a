#pragma once

// The two pictures of the systolic animation: the array in one cycle, and how full it is over time.

#include "simulation/systolic/snapshot.h"

#include <QPoint>
#include <QWidget>

#include <optional>
#include <vector>

namespace orrery::ui {

QString activityText(systolic::PeActivity activity);
/// `row 2, column 3 multiplies A[2, 5] by B[5, 3] into Z[2, 3]`
QString elementText(const systolic::SystolicSnapshot& shot, int row, int column);

/// Lanes that an edge of the array takes in, or gives out, in a cycle.
struct ArrayEdges {
    systolic::Lanes left, top, bottom;
};
ArrayEdges edgesOf(const systolic::FoldPlan& plan, const systolic::SystolicSnapshot& shot);

class SystolicPicture : public QWidget {
    Q_OBJECT
public:
    explicit SystolicPicture(QWidget* parent = nullptr);
    /// What the elements of this run do in any of its cycles; nothing else is explained.
    void setLegend(std::vector<systolic::PeActivity> activities);
    const std::vector<systolic::PeActivity>& legend() const { return legend_; }
    void show(systolic::SystolicSnapshot shot, const ArrayEdges& edges);
    const systolic::SystolicSnapshot& shot() const { return shot_; }
    /// Column and row of the element under a point or chosen by key; none beside the array.
    std::optional<QPoint> elementAt(const QPointF& place) const;
    std::optional<QPoint> current() const { return current_; }
    void setCurrent(std::optional<QPoint> element);
    QRectF box(int row, int column) const;
    QSize sizeHint() const override { return {360, 360}; }
    QSize minimumSizeHint() const override { return {160, 160}; }

signals:
    void currentChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRectF area() const;  ///< of the elements
    QColor colour(const systolic::PeSnapshot& pe) const;
    void paintElements(QPainter& painter, const QRectF& area);
    void paintEdges(QPainter& painter, const QRectF& area);
    void paintLegend(QPainter& painter);

    systolic::SystolicSnapshot shot_;
    std::vector<systolic::PeActivity> legend_;
    ArrayEdges edges_;
    std::optional<QPoint> current_;
};

class UtilizationStrip : public QWidget {
    Q_OBJECT
public:
    explicit UtilizationStrip(QWidget* parent = nullptr);
    void show(std::vector<double> shares, std::int64_t cycles);
    void setCycle(std::int64_t cycle);
    QSize sizeHint() const override { return {360, 56}; }
    QSize minimumSizeHint() const override { return {120, 40}; }

signals:
    void cycleChosen(std::int64_t cycle);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    void choose(double x);
    std::int64_t cycles_ = 1;
    std::vector<double> shares_;  ///< of the elements at work, in equal stretches of time
    std::int64_t cycle_ = 0;
};

}  // namespace orrery::ui
