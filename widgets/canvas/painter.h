#pragma once

// Paints a Scene with semantic zoom. What is shown depends on the size on screen: far, a box says its name and peak
// numbers; nearer, its parts; nearest, every number. Text is at least 9 pixels high or absent, and never overlaps.

#include "widgets/canvas/scene.h"

#include <QColor>
#include <QString>
#include <QTransform>

#include <optional>
#include <vector>

class QPainter;

namespace orrery::ui {

/// The share of time that a component limits, painted on it while results are live.
struct NodeLoad {
    int node = -1;
    double share = 0;  ///< 0…1
    QString text;      ///< `85 % of time`
    QColor colour;
};

/// What a component shows of a quantity that changes over time, on one scale of colours for all.
struct NodeHeat {
    int node = -1;
    double heat = 0;  ///< 0…1 of the scale
    QString text;     ///< `34 %`
};

/// An outline around a component, e.g. because it differs from another design.
struct NodeMark {
    int node = -1;
    QColor colour;
};

struct PaintOptions {
    QTransform transform;         ///< scene to device: translation and one scale
    QRectF exposed;               ///< scene; what lies outside is neither looked at nor painted
    std::vector<int> selected;    ///< nodes, links' nodes among them
    int hovered = -1;             ///< node
    int entered = 0;              ///< what lies outside of this node is dimmed
    std::vector<int> leftOut;     ///< nodes not painted with all inside them: those being dragged
    std::vector<NodeLoad> loads;  ///< by node
    std::vector<NodeHeat> heat;   ///< by node, links among them
    std::vector<NodeMark> marks;
    std::vector<int> ignored;  ///< nodes that no shown method read, with all inside them: drawn grey
    bool grid = true;          ///< dots where placements snap to, where there is room
    bool problems = true;      ///< badges
    bool forExport = false;    ///< no grid, badges, selection or hover; nothing is cached
    bool background = true;    ///< fills the exposed area with the surface colour first
};

/// The painter stands in device coordinates (identity, or a device pixel ratio); it is left as it was.
void paintScene(QPainter& painter, const Scene& scene, const PaintOptions& options);
/// Some nodes with their insides, as paintScene would show them; for what is being dragged. `offset` in scene units.
void paintNodes(QPainter& painter, const Scene& scene, const PaintOptions& options, const std::vector<int>& nodes,
                const QPointF& offset);

/// How many scene units a box needs to be for its inside to be shown: the `least` of Scene::at() at this zoom.
double leastShown(double zoom);
/// The node that is painted in place of `node` at this zoom: itself, or the innermost outer one that hides its inside.
int shownAs(const Scene& scene, int node, double zoom);
/// Whether the inside of a node is painted at this zoom.
bool showsInside(const Scene& scene, int node, double zoom);
/// What an elided caption or box says in full: name, kind, copies, numbers; for tool tips.
QString describe(const Scene& scene, int node);
/// How far, in scene units, paint of a moved node may reach beyond its box and its links' lines.
double paintReach(double zoom);

}  // namespace orrery::ui
