#pragma once

// Places text along lines so that no two labels overlap and none leaves the plot.

#include <QLineF>
#include <QPolygonF>
#include <QRectF>
#include <QSizeF>

#include <vector>

namespace orrery::ui {

/// A label for a line in pixels, left to right. `fromEnd` prefers the right end, else the left.
struct LabelRequest {
    QLineF line;
    QSizeF size;
    bool fromEnd = false;
};

struct PlacedLabel {
    bool placed = false;
    QPointF topLeft;   ///< of the text's box, before turning
    double angle = 0;  ///< degrees clockwise about topLeft
    QPolygonF box;     ///< four corners, turned
};

struct Obstacles {
    std::vector<QRectF> hard;     ///< never covered
    std::vector<QPointF> points;  ///< covered only if there is no other place
    std::vector<QRectF> discs;    ///< the same, by their boxes
    std::vector<QLineF> lines;    ///< the same
};

/// One result per request, in its order; earlier ones choose first. What fits nowhere is not placed.
std::vector<PlacedLabel> placeLabels(const std::vector<LabelRequest>& requests, const QRectF& area,
                                     const Obstacles& obstacles);

/// A box beside a point (right, left, above, below, diagonally; near, then farther), or none.
PlacedLabel placeBeside(const QPointF& point, double radius, const QSizeF& size, const QRectF& area,
                        const std::vector<QPolygonF>& taken, const Obstacles& obstacles);

/// Where the name of a mark stands, and the line that leads back to the mark where it does not stand beside it.
struct PlacedName {
    bool placed = false;
    QRectF box;
    QLineF leader;
};

/// The names of marks, earlier ones choose first: beside the mark, else in the nearest free place from which a line
/// leads to it and to no other. No name covers a mark or a name, none leaves the area; where there is no room left a
/// name is not placed. O(names² × places), most places are never looked at.
std::vector<PlacedName> placeNames(const std::vector<QPointF>& marks, const std::vector<QSizeF>& names, double radius,
                                   const QRectF& area, const std::vector<QRectF>& taken);

bool overlap(const QPolygonF& a, const QPolygonF& b);  ///< convex polygons, touching is not overlapping
/// The part of a line inside a rectangle; a null line if there is none.
QLineF clipped(const QLineF& line, const QRectF& area);

}  // namespace orrery::ui
