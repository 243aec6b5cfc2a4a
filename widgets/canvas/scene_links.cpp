#include "widgets/canvas/layout.h"
#include "widgets/canvas/ports.h"
#include "widgets/canvas/routing.h"
#include "widgets/canvas/scene.h"
#include "widgets/canvas/spread_lines.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace orrery::ui {
namespace {

constexpr std::size_t mostObstacles = 512;  // families beyond it have their links routed without regard to siblings
constexpr std::size_t mostSpread = 64;      // links of one component: a drag spreads them again
constexpr double laneWidth = 8;

std::size_t ix(int i) {
    return static_cast<std::size_t>(i);
}

void grow(QRectF& area, const QPolygonF& line) {
    if (!line.isEmpty()) area = area.united(line.boundingRect().adjusted(-1, -1, 1, 1));
}

/// What joins two parts of a component does not leave it on the way.
void wallIn(std::vector<QRectF>& inTheWay, const QRectF& border) {
    constexpr double thick = 200;
    const QRectF out = border.adjusted(-thick, -thick, thick, thick);
    inTheWay.emplace_back(out.topLeft(), QPointF(out.right(), border.top()));
    inTheWay.emplace_back(QPointF(out.left(), border.bottom()), out.bottomRight());
    inTheWay.emplace_back(out.topLeft(), QPointF(border.left(), out.bottom()));
    inTheWay.emplace_back(QPointF(border.right(), out.top()), out.bottomRight());
}

}  // namespace

void Scene::addLinks() {
    std::size_t links = 0;
    for (const SceneNode& node : nodes_) links += node.component->kind == ComponentKind::Link && node.parent >= 0;
    if (links == 0) return;
    links_.reserve(links);
    for (const LinkEnds& ends : linkEnds(hardware_->root)) {
        const int node = find(ends.link);
        if (node <= 0) continue;
        SceneLink link;
        link.node = node;
        link.from = ends.from ? find(*ends.from) : -1;
        link.to = ends.to ? find(*ends.to) : -1;
        link.broken = ends.broken;
        link.fromPort = ends.fromPort;
        link.toPort = ends.toPort;
        const auto index = static_cast<std::int32_t>(links_.size());
        linkOf_[node] = index;
        ownedLinks_[nodes_[ix(node)].parent].push_back(index);
        links_.push_back(link);
    }
}

void Scene::attachLinks() {
    attachedLinks_.clear();
    for (std::size_t i = 0; i < links_.size(); ++i) {
        const int from = visible(links_[i].from);
        const int to = visible(links_[i].to);
        if (from >= 0) attachedLinks_[from].push_back(static_cast<std::int32_t>(i));
        if (to >= 0 && to != from) attachedLinks_[to].push_back(static_cast<std::int32_t>(i));
    }
}

void Scene::route(std::span<const std::int32_t> which) {
    // Where on a side each link of a node stands: by the centre of its other end, so that lines cross little.
    const auto otherEnd = [&](const SceneLink& link, int node) {
        const int from = visible(link.from);
        const int other = from == node ? visible(link.to) : from;
        return other >= 0 ? nodes_[ix(other)].box : nodes_[ix(nodes_[ix(link.node)].parent)].box;
    };
    std::unordered_map<int, std::unordered_map<int, double>> alongs;
    const auto along = [&](int node, int index) {
        auto [entry, isNew] = alongs.try_emplace(node);
        if (isNew) {
            struct Port {
                Side side;
                double order;
                int link;
            };
            std::vector<Port> ports;
            const QRectF& box = nodes_[ix(node)].box;
            for (const int link : attachedLinks_[node]) {
                const QRectF other = otherEnd(links_[ix(link)], node);
                const Side side = facing(box, other);
                const bool across = side == Side::Top || side == Side::Bottom;
                ports.push_back({side, across ? other.center().x() : other.center().y(), link});
            }
            std::ranges::sort(ports, [](const Port& a, const Port& b) {
                return std::tie(a.side, a.order, a.link) < std::tie(b.side, b.order, b.link);
            });
            for (std::size_t first = 0; first < ports.size();) {
                std::size_t last = first;
                while (last < ports.size() && ports[last].side == ports[first].side) ++last;
                for (std::size_t i = first; i < last; ++i)
                    entry->second[ports[i].link] =
                        static_cast<double>(i - first + 1) / static_cast<double>(last - first + 1);
                first = last;
            }
        }
        const auto found = entry->second.find(index);
        return found == entry->second.end() ? 0.5 : found->second;
    };
    std::vector<QRectF> obstacles;
    int obstaclesOf = -1;
    std::vector<QPolygonF> before;
    before.reserve(which.size());
    for (const int index : which) {
        SceneLink& link = links_[ix(index)];
        before.push_back(std::exchange(link.line, {}));
        const int owner = nodes_[ix(link.node)].parent;
        const int from = visible(link.from);
        const int to = visible(link.to);
        const QRectF& border = nodes_[ix(owner)].box;
        const std::span<const std::int32_t> siblings = childrenOf(owner);
        if (obstaclesOf != owner) {
            obstaclesOf = owner;
            obstacles.clear();
            if (siblings.size() <= mostObstacles) {
                for (const int sibling : siblings) {
                    if (!nodes_[ix(sibling)].box.isEmpty()) obstacles.push_back(nodes_[ix(sibling)].box);
                }
            }
        }
        const auto without = [&obstacles](const QRectF& first, const QRectF& last) {
            std::vector<QRectF> inTheWay;
            inTheWay.reserve(obstacles.size());
            for (const QRectF& box : obstacles) {
                if (!box.contains(first) && !box.contains(last)) inTheWay.push_back(box);
            }
            return inTheWay;
        };
        if (nodes_[ix(owner)].hidden || nodes_[ix(owner)].folded || (from >= 0 && from == to)) {
            // Both ends within what is folded, or not there.
        } else if (standsAlone(link)) {
            const QRectF& box = nodes_[ix(link.node)].box;
            link.line = routeOut(box, border, 0.5, without(box, box), false);
        } else if (from < 0 || to < 0) {
            const int end = from < 0 ? to : from;
            const QRectF& box = nodes_[ix(end)].box;
            link.line = routeOut(box, border, along(end, index), without(box, box));
            if (from < 0) std::ranges::reverse(link.line);
        } else {
            RouteRequest request;
            request.from = nodes_[ix(from)].box;
            request.to = nodes_[ix(to)].box;
            request.fromAlong = along(from, index);
            request.toAlong = along(to, index);
            // At its port, unless it ends at what hides the part with the port.
            const auto fix = [&](int end, int shown, const std::string& name, Side& side, double& at) {
                if (end != shown || name.empty()) return;
                const SceneNode& node = nodes_[ix(end)];
                if (const auto port = portNamed(*node.component, node.box, name)) side = port->side, at = port->along;
            };
            fix(link.from, from, link.fromPort, request.fromSide, request.fromAlong);
            fix(link.to, to, link.toPort, request.toSide, request.toAlong);
            int earlier = 0;
            int parallel = 0;
            for (const int other : attachedLinks_[from]) {
                const int a = visible(links_[ix(other)].from);
                const int b = visible(links_[ix(other)].to);
                if (!((a == from && b == to) || (a == to && b == from))) continue;
                ++parallel;
                earlier += other < index;
            }
            request.parallel = (earlier + 0.5) / std::max(1, parallel);
            request.lane = (request.fromAlong - 0.5) * laneWidth * static_cast<double>(attachedLinks_[from].size());
            request.lane = std::clamp(request.lane, -5 * laneWidth, 5 * laneWidth);
            std::vector<QRectF> inTheWay = without(request.from, request.to);
            if (!obstacles.empty()) wallIn(inTheWay, border);
            link.line = routeLine(request, inTheWay);
        }
    }
    spread(which);
    for (std::size_t i = 0; i < which.size(); ++i) {
        const QPolygonF& line = links_[ix(which[i])].line;
        if (before[i] == line) continue;
        grow(changed_, before[i]);
        grow(changed_, line);
    }
}

