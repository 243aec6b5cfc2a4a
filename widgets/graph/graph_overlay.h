#pragma once

// What lies over the graph: the legend of its colours and the map of all of it.

#include "widgets/graph/graph_scene.h"
#include "widgets/graph/heat.h"

#include <QImage>
#include <QPainter>

#include <vector>

namespace orrery::ui {

/// Draws the legend of a metric, or of the operator kinds shown, into the lower left corner of `room`; returns where.
QRectF paintLegend(QPainter& painter, const QRectF& room, const HeatMetric* metric, const HeatScale& scale,
                   double threshold, const GraphScene& scene);

/// All of the graph, small, with a frame around what is seen. Hidden while all of it is seen.
class GraphMap {
public:
    void setScene(const GraphScene* scene, const std::vector<QColor>& fill);
    /// Lays it out in the lower right corner of a view. `area`: scene that is seen.
    void place(const QRectF& room, const QRectF& area);
    bool isShown() const { return shown_; }
    QRectF rect() const { return rect_; }
    QPointF toScene(const QPointF& view) const;
    void paint(QPainter& painter, const QRectF& area);

private:
    const GraphScene* scene_ = nullptr;
    std::vector<QColor> fill_;
    QRectF rect_, bounds_;
    double scale_ = 1;
    bool shown_ = false;
    QImage image_;
};

}  // namespace orrery::ui
