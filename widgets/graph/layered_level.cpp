#include "widgets/graph/layered_level.h"

#include <algorithm>
#include <cmath>

namespace orrery::ui::layered {
namespace {

std::size_t at(std::int32_t i) {
    return static_cast<std::size_t>(i);
}

/// Adds a point, unless it is where the line is already; drops the middle one of three in a row.
void bend(std::vector<QPointF>& route, QPointF point) {
    constexpr double tiny = 0.01;
    if (!route.empty() && std::abs(route.back().x() - point.x()) < tiny &&
        std::abs(route.back().y() - point.y()) < tiny)
        return;
    if (route.size() >= 2) {
        const QPointF &a = route[route.size() - 2], &b = route.back();
        if (std::abs(a.x() - b.x()) < tiny && std::abs(b.x() - point.x()) < tiny) {
            route.back() = point;
            return;
        }
    }
    route.push_back(point);
}

/// Items without edges would make one endless row: they stand in columns to the right of the rest, of about its height,
/// where no route passes.
void placeLoose(Level& level, const std::vector<std::int32_t>& loose, const Spacing& spacing) {
    double area = 0;
    for (const std::int32_t i : loose) {
        area += (level.width[at(i)] + spacing.node) * (level.height[at(i)] + spacing.node);
    }
    const double column = std::max(level.totalHeight, std::sqrt(area) * 0.8);
    double x = level.totalWidth > 0 ? level.totalWidth + spacing.node : 0, y = 0, wide = 0;
    for (const std::int32_t i : loose) {
        const double width = level.width[at(i)], height = level.height[at(i)];
        if (y > 0 && y + height > column) x += wide + spacing.node, y = 0, wide = 0;
        level.x[at(i)] = x + width / 2;
        level.y[at(i)] = y + height / 2;
        level.totalWidth = std::max(level.totalWidth, x + width);
        level.totalHeight = std::max(level.totalHeight, y + height);
        y += height + spacing.node;
        wide = std::max(wide, width);
    }
}

/// The level without its loose items: their places are filled in afterwards.
struct Joined {
    Level level;
    std::vector<std::int32_t> item, loose;
};

Joined joinedOf(const Level& level) {
    Joined joined;
    std::vector<std::int32_t> place(level.width.size(), -1);
    std::vector<char> used(level.width.size(), 0);
    for (const Segment& segment : level.segments) used[at(segment.from)] = used[at(segment.to)] = 1;
    for (std::size_t i = 0; i < used.size(); ++i) {
        if (!used[i]) {
            joined.loose.push_back(static_cast<std::int32_t>(i));
            continue;
        }
        place[i] = static_cast<std::int32_t>(joined.item.size());
        joined.item.push_back(static_cast<std::int32_t>(i));
        joined.level.width.push_back(level.width[i]);
        joined.level.height.push_back(level.height[i]);
        joined.level.side.push_back(level.side[i]);
    }
    joined.level.segments = level.segments;
    for (Segment& segment : joined.level.segments) {
        segment.from = place[at(segment.from)];
        segment.to = place[at(segment.to)];
    }
    return joined;
}

}  // namespace

void layoutLevel(Level& level, const Spacing& spacing, const std::stop_token& stop) {
    Joined joined = joinedOf(level);
    Layers layers = rank(joined.level);
    reduceCrossings(layers, stop);
    const std::vector<double> x = horizontal(layers, spacing, stop);

    const std::int32_t count = layers.count();
    std::vector<double> top(at(count) + 1, 0), tall(at(count) + 1, 0);
    for (std::size_t v = 0; v < layers.layer.size(); ++v) {
        tall[at(layers.layer[v])] = std::max(tall[at(layers.layer[v])], layers.height[v]);
    }
    for (std::int32_t l = 1; l < count; ++l) {
        const bool ports = tall[at(l)] == 0 || tall[at(l - 1)] == 0;
        top[at(l)] = top[at(l - 1)] + tall[at(l - 1)] + (ports ? spacing.port : spacing.layer);
    }
    level.x.assign(level.width.size(), 0);
    level.y.assign(level.width.size(), 0);
    level.totalWidth = 0;
    level.totalHeight = count ? top[at(count - 1)] + tall[at(count - 1)] : 0;
    for (std::size_t v = 0; v < layers.layer.size(); ++v) {
        level.totalWidth = std::max(level.totalWidth, x[v] + layers.width[v] / 2);
    }
    for (std::size_t i = 0; i < joined.item.size(); ++i) {
        level.x[at(joined.item[i])] = x[i];
        level.y[at(joined.item[i])] = top[at(layers.layer[i])] + tall[at(layers.layer[i])] / 2;
    }
    level.routes.assign(level.segments.size(), {});
    for (std::size_t s = 0; s < level.segments.size(); ++s) {
        const Segment& segment = level.segments[s];
        const Layers::Path& path = layers.paths[s];
        auto& route = level.routes[s];
        const double fromX = level.x[at(segment.from)] + segment.fromAt, toX = level.x[at(segment.to)] + segment.toAt;
        std::int32_t l = layers.layer[at(joined.level.segments[s].from)];
        bend(route, {fromX, level.y[at(segment.from)] + level.height[at(segment.from)] / 2});
        bend(route, {fromX, top[at(l)] + tall[at(l)]});
        for (std::int32_t d = path.firstDummy; d < path.firstDummy + path.dummies; ++d) {
            l = layers.layer[at(d)];
            bend(route, {x[at(d)], top[at(l)]});
            bend(route, {x[at(d)], top[at(l)] + tall[at(l)]});
        }
        bend(route, {toX, top[at(l + 1)]});
        bend(route, {toX, level.y[at(segment.to)] - level.height[at(segment.to)] / 2});
        if (route.size() < 2) route.push_back(route.front());
    }
    placeLoose(level, joined.loose, spacing);
}

}  // namespace orrery::ui::layered
