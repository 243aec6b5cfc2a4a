#pragma once

// One level of a layered drawing: what stands directly in a frame, in layers from top to bottom. Items are operators,
// frames already laid out, and ports on the frame's own border. Columns instead of objects, because a level of ten
// thousand items is laid out while a person waits.

#include <QPointF>

#include <cstdint>
#include <stop_token>
#include <vector>

namespace orrery::ui::layered {

/// Gaps in pixels.
struct Spacing {
    double node = 24, dummy = 12, layer = 34, port = 12;
};

enum class Side : std::int8_t { Top = -1, Inside = 0, Bottom = 1 };

struct Segment {
    std::int32_t from = 0, to = 0;  ///< items; `from` is drawn above `to`
    double fromAt = 0, toAt = 0;    ///< where it leaves and arrives, from the item's centre
    std::int32_t source = 0;        ///< segments of one source and item share their way down
    bool shares = true;
};

struct Level {
    std::vector<double> width, height;
    std::vector<Side> side;
    std::vector<Segment> segments;  ///< without cycles

    std::vector<double> x, y;                  ///< centres of items; the level's corner is at 0, 0
    std::vector<std::vector<QPointF>> routes;  ///< per segment, downwards
    double totalWidth = 0, totalHeight = 0;
};

/// The level as vertices in layers: items, and dummies where segments pass a layer.
struct Layers {
    std::vector<std::int32_t> start;  ///< of each layer in `order`, and the end
    std::vector<std::int32_t> order;  ///< vertices, layer by layer, from left to right
    std::vector<std::int32_t> place;  ///< of each vertex in its layer
    std::vector<std::int32_t> layer;
    std::vector<double> width, height;
    std::int32_t items = 0;  ///< vertices below this are items, others dummies

    struct Edge {
        std::int32_t from = 0, to = 0;
        double fromAt = 0, toAt = 0;
    };
    std::vector<Edge> edges;  ///< between neighbouring layers
    std::vector<std::int32_t> downStart, upStart;
    std::vector<std::int32_t> down, up;  ///< edges below and above each vertex
    struct Path {
        std::int32_t firstDummy = 0, dummies = 0;
    };
    std::vector<Path> paths;  ///< per segment: the dummies that it passes, of consecutive numbers

    std::int32_t count() const { return static_cast<std::int32_t>(start.size()) - 1; }
    bool dummy(std::int32_t vertex) const { return vertex >= items; }
};

/// Layers by longest path; nodes without inputs stand just above their first reader.
Layers rank(const Level& level);
/// Crossings of edges between neighbouring layers, as ordered now.
std::int64_t crossings(const Layers& layers);
/// Fewer crossings: barycentre sweeps and swaps of neighbours, the best order seen is kept.
void reduceCrossings(Layers& layers, const std::stop_token& stop);
/// Horizontal centres (Brandes and Köpf, "Fast and simple horizontal coordinate assignment", GD 2001), smallest left
/// border at 0. Packed to the left if asked to stop.
std::vector<double> horizontal(const Layers& layers, const Spacing& spacing, const std::stop_token& stop);

void layoutLevel(Level& level, const Spacing& spacing, const std::stop_token& stop);

}  // namespace orrery::ui::layered
