#pragma once

// A loop nest as a picture: a row per loop, its depth by indentation, its extent as a bar on a logarithmic scale, its
// mark by colour; beside it the bytes that one run of it touches, and FLOPs for each of them.

#include "learning/schedules/schedule_nest.h"
#include "widgets/plots/figure_view.h"

namespace orrery::ui {

class NestPicture : public FigureView {
    Q_OBJECT
public:
    explicit NestPicture(QWidget* parent = nullptr);
    void setNest(ScheduleNest nest);
    const ScheduleNest& nest() const { return nest_; }
    void setCurrentLine(int line);  ///< −1: none
    int currentLine() const { return current_; }
    int lineAt(const QPointF& place) const;  ///< of ScheduleNest::lines; −1: none
    QRectF rowOf(int line) const;

    bool isEmpty() const override { return nest_.lines.empty(); }
    QString textAt(const QPointF& place) const override;
    QByteArray csv() const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void lineChosen(int line);  ///< by a person

protected:
    void paintFigure(QPainter& painter) const override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    double rowHeight() const;
    double top() const;
    void paintLegend(QPainter& painter) const;
    int lastInside(int line) const;  ///< the last line of its body

    ScheduleNest nest_;
    int current_ = -1;
};

}  // namespace orrery::ui
