#pragma once

// The drawn graph as plain geometry, without a window: boxes, frames of unfolded groups, routed edges, what lies under
// a point, what lies in an area. Units are scene pixels: reading size at zoom 1.

#include "widgets/graph/grid_index.h"
#include "widgets/graph/layered_layout.h"
#include "workload/hierarchy.h"
#include "workload/workload.h"

#include <QPainterPath>
#include <QString>

#include <array>
#include <memory>
#include <vector>

namespace orrery::ui {

/// Advance widths of the fonts of a box, so that boxes can be measured in any thread. `of` sums them: no kerning.
struct TextWidths {
    std::array<float, 256> title{}, name{}, shape{};
    static double of(const std::array<float, 256>& font, const QString& text);
};

struct GraphScene {
    enum class NodeKind : std::uint8_t { Operator, Group, Terminal };
    struct Node {
        NodeKind kind = NodeKind::Operator;
        std::int32_t op = -1, group = -1;
        TensorId tensor = -1;          ///< of a terminal: an input or output of the graph
        bool input = false;            ///< a terminal that feeds the graph
        bool compact = false;          ///< one line only: views, terminals
        bool stacked = false;          ///< stands for several alike
        QString title, second, third;  ///< type, name, shape; group: name ×n, operators
        OperatorKind family = OperatorKind::Other;
        std::vector<std::pair<OperatorKind, float>> mix;  ///< of a group: share of each kind, largest first
        QRectF box;
        std::int64_t key() const;  ///< the same in every folding: what glides to its new place
    };
    struct Edge {
        std::int32_t from = -1, to = -1;  ///< nodes, terminals included
        std::vector<TensorId> tensors;
        QPainterPath path;
        QPolygonF line;  ///< the path flattened
    };
    struct Frame {
        std::int32_t group = -1;
        int depth = 0;
        QString caption;
        QRectF box;
    };

    std::vector<Node> nodes;  ///< those of the VisibleGraph in its order, then terminals
    std::vector<Edge> edges;
    std::vector<Frame> frames;                           ///< parents first
    std::vector<std::int32_t> nodeOf;                    ///< node of each operator
    std::vector<std::vector<std::int32_t>> into, outOf;  ///< edges of each node
    QRectF bounds;
    bool leftToRight = false;

    std::vector<std::int32_t> nodesIn(const QRectF& area) const;  ///< ascending; exact
    std::vector<std::int32_t> edgesIn(const QRectF& area) const;  ///< ascending; may hold near misses
    std::int32_t nodeOfGroup(std::int32_t group) const;           ///< -1: not shown as a node
    const Frame* frameOf(std::int32_t group) const;               ///< null: not shown as a frame

    static constexpr double captionHeight = 24;
    QRectF expander(const Node& node) const;   ///< the button of a folded group
    QRectF caption(const Frame& frame) const;  ///< the bar that folds it again

    GridIndex nodeIndex, edgeIndex;
};

/// What lies under a point.
struct GraphHit {
    enum class What { Nothing, Node, Expander, Caption, Edge };
    What what = What::Nothing;
    std::int32_t index = -1;  ///< node, frame or edge of the scene
};
/// Nodes before captions before edges; an edge is hit within `reach` of its line.
GraphHit hitAt(const GraphScene& scene, const QPointF& point, double reach);

/// Texts and sizes of the boxes of a visible graph, and what the layout needs to place them.
struct GraphParts {
    GraphScene scene;  ///< without places
    LayoutGraph layout;
    std::vector<std::int32_t> nodes;  ///< scene node of each layout node: inputs come first there
};
GraphParts partsOf(const Workload& workload, const GraphHierarchy& hierarchy, const VisibleGraph& visible,
                   const TextWidths& widths, bool leftToRight);
/// Puts everything where a layout says. `smooth`: routes run from layer to layer and are drawn as smooth curves; else
/// only their corners are rounded.
GraphScene placed(const GraphParts& parts, const LayoutResult& result, bool smooth);

}  // namespace orrery::ui
