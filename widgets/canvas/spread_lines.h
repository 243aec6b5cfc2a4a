#pragma once

// Lines that share a corridor, drawn beside each other. Pure geometry.

#include <QPolygonF>
#include <QRectF>

#include <span>

namespace orrery::ui {

/// Moves inner parts of orthogonal lines that run over one another apart, each by as little as gives `gap` between
/// them. First and last parts stay, for they stand at ports. What has no room between the obstacles, or would leave
/// `border` or turn back on itself, stays as well. Quadratic in parts.
void spreadLines(std::span<QPolygonF* const> lines, std::span<const QRectF> obstacles, const QRectF& border,
                 double gap);

}  // namespace orrery::ui
