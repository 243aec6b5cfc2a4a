#pragma once

// The way around boxes: a shortest path over the lines beside their borders.

#include "widgets/canvas/scene.h"

#include <QPolygonF>
#include <QRectF>

#include <span>

namespace orrery::ui {

/// Where a line may leave a box, or arrive.
struct RouteEnd {
    QPointF at;
    Side side = Side::None;
};

/// Orthogonal, from one of the ends to one of the others, through no obstacle and at least `gap` beside each; shortest,
/// a bend counting as `bend`. Empty where there is no way, or more than `most` corners would have to be looked at.
QPolygonF routeAround(std::span<const RouteEnd> from, std::span<const RouteEnd> to, std::span<const QRectF> obstacles,
                      double gap, double bend, int most = 60'000);

}  // namespace orrery::ui
