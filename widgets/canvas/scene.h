#pragma once

// The drawing as plain geometry, without a window: boxes inside boxes, links as polylines, a spatial index. Tools pick
// in it, the painter paints it, tests measure it.

#include "hardware/network/links.h"
#include "methods/method.h"
#include "widgets/canvas/family_index.h"
#include "widgets/canvas/placements.h"

#include <QPointF>
#include <QPolygonF>
#include <QRectF>
#include <QSizeF>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace orrery::ui {

inline constexpr double gridStep = 8;        ///< what placements snap to
inline constexpr double headerHeight = 24;   ///< caption of a container
inline constexpr double contentMargin = 16;  ///< between a container's border and what stands in it

/// One component. Nodes stand in tree order, parents before children, the root first; a node's index is its identity
/// until the next setDesign().
struct SceneNode {
    QRectF box;      ///< scene coordinates; links with an end, and what is hidden, have none
    QPointF origin;  ///< where the placements of its children count from
    std::int32_t parent = -1;
    std::int32_t slot = 0;  ///< index among the parent's children
    std::int32_t next = 0;  ///< first node after its subtree
    std::int16_t depth = 0;
    std::int8_t worst = -1;  ///< severity of its worst problem; -1: none
    bool folded = false;
    bool expanded = false;
    bool hidden = false;  ///< inside a folded component
    const Component* component = nullptr;
};

struct SceneLink {
    std::int32_t node = -1;           ///< the Link component
    std::int32_t from = -1, to = -1;  ///< nodes; -1: the border of the parent
    QPolygonF line;                   ///< scene coordinates, from end to end, orthogonal; empty if hidden
    std::string fromPort, toPort;     ///< names of ports (ports.h); empty: any
    bool broken = false;              ///< an end is given and leads nowhere
};

enum class Side { None, Left, Top, Right, Bottom, TopLeft, TopRight, BottomLeft, BottomRight };

class Scene {
public:
    /// Follows a change of the document. If only placements differ, the cost is that of what moved, not of the design.
    void setDesign(HardwarePtr hardware, PlacementsPtr placements);
    void setProblems(const Diagnostics& problems);  ///< places by path text

    const HardwarePtr& hardware() const { return hardware_; }
    const PlacementsPtr& placements() const { return placements_; }
    const std::vector<SceneNode>& nodes() const { return nodes_; }
    const std::vector<SceneLink>& links() const { return links_; }
    /// The root's box; empty without a design.
    QRectF bounds() const;
    /// What the last setDesign() changed, in scene units: what must be painted again.
    const QRectF& changed() const { return changed_; }
    /// Nodes whose own attributes the last setDesign() changed while every box and line stayed where it was: they and
    /// the captions around them are all that looks different. Nothing where more than that has changed.
    const std::optional<std::vector<int>>& changedNodes() const { return changedNodes_; }

    int find(const ComponentPath& path) const;  ///< -1 if there is none
    ComponentPath path(int node) const;
    std::vector<int> children(int node) const;
    std::span<const std::int32_t> childrenOf(int node) const;
    std::vector<int> linksAt(int node) const;       ///< indices into links()
    std::vector<int> linksOwnedBy(int node) const;  ///< links whose component stands in this node
    int linkOf(int node) const;                     ///< index into links() of a Link component, -1 for others
    /// Median width and height of the visible children, 0 without any: what level of detail goes by.
    QSizeF typicalChild(int node) const;

    /// Innermost visible node whose box holds the point, -1 for none; children of a box drawn smaller than `least`
    /// scene units are not looked into (level of detail hides them).
    int at(const QPointF& point, double least = 0) const;
    int linkAt(const QPointF& point, double reach) const;  ///< index into links(), -1
    /// Visible nodes whose boxes meet the area; `inside`: lie in it wholly. In drawing order.
    std::vector<int> within(const QRectF& area, bool inside = false) const;
    /// Children of one node whose boxes meet the area, in drawing order, by the family's index where it has one.
    void childrenWithin(int node, const QRectF& area, std::vector<int>& found) const;

    /// What `child` would be placed as, if its box's top left stood at `topLeft` (scene) inside `parent`. Without a
    /// child, for a new component.
    Placement placementAt(int parent, const QPointF& topLeft, int child = -1) const;
    /// The present place of a node as a Placement, whether a person gave it or not.
    Placement placementOf(int node) const;
    /// Placements for all children of `parent` as they stand, so that moving one does not re-flow the others; empty for
    /// families beyond 512, whose others keep their slots anyway.
    std::vector<PlacedAt> frozen(int parent) const;
    /// Size a new component would get.
    static QSizeF naturalSize(const Component& component);

private:
    struct Big {  ///< of families over 64
        std::unordered_map<std::string, std::int32_t> names;
        FamilyIndex index;
    };
    struct Family {
        std::int32_t first = 0, count = 0;  ///< in childNodes_
        QRectF extent;                      ///< of the children, from the parent's origin
        QSizeF typical;
        std::unique_ptr<Big> big;
    };
    struct Inner {     ///< layout of one node
        QPointF at;    ///< box's top left, from the parent's origin
        QPointF slot;  ///< where that stands without a hand placement
        QSizeF size;
        QPointF lead;  ///< box's top left from where its placement puts it: negative where children stick out
        std::int32_t family = -1;
    };
    struct Change {
        std::vector<int> inside;
        bool resized = false;
    };

    void build();
    void addNodes();
    void addLinks();
    void attachLinks();
    void readAllPlacements();
    int resolve(std::string_view key) const;
    void layOutAll();
    void followPlacements(const Placements& before);
    void layOut(int node, std::vector<int>* moved);
    void layOutSome(int node, const std::vector<int>& children);
    void measureFamily(Family& family);
    void fitAround(int node);
    void position(int node);
    void positionWithInside(int node, std::vector<int>& moved);
    int visible(int node) const;  ///< itself, or the folded component that hides it
    int childTowards(int ancestor, int node) const;
    void route(std::span<const std::int32_t> links);
    void spread(std::span<const std::int32_t> links);
    void routeAround(const std::vector<int>& moved);
    bool standsAlone(const SceneLink& link) const { return link.from < 0 && link.to < 0; }
    QRectF childRect(int node) const {
        return {inner_[static_cast<std::size_t>(node)].at, inner_[static_cast<std::size_t>(node)].size};
    }
    Family* familyOf(int node);
    const Family* familyOf(int node) const;

    HardwarePtr hardware_;
    PlacementsPtr placements_;
    std::vector<SceneNode> nodes_;
    std::vector<SceneLink> links_;
    std::vector<Inner> inner_;
    std::vector<Family> families_;
    std::vector<std::int32_t> childNodes_;
    std::unordered_map<int, Placement> placed_;
    std::unordered_map<int, std::vector<std::int32_t>> ownedLinks_;     ///< by the parent of the Link component
    std::unordered_map<int, std::vector<std::int32_t>> attachedLinks_;  ///< by the visible node at an end
    std::unordered_map<int, std::int32_t> linkOf_;
    std::vector<std::int32_t> badNodes_;
    QRectF changed_;
    std::optional<std::vector<int>> changedNodes_;
};

}  // namespace orrery::ui
