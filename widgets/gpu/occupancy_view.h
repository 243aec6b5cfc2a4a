#pragma once

// The occupancy calculator's curves: resident warps of a multiprocessor against registers, shared memory and threads
// that a block asks for, each with a dot where the block stands. A press or drag on a curve chooses another value.

#include "simulation/gpu/machine.h"
#include "simulation/gpu/occupancy_curve.h"
#include "widgets/common/plot_axis.h"

#include <QWidget>

#include <array>

class QPainter;

namespace orrery::ui {

class OccupancyView : public QWidget {
    Q_OBJECT
public:
    explicit OccupancyView(QWidget* parent = nullptr);
    void setBlock(const gpusim::Machine& machine, const gpusim::KernelHeader& kernel);
    void clear(const QString& why);
    bool isEmpty() const { return !known_; }
    QPointF placeOf(gpusim::BlockNeed need, int value) const;  ///< on the curve's axes, at its bottom
    QString exportTo(const QString& file) const;
    QSize sizeHint() const override { return {560, 260}; }
    QSize minimumSizeHint() const override { return {300, 180}; }

signals:
    void needChosen(orrery::gpusim::BlockNeed need, int value);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRectF areaOf(gpusim::BlockNeed need) const;
    PlotAxis axisOf(gpusim::BlockNeed need) const;
    void choose(const QPointF& place);
    void paint(QPainter& painter, const QRect& all) const;

    bool known_ = false;
    gpusim::Machine machine_;
    gpusim::KernelHeader kernel_;
    std::array<std::vector<gpusim::OccupancyPoint>, 3> curves_;
    QString empty_;
    int held_ = -1;
};

}  // namespace orrery::ui
