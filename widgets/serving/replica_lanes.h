#pragma once

// Iterations of every replica over time: a bar each, as high as the KV cache is full against
// the fullest moment of the run, in the colour of what it computes
// most. Ctrl and wheel zoom, dragging moves, a click moves the replay there.

#include "widgets/serving/serving_run.h"

#include <QWidget>

namespace orrery::ui {

class ReplicaLanes : public QWidget {
    Q_OBJECT
public:
    explicit ReplicaLanes(QWidget* parent = nullptr);
    void setRun(ServingRunPtr run);
    void setTime(SimTime time);  ///< the shown part follows if it would leave it
    SimTime timeAt(double x) const;
    /// Iteration of the log that is drawn there, −1 for none.
    int batchAt(const QPointF& place) const;
    double span() const { return to_ - from_; }  ///< shown seconds
    /// What stands before a replica's lane: its name, shortened in the middle where the widget has no room for it.
    QString nameBeside(std::size_t replica) const;
    QSize sizeHint() const override { return {560, 160}; }
    QSize minimumSizeHint() const override { return {240, 80}; }

signals:
    void timeChosen(orrery::SimTime time);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRectF lanes() const;
    double laneHeight() const;

    ServingRunPtr run_;
    std::vector<std::vector<std::uint32_t>> batches_;  ///< per replica, by begin
    double names_ = 0;                                 ///< width of the widest name
    double fullest_ = 1;                               ///< blocks
    double from_ = 0, to_ = 1;                         ///< s
    SimTime time_ = 0;
};

}  // namespace orrery::ui
