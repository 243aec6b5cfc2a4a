#pragma once

// The least that must move against the size of the buffer: the curve, the drawn levels as verticals, the present
// mapping as a dot.

#include "mapping/bounds/drawn_bound.h"
#include "widgets/common/plot_axis.h"

#include <QWidget>

#include <optional>

class QPainter;

namespace orrery::ui {

class BoundPlot : public QWidget {
    Q_OBJECT
public:
    explicit BoundPlot(QWidget* parent = nullptr);
    void setBound(DrawnBound bound);
    void setMapping(std::optional<MappingPoint> mapping);
    void clear(const QString& why);
    const std::optional<DrawnBound>& bound() const { return bound_; }

    QPointF placeOf(double words, double moved) const { return {x_.position(words), y_.position(moved)}; }
    /// What stands at a place: the mapping, or the curve at that size of the buffer with the tiles that attain it.
    QString textAt(const QPointF& place) const;
    /// PNG, SVG, PDF, CSV or TEX by the ending. What went wrong; empty if nothing.
    QString exportTo(const QString& file);
    QSize sizeHint() const override { return {520, 360}; }
    QSize minimumSizeHint() const override { return {240, 180}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

private:
    void layOut();
    void paint(QPainter& painter) const;
    void paintMarks(QPainter& painter, const QRectF& area) const;
    QString sentence() const;

    std::optional<DrawnBound> bound_;
    QString empty_;
    PlotAxis x_, y_;
};

}  // namespace orrery::ui
