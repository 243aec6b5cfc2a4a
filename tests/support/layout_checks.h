#pragma once

// What must be true of any drawing of a graph, whoever made it.

#include "widgets/graph/layered_layout.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>

namespace orrery::test {

inline QRectF nodeBox(const ui::LayoutGraph& graph, const ui::LayoutResult& result, std::size_t node) {
    const QSizeF size = graph.sizes[node];
    return {result.centres[node] - QPointF(size.width() / 2, size.height() / 2), size};
}

inline double distanceToBorder(const QRectF& box, QPointF p) {
    const double dx = std::max({box.left() - p.x(), 0.0, p.x() - box.right()});
    const double dy = std::max({box.top() - p.y(), 0.0, p.y() - box.bottom()});
    if (dx > 0 || dy > 0) return std::hypot(dx, dy);
    return std::min({p.x() - box.left(), box.right() - p.x(), p.y() - box.top(), box.bottom() - p.y()});
}

inline bool overlap(const QRectF& a, const QRectF& b) {
    const QRectF both = a & b;
    return both.width() > 0.5 && both.height() > 0.5;
}

inline bool isInside(const ui::LayoutGraph& graph, std::int32_t frame, std::int32_t outer) {
    for (; frame >= 0; frame = graph.frameParent[std::size_t(frame)]) {
        if (frame == outer) return true;
    }
    return false;
}

/// `slack`: how far a route's end may be from its node's border.
inline void checkLayout(const ui::LayoutGraph& graph, const ui::LayoutResult& result, double slack = 0.5) {
    QCOMPARE(result.centres.size(), graph.sizes.size());
    QCOMPARE(result.routes.size(), graph.edges.size());
    QCOMPARE(result.frames.size(), graph.frameParent.size());
    const QRectF all = result.bounds.adjusted(-1, -1, 1, 1);
    std::vector<std::size_t> byLeft(graph.sizes.size());
    for (std::size_t n = 0; n < byLeft.size(); ++n) byLeft[n] = n;
    std::sort(byLeft.begin(), byLeft.end(), [&](std::size_t a, std::size_t b) {
        return nodeBox(graph, result, a).left() < nodeBox(graph, result, b).left();
    });
    for (std::size_t i = 0; i < byLeft.size(); ++i) {
        const QRectF box = nodeBox(graph, result, byLeft[i]);
        QVERIFY2(std::isfinite(box.x()) && std::isfinite(box.y()) && all.contains(box), "a node outside the bounds");
        for (std::size_t j = i + 1; j < byLeft.size(); ++j) {
            const QRectF other = nodeBox(graph, result, byLeft[j]);
            if (other.left() > box.right()) break;
            QVERIFY2(!overlap(box, other),
                     qPrintable(QString("nodes %1 and %2 overlap").arg(byLeft[i]).arg(byLeft[j])));
        }
    }
    for (std::size_t f = 0; f < graph.frameParent.size(); ++f) {
        const auto frame = static_cast<std::int32_t>(f);
        if (result.frames[f].isNull()) continue;
        QVERIFY(all.contains(result.frames[f]));
        for (std::size_t n = 0; n < graph.sizes.size(); ++n) {
            const QRectF box = nodeBox(graph, result, n);
            if (isInside(graph, graph.frame[n], frame)) {
                QVERIFY2(result.frames[f].adjusted(-0.5, -0.5, 0.5, 0.5).contains(box), "a node leaves its frame");
            } else {
                QVERIFY2(!overlap(result.frames[f], box), "a node in a frame that is not its own");
            }
        }
        for (std::size_t g = f + 1; g < graph.frameParent.size(); ++g) {
            if (result.frames[g].isNull()) continue;
            if (isInside(graph, static_cast<std::int32_t>(g), frame)) {
                QVERIFY(result.frames[f].adjusted(-0.5, -0.5, 0.5, 0.5).contains(result.frames[g]));
            } else if (!isInside(graph, frame, static_cast<std::int32_t>(g))) {
                QVERIFY2(!overlap(result.frames[f], result.frames[g]), "frames overlap");
            }
        }
    }
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
        const auto& route = result.routes[e];
        QVERIFY(route.size() >= 2);
        const double from = distanceToBorder(nodeBox(graph, result, std::size_t(graph.edges[e].from)), route.front());
        const double to = distanceToBorder(nodeBox(graph, result, std::size_t(graph.edges[e].to)), route.back());
        QVERIFY2(from <= slack && to <= slack, qPrintable(QString("edge %1 ends off its nodes").arg(e)));
        for (const QPointF& p : route) QVERIFY(all.contains(p));
    }
}

}  // namespace orrery::test
