// Frames are laid out from the inside out, each as a level of its own, and stand as one item in the level around them:
// so frames cannot overlap. An edge across borders is cut into segments that meet at ports on the borders.

#include "widgets/graph/layered_layout.h"

#include "widgets/graph/layered_cuts.h"

#include <algorithm>

namespace orrery::ui {
namespace {

using namespace layered;

constexpr Spacing spacing;
constexpr double side = 14, bottom = 12;

std::size_t at(std::int32_t i) {
    return static_cast<std::size_t>(i);
}

void transpose(LayoutResult& result) {
    for (QPointF& centre : result.centres) centre = centre.transposed();
    for (auto& route : result.routes) {
        for (QPointF& point : route) point = point.transposed();
    }
    const auto flipped = [](const QRectF& r) { return QRectF(r.y(), r.x(), r.height(), r.width()); };
    for (QRectF& frame : result.frames) frame = flipped(frame);
    result.bounds = flipped(result.bounds);
}

/// A loop leaves at the right border and comes back to it.
std::vector<QPointF> loopRoute(const QRectF& box) {
    const double out = box.right() + 10, high = box.height() / 4;
    return {{box.right(), box.center().y() - high},
            {out, box.center().y() - high},
            {out, box.center().y() + high},
            {box.right(), box.center().y() + high}};
}

}  // namespace

LayoutResult layeredLayout(const LayoutGraph& graph, std::stop_token stop) {
    std::vector<QSizeF> sizes = graph.sizes;
    const bool across = graph.leftToRight;
    if (across) {
        for (QSizeF& size : sizes) size.transpose();
    }
    // Room for a frame's title: at its top, which lies at the start of the layers only when these run downwards.
    const QMarginsF margins =
        across ? QMarginsF(graph.titleHeight, side, bottom, bottom) : QMarginsF(side, graph.titleHeight, side, bottom);
    Cuts cuts = cut(graph, sizes);
    const std::size_t frames = graph.frameParent.size();
    std::vector<QSizeF> frameSize(frames);
    for (std::size_t l = cuts.levels.size(); l-- > 0;) {
        Level& level = cuts.levels[l];
        for (std::size_t i = 0; i < cuts.frameAt[l].size(); ++i) {
            const std::int32_t frame = cuts.frameAt[l][i];
            if (frame < 0) continue;
            level.width[i] = frameSize[at(frame)].width();
            level.height[i] = frameSize[at(frame)].height();
        }
        for (std::size_t s = 0; s < level.segments.size(); ++s) {
            const auto offset = [&](std::int32_t item, std::int32_t port) {
                const std::int32_t frame = cuts.frameAt[l][at(item)];
                if (frame < 0 || port < 0) return 0.0;
                const Level& inside = cuts.levels[at(frame) + 1];
                return inside.x[at(port)] + margins.left() - frameSize[at(frame)].width() / 2;
            };
            level.segments[s].fromAt = offset(level.segments[s].from, cuts.ports[l][s].first);
            level.segments[s].toAt = offset(level.segments[s].to, cuts.ports[l][s].second);
        }
        layoutLevel(level, spacing, stop);
        if (l == 0) continue;
        double least = l - 1 < graph.frameWidth.size() ? graph.frameWidth[l - 1] : 0;
        double width = level.totalWidth + margins.left() + margins.right();
        double height = level.totalHeight + margins.top() + margins.bottom();
        double& titled = across ? height : width;
        if (titled < least) {  // what is inside stands in the middle
            if (!across) {
                for (double& x : level.x) x += (least - width) / 2;
                for (auto& route : level.routes) {
                    for (QPointF& point : route) point.rx() += (least - width) / 2;
                }
            }
            titled = least;
        }
        frameSize[l - 1] = {width, height};
    }

    LayoutResult result;
    result.centres.resize(graph.sizes.size());
    result.frames.resize(frames);
    std::vector<QPointF> corner(cuts.levels.size());
    for (std::size_t l = 0; l < cuts.levels.size(); ++l) {  // parents before children
        const Level& level = cuts.levels[l];
        for (std::size_t i = 0; i < cuts.frameAt[l].size(); ++i) {
            const QPointF centre = corner[l] + QPointF(level.x[i], level.y[i]);
            if (const std::int32_t node = cuts.nodeAt[l][i]; node >= 0) result.centres[at(node)] = centre;
            if (const std::int32_t frame = cuts.frameAt[l][i]; frame >= 0) {
                const QSizeF size = frameSize[at(frame)];
                result.frames[at(frame)] = {centre - QPointF(size.width() / 2, size.height() / 2), size};
                corner[at(frame) + 1] = result.frames[at(frame)].topLeft() + QPointF(margins.left(), margins.top());
            }
        }
    }
    const auto boxOf = [&](std::int32_t node) {
        return QRectF(result.centres[at(node)] - QPointF(sizes[at(node)].width() / 2, sizes[at(node)].height() / 2),
                      sizes[at(node)]);
    };
    result.routes.resize(graph.edges.size());
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
        auto& route = result.routes[e];
        const auto add = [&](QPointF point) {
            if (route.empty() || (route.back() - point).manhattanLength() > 0.01) route.push_back(point);
        };
        for (const Cuts::Piece& piece : cuts.pieces[e]) {
            const auto& points = cuts.levels[at(piece.level)].routes[at(piece.segment)];
            const QPointF by = corner[at(piece.level)];
            if (cuts.upwards[e]) {
                for (auto p = points.rbegin(); p != points.rend(); ++p) add(*p + by);
            } else {
                for (const QPointF& p : points) add(p + by);
            }
        }
        if (route.empty()) route = loopRoute(boxOf(graph.edges[e].from));
        if (route.size() < 2) route.push_back(route.front());
    }
    for (std::size_t n = 0; n < result.centres.size(); ++n) result.bounds |= boxOf(static_cast<std::int32_t>(n));
    for (const QRectF& frame : result.frames) result.bounds |= frame;
    for (const auto& route : result.routes) {
        for (const QPointF& point : route) {
            result.bounds.setLeft(std::min(result.bounds.left(), point.x()));
            result.bounds.setRight(std::max(result.bounds.right(), point.x()));
        }
    }
    if (across) transpose(result);
    return result;
}

}  // namespace orrery::ui