// Those of one component beside each other; it has had all of its links routed, or has too many.
void Scene::spread(std::span<const std::int32_t> which) {
    std::set<int> owners;
    for (const int index : which) owners.insert(nodes_[ix(links_[ix(index)].node)].parent);
    for (const int owner : owners) {
        const std::vector<std::int32_t>& owned = ownedLinks_[owner];
        const std::span<const std::int32_t> siblings = childrenOf(owner);
        if (owned.size() > mostSpread || siblings.size() > mostObstacles) continue;
        std::vector<QPolygonF*> lines;
        for (const int index : owned)
            if (links_[ix(index)].line.size() > 1) lines.push_back(&links_[ix(index)].line);
        if (lines.size() < 2) continue;
        std::vector<QRectF> obstacles;
        for (const int sibling : siblings)
            if (!nodes_[ix(sibling)].box.isEmpty()) obstacles.push_back(nodes_[ix(sibling)].box);
        spreadLines(lines, obstacles, nodes_[ix(owner)].box, lineGap);
    }
}

// Those at what has moved, those past it, and those that share a box's side with one of them.
void Scene::routeAround(const std::vector<int>& moved) {
    if (links_.empty() || moved.empty()) return;
    std::set<std::int32_t> which;
    std::set<int> parents;
    std::set<int> ends;
    for (const int node : moved) {
        int parent = nodes_[ix(node)].parent;
        if (parent >= 0) parents.insert(parent);
        parents.insert(node);  // links out to its border
        if (const auto found = linkOf_.find(node); found != linkOf_.end()) which.insert(found->second);
        for (int around = node; around >= 0; around = nodes_[ix(around)].parent) {
            if (const auto found = attachedLinks_.find(around); found != attachedLinks_.end()) {
                if (around == node) which.insert(found->second.begin(), found->second.end());
            }
        }
    }
    for (const int parent : parents) {
        const auto owned = ownedLinks_.find(parent);
        if (owned == ownedLinks_.end()) continue;
        if (childrenOf(parent).size() <= mostObstacles) {
            which.insert(owned->second.begin(), owned->second.end());
        } else if (std::binary_search(moved.begin(), moved.end(), parent)) {
            for (const int link : owned->second) {
                if (links_[ix(link)].from < 0 || links_[ix(link)].to < 0) which.insert(link);
            }
        }
    }
    for (const int link : which) {
        for (const int end : {visible(links_[ix(link)].from), visible(links_[ix(link)].to)}) {
            if (end >= 0) ends.insert(end);
        }
    }
    for (const int end : ends) {
        const auto& at = attachedLinks_[end];
        which.insert(at.begin(), at.end());
    }
    // Links of one component are spread together, and so routed together.
    std::set<int> owners;
    for (const int link : which) owners.insert(nodes_[ix(links_[ix(link)].node)].parent);
    for (const int owner : owners) {
        const auto& owned = ownedLinks_[owner];
        if (owned.size() <= mostSpread) which.insert(owned.begin(), owned.end());
    }
    const std::vector<std::int32_t> all(which.begin(), which.end());
    route(all);
}

}  // namespace orrery::ui
