#pragma once

// Draws a GraphScene: near, boxes with their words; far, bars of colour. Only what lies in the area is touched.

#include "widgets/graph/graph_scene.h"

#include <QColor>
#include <QFont>
#include <QPainter>

#include <functional>
#include <unordered_map>
#include <vector>

namespace orrery::ui {

/// The scene's fonts at zoom 1, without the projector's scale, which the view's zoom brings.
QFont graphFont(int pixels, bool bold = false, bool mono = false);
TextWidths graphTextWidths();

/// How the scene looks just now. Vectors are by node of the scene, or empty.
struct GraphLook {
    QRectF area;                                 ///< scene that is seen
    double zoom = 1;                             ///< device-independent pixels per scene pixel
    std::vector<QColor> fill;                    ///< heat; invalid: none
    std::function<QString(std::int32_t)> value;  ///< right of a node's title; may be empty
    std::vector<char> dimmed, selected, matched;
    std::int32_t hovered = -1, hoveredEdge = -1, current = -1, match = -1;
    std::int32_t hoveredFrame = -1;
    /// While nodes glide: where each comes from, and how far they are, 0…1. Edges fade in.
    const std::unordered_map<std::int64_t, QRectF>* from = nullptr;
    double progress = 1;

    QRectF boxOf(const GraphScene::Node& node) const;
};

/// The painter is in scene coordinates already.
void paintGraph(QPainter& painter, const GraphScene& scene, const GraphLook& look);

}  // namespace orrery::ui
