#include "widgets/graph/graph_scene.h"

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

std::size_t at(std::int32_t index) {
    return static_cast<std::size_t>(index);
}

double distance(const QPointF& point, const QPointF& a, const QPointF& b) {
    const QPointF along = b - a;
    const double length = QPointF::dotProduct(along, along);
    const double t = length > 0 ? std::clamp(QPointF::dotProduct(point - a, along) / length, 0.0, 1.0) : 0;
    const QPointF off = point - (a + along * t);
    return std::hypot(off.x(), off.y());
}

QPainterPath smoothPath(const std::vector<QPointF>& route, bool leftToRight) {
    QPainterPath path(route.front());
    for (std::size_t i = 1; i < route.size(); ++i) {
        const QPointF a = route[i - 1], b = route[i];
        if (leftToRight ? std::abs(a.y() - b.y()) < 0.5 : std::abs(a.x() - b.x()) < 0.5) {
            path.lineTo(b);
        } else if (leftToRight) {
            const double middle = (a.x() + b.x()) / 2;
            path.cubicTo({middle, a.y()}, {middle, b.y()}, b);
        } else {
            const double middle = (a.y() + b.y()) / 2;
            path.cubicTo({a.x(), middle}, {b.x(), middle}, b);
        }
    }
    return path;
}

QPainterPath roundedPath(const std::vector<QPointF>& route) {
    QPainterPath path(route.front());
    for (std::size_t i = 1; i + 1 < route.size(); ++i) path.quadTo(route[i], (route[i] + route[i + 1]) / 2);
    path.lineTo(route.back());
    return path;
}

}  // namespace

std::int64_t GraphScene::Node::key() const {
    switch (kind) {
        case NodeKind::Operator:
            return op;
        case NodeKind::Group:
            return (std::int64_t{1} << 32) + group;
        case NodeKind::Terminal:
            break;
    }
    return (std::int64_t{input ? 2 : 3} << 32) + tensor;
}

std::vector<std::int32_t> GraphScene::nodesIn(const QRectF& area) const {
    std::vector<std::int32_t> result = nodeIndex.in(area);
    std::erase_if(result, [&](std::int32_t n) { return !nodes[at(n)].box.intersects(area); });
    return result;
}

std::vector<std::int32_t> GraphScene::edgesIn(const QRectF& area) const {
    return edgeIndex.in(area);
}

std::int32_t GraphScene::nodeOfGroup(std::int32_t group) const {
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        if (group >= 0 && nodes[n].group == group) return static_cast<std::int32_t>(n);
    }
    return -1;
}

const GraphScene::Frame* GraphScene::frameOf(std::int32_t group) const {
    for (const Frame& frame : frames) {
        if (frame.group == group) return &frame;
    }
    return nullptr;
}

QRectF GraphScene::expander(const Node& node) const {
    if (node.kind != NodeKind::Group) return {};
    return {node.box.right() - 24, node.box.top() + 8, 16, 16};
}

QRectF GraphScene::caption(const Frame& frame) const {
    return {frame.box.left(), frame.box.top(), frame.box.width(), std::min(captionHeight, frame.box.height())};
}

GraphHit hitAt(const GraphScene& scene, const QPointF& point, double reach) {
    const QRectF around(point - QPointF(reach, reach), QSizeF(2 * reach, 2 * reach));
    for (const std::int32_t n : scene.nodeIndex.in(around)) {
        const GraphScene::Node& node = scene.nodes[at(n)];
        if (!node.box.contains(point)) continue;
        const bool expands = scene.expander(node).adjusted(-4, -4, 4, 4).contains(point);
        return {expands ? GraphHit::What::Expander : GraphHit::What::Node, n};
    }
    for (std::size_t f = scene.frames.size(); f-- > 0;) {
        if (scene.caption(scene.frames[f]).contains(point))
            return {GraphHit::What::Caption, static_cast<std::int32_t>(f)};
    }
    GraphHit nearest;
    double best = reach;
    for (const std::int32_t e : scene.edgesIn(around)) {
        const QPolygonF& line = scene.edges[at(e)].line;
        for (qsizetype i = 1; i < line.size(); ++i) {
            const double off = distance(point, line[i - 1], line[i]);
            if (off > best) continue;
            best = off;
            nearest = {GraphHit::What::Edge, e};
        }
    }
    return nearest;
}

GraphScene placed(const GraphParts& parts, const LayoutResult& result, bool smooth) {
    GraphScene scene = parts.scene;
    std::vector<GridIndex::Part> boxes, lines;
    const auto include = [&scene](const QRectF& rect) {
        scene.bounds = scene.bounds.isNull() ? rect : scene.bounds | rect;
    };
    for (std::size_t l = 0; l < std::min(result.centres.size(), parts.nodes.size()); ++l)
        scene.nodes[at(parts.nodes[l])].box.moveCenter(result.centres[l]);
    for (std::size_t n = 0; n < scene.nodes.size(); ++n) {
        const QRectF& box = scene.nodes[n].box;
        boxes.emplace_back(static_cast<std::int32_t>(n), box);
        include(box);
    }
    for (std::size_t f = 0; f < scene.frames.size() && f < result.frames.size(); ++f) {
        scene.frames[f].box = result.frames[f];
        include(result.frames[f]);
    }
    scene.into.resize(scene.nodes.size());
    scene.outOf.resize(scene.nodes.size());
    for (std::size_t e = 0; e < scene.edges.size(); ++e) {
        GraphScene::Edge& edge = scene.edges[e];
        scene.outOf[at(edge.from)].push_back(static_cast<std::int32_t>(e));
        scene.into[at(edge.to)].push_back(static_cast<std::int32_t>(e));
        std::vector<QPointF> route;
        if (e < result.routes.size()) route = result.routes[e];
        if (route.size() < 2) route = {scene.nodes[at(edge.from)].box.center(), scene.nodes[at(edge.to)].box.center()};
        edge.path = smooth ? smoothPath(route, scene.leftToRight) : roundedPath(route);
        for (const QPolygonF& polygon : edge.path.toSubpathPolygons()) edge.line += polygon;
        for (qsizetype i = 1; i < edge.line.size(); ++i) {
            const QPointF a = edge.line[i - 1], b = edge.line[i];
            lines.emplace_back(static_cast<std::int32_t>(e), QRectF(a, b).normalized());
        }
        include(edge.line.boundingRect());
    }
    scene.nodeIndex = GridIndex(scene.nodes.size(), boxes);
    scene.edgeIndex = GridIndex(scene.edges.size(), lines);
    return scene;
}

}  // namespace orrery::ui
