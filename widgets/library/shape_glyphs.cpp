#include "widgets/library/shape_glyphs.h"

#include "widgets/common/glyphs.h"

#include <QPainter>

#include <cmath>
#include <numbers>
#include <vector>

namespace orrery::ui {
namespace {

using Points = std::vector<QPointF>;

constexpr double dot = 1.1;

void drawDots(QPainter& p, const Points& points) {
    for (const QPointF& point : points) p.drawEllipse(point, dot, dot);
}

void drawSwitch(QPainter& p, const QPointF& at) {
    p.drawRect(QRectF(at.x() - 1.4, at.y() - 1.4, 2.8, 2.8));
}

Points circle(int count, double radius) {
    Points points;
    for (int i = 0; i < count; ++i) {
        const double angle = 2 * std::numbers::pi * i / count - std::numbers::pi / 2;
        points.emplace_back(8 + radius * std::cos(angle), 8 + radius * std::sin(angle));
    }
    return points;
}

/// 3×3 neighbours; a torus closes its rows and columns with stubs.
void drawMesh(QPainter& p, bool torus) {
    Points points;
    for (const double y : {3.5, 8.0, 12.5})
        for (const double x : {3.5, 8.0, 12.5}) points.emplace_back(x, y);
    for (const double at : {3.5, 8.0, 12.5}) {
        const double low = torus ? 1.0 : 3.5, high = torus ? 15.0 : 12.5;
        p.drawLine(QPointF(low, at), QPointF(high, at));
        p.drawLine(QPointF(at, low), QPointF(at, high));
    }
    drawDots(p, points);
}

/// Endpoints below, a row of switches above them, a row of spines above that if given.
void drawTree(QPainter& p, const Points& leaves, const Points& spines, const Points& ends, bool everyEndToEveryLeaf) {
    for (const QPointF& leaf : leaves)
        for (const QPointF& spine : spines) p.drawLine(leaf, spine);
    for (std::size_t i = 0; i < ends.size(); ++i) {
        if (everyEndToEveryLeaf)
            for (const QPointF& leaf : leaves) p.drawLine(ends[i], leaf);
        else
            p.drawLine(ends[i], leaves[i * leaves.size() / ends.size()]);
    }
    for (const QPointF& at : leaves) drawSwitch(p, at);
    for (const QPointF& at : spines) drawSwitch(p, at);
    drawDots(p, ends);
}

bool drawShape(QPainter& p, const QString& shape) {
    const auto is = [&shape](const char* name) { return shape == QLatin1String(name); };
    if (is("ring")) {
        p.drawEllipse(QPointF(8, 8), 5.5, 5.5);
        drawDots(p, circle(6, 5.5));
    } else if (is("line") || is("bus")) {
        p.drawLine(QPointF(2, 8), QPointF(14, 8));
        drawDots(p, {{2.5, 8}, {6.2, 8}, {9.8, 8}, {13.5, 8}});
    } else if (is("mesh") || is("torus")) {
        drawMesh(p, is("torus"));
    } else if (is("fully-connected")) {
        const Points points = circle(5, 5.8);
        for (std::size_t a = 0; a < points.size(); ++a)
            for (std::size_t b = a + 1; b < points.size(); ++b) p.drawLine(points[a], points[b]);
        drawDots(p, points);
    } else if (is("switch") || is("star")) {
        const Points points = circle(6, 5.8);
        for (const QPointF& point : points) p.drawLine(QPointF(8, 8), point);
        drawSwitch(p, {8, 8});
        drawDots(p, points);
    } else if (is("fat-tree")) {
        drawTree(p, {{3.5, 8}, {12.5, 8}}, {{5.5, 3}, {10.5, 3}}, {{2, 13}, {5.5, 13}, {10.5, 13}, {14, 13}}, false);
    } else if (is("rail-optimised")) {
        drawTree(p, {{3, 7.5}, {8, 7.5}, {13, 7.5}}, {{8, 2.5}}, {{3, 13}, {8, 13}, {13, 13}}, false);
        p.drawRoundedRect(QRectF(1, 11.2, 14, 3.6), 1, 1);
    } else if (is("nvswitch")) {
        drawTree(p, {{4.5, 3.5}, {11.5, 3.5}}, {}, {{2.5, 12.5}, {6.2, 12.5}, {9.8, 12.5}, {13.5, 12.5}}, true);
    } else if (is("dragonfly")) {
        const Points groups = circle(3, 4.6);
        for (std::size_t a = 0; a < groups.size(); ++a) p.drawLine(groups[a], groups[(a + 1) % groups.size()]);
        for (const QPointF& at : groups) {
            p.drawEllipse(at, 2.6, 2.6);
            p.drawPoint(at);
        }
    } else {
        return false;
    }
    return true;
}

}  // namespace

void paintShapeGlyph(QPainter& painter, const QString& shape, const QRectF& square, const QColor& ink) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(square.topLeft());
    painter.scale(square.width() / 16, square.height() / 16);
    painter.setPen(QPen(ink, 1.0, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    const bool known = drawShape(painter, shape);
    painter.restore();
    if (!known) paintGlyph(painter, ComponentKind::Topology, square, ink);
}

}  // namespace orrery::ui
