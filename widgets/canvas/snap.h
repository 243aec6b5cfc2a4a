#pragma once

// Snapping as plain geometry: where a moved or resized box should go, and the lines that show why.

#include <QLineF>
#include <QPointF>
#include <QRectF>

#include <vector>

namespace orrery::ui {

enum class SnapKind { Grid, Edge, Centre, Gap, Port };

struct SnapTargets {
    std::vector<QRectF> boxes;   ///< siblings that stay where they are
    std::vector<QPointF> ports;  ///< other ends of the moved box's links: level with one, the link runs straight
    double grid = 0;             ///< step; 0: no grid
    QPointF gridOrigin;
    double reach = 6;  ///< scene units within which edges, centres, gaps and ports pull; the grid always does
};

struct SnapGuide {
    SnapKind kind = SnapKind::Edge;
    QLineF line;
};

struct Snapped {
    QPointF by;                     ///< to add to the box's position
    std::vector<SnapGuide> guides;  ///< none for the grid
};

/// Each axis by itself: the nearest of siblings' edges and centres, ports and equal gaps within reach, else the grid.
Snapped snapBox(const QRectF& box, const SnapTargets& targets);
/// For resizing: only the named edges move. `horizontal`: -1 the left edge, 1 the right one, 0 neither; likewise
/// `vertical` for top and bottom.
Snapped snapEdges(const QRectF& box, int horizontal, int vertical, const SnapTargets& targets);

}  // namespace orrery::ui
