#pragma once

// The pieces that the painter puts together. All rectangles are in device pixels; `zoom` is pixels per scene unit.

#include "widgets/canvas/painter.h"
#include "widgets/canvas/summary.h"

#include <QPolygonF>
#include <QRectF>

#include <unordered_map>
#include <unordered_set>
#include <vector>

class QPainter;

namespace orrery::ui {

/// How one box looks.
struct BoxLook {
    QColor fill, border, hue;
    bool selected = false;
    bool hovered = false;
};

struct PaintState {
    QPainter& painter;
    const Scene& scene;
    const PaintOptions& options;
    double zoom = 1;
    QRectF exposed;          ///< scene, grown by paintReach()
    QPointF shift;           ///< scene; of dragged nodes
    const Summaries& facts;  ///< peaks of devices
    std::unordered_set<int> selected, leftOut;
    std::unordered_map<int, const NodeLoad*> loads;
    std::unordered_map<int, const NodeMark*> marks;
    std::unordered_set<int> ignored;
    std::unordered_map<int, const NodeHeat*> heat;

    QRectF toDevice(const QRectF& box) const { return options.transform.mapRect(box.translated(shift)); }
    QPointF toDevice(const QPointF& point) const { return options.transform.map(point + shift); }
    QPolygonF toDevice(const QPolygonF& line) const { return options.transform.map(line.translated(shift)); }
};

QColor mixed(const QColor& a, const QColor& b, double share);  ///< share of b
BoxLook lookOf(const PaintState& state, int node, bool open);

/// A box whose inside is not shown: name and as many numbers as have room.
void paintCard(const PaintState& state, int node, const QRectF& box);
/// Fill, border and caption of a container; its children come after it.
void paintFrame(const PaintState& state, int node, const QRectF& box);
/// Load, marks, problems, hover and selection: over the node and all in it.
void paintOverlay(const PaintState& state, int node, const QRectF& box);
/// A family too small for text: one rectangle for each child, in the hue of its kind.
void paintTiles(const PaintState& state, int node);
void paintArrayGrid(const PaintState& state, int node);
void paintLinks(const PaintState& state, int owner);
/// The numbered ports of a switch, where there is room between them.
void paintPorts(const PaintState& state, int node, const QRectF& box);
/// Thin lines from a topology to the siblings that it joins.
void paintTies(const PaintState& state, int owner);
/// Small picture of a topology's shape, or its real network where `expanded`.
void paintTopology(const PaintState& state, int node, const QRectF& box);
void paintGridDots(const PaintState& state);

}  // namespace orrery::ui
