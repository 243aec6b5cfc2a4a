#pragma once

// Orthogonal lines from border to border. Pure geometry: which sides two boxes turn to each other, and the way between
// that is shortest, bends least and crosses the fewest other boxes. What still crosses one goes around it
// (route_around.h), where there are not too many.

#include "widgets/canvas/scene.h"

#include <QPolygonF>
#include <QRectF>

#include <span>

namespace orrery::ui {

/// The side that `from` turns to `to`; for boxes inside each other the side of `from` that is nearest to the border.
Side facing(const QRectF& from, const QRectF& to);
/// A point on a side, `along` it in 0…1 from the left or top.
QPointF onSide(const QRectF& box, Side side, double along);

struct RouteRequest {
    QRectF from, to;
    double fromAlong = 0.5, toAlong = 0.5;            ///< where on their sides the ends stand, so that lines spread
    Side fromSide = Side::None, toSide = Side::None;  ///< given: the ends stand there; None: wherever it is shortest
    double lane = 0;        ///< offset of the middle part, in scene units, to keep parallel lines apart
    double parallel = 0.5;  ///< place among the links of the same two boxes, 0…1
};
/// At least two points; every part is horizontal or vertical.
QPolygonF routeLine(const RouteRequest& request, std::span<const QRectF> obstacles);
/// From a box out to the border of the box around it, the shortest way past the obstacles; not through its caption
/// unless `upwards`.
QPolygonF routeOut(const QRectF& from, const QRectF& border, double along, std::span<const QRectF> obstacles = {},
                   bool upwards = true);

}  // namespace orrery::ui
