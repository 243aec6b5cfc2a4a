#include "widgets/canvas/scene.h"

#include "hardware/walk.h"
#include "widgets/canvas/layout.h"
#include "widgets/canvas/natural_size.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace orrery::ui {
namespace {

constexpr std::int32_t bigFamily = 64;    // children from which an index pays
constexpr std::int32_t freeFamily = 512;  // children from which the others keep their slots

std::size_t ix(int i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

Scene::Family* Scene::familyOf(int node) {
    const std::int32_t family = inner_[ix(node)].family;
    return family < 0 ? nullptr : &families_[ix(family)];
}
const Scene::Family* Scene::familyOf(int node) const {
    return const_cast<Scene*>(this)->familyOf(node);
}

namespace {

// All that is painted of a component itself; its children are nodes of their own.
bool looksTheSame(const Component& a, const Component& b) {
    return a.kind == b.kind && a.name == b.name && a.count == b.count && a.mesh == b.mesh &&
           a.attributes == b.attributes;
}

bool standsTheSame(const SceneNode& a, const SceneNode& b) {
    return a.box == b.box && a.origin == b.origin && a.parent == b.parent && a.next == b.next && a.folded == b.folded &&
           a.expanded == b.expanded && a.hidden == b.hidden && a.component->kind == b.component->kind;
}

std::optional<std::vector<int>> attributesChanged(const std::vector<SceneNode>& before,
                                                  const std::vector<SceneNode>& after) {
    if (before.size() != after.size()) return std::nullopt;
    std::vector<int> changed;
    for (std::size_t node = 0; node < after.size(); ++node) {
        if (!standsTheSame(before[node], after[node])) return std::nullopt;
        if (looksTheSame(*before[node].component, *after[node].component)) continue;
        // A link's ends are attributes of it; a network's parameters change what it expands to.
        const ComponentKind kind = after[node].component->kind;
        if (kind == ComponentKind::Link || kind == ComponentKind::Topology) return std::nullopt;
        changed.push_back(static_cast<int>(node));
    }
    return changed;
}

}  // namespace

void Scene::setDesign(HardwarePtr hardware, PlacementsPtr placements) {
    static const PlacementsPtr none = std::make_shared<const Placements>();
    if (!placements) placements = none;
    changed_ = {};
    changedNodes_.reset();
    if (hardware == hardware_ && placements_) {
        if (placements == placements_) return;
        const PlacementsPtr before = std::exchange(placements_, std::move(placements));
        if (hardware_) followPlacements(*before);
        return;
    }
    const HardwarePtr keptAlive = std::exchange(hardware_, std::move(hardware));
    placements_ = std::move(placements);
    const QRectF before = bounds();
    const std::vector<SceneNode> nodesBefore = std::move(nodes_);
    build();
    changed_ = before.united(bounds());
    changedNodes_ = attributesChanged(nodesBefore, nodes_);
}

void Scene::build() {
    nodes_.clear();
    links_.clear();
    inner_.clear();
    families_.clear();
    childNodes_.clear();
    placed_.clear();
    ownedLinks_.clear();
    attachedLinks_.clear();
    linkOf_.clear();
    badNodes_.clear();
    if (!hardware_) return;
    addNodes();
    addLinks();
    readAllPlacements();
    layOutAll();
}

void Scene::addNodes() {
    struct Open {
        const Component* component;
        std::int32_t node;
        std::size_t child;
    };
    const auto add = [this](const Component& component, std::int32_t parent, std::int32_t slot) {
        const auto node = static_cast<std::int32_t>(nodes_.size());
        SceneNode& made = nodes_.emplace_back();
        made.component = &component;
        made.parent = parent;
        made.slot = slot;
        made.depth = parent < 0 ? std::int16_t(0) : static_cast<std::int16_t>(nodes_[ix(parent)].depth + 1);
        Inner& inner = inner_.emplace_back();
        if (const auto parts = partsIn(component); !parts.empty()) {
            inner.family = static_cast<std::int32_t>(families_.size());
            Family& family = families_.emplace_back();
            family.first = static_cast<std::int32_t>(childNodes_.size());
            family.count = static_cast<std::int32_t>(parts.size());
            childNodes_.resize(childNodes_.size() + parts.size());
            if (family.count > bigFamily) family.big = std::make_unique<Big>();
        }
        if (parent >= 0) childNodes_[ix(familyOf(parent)->first + slot)] = node;
        return node;
    };
    std::vector<Open> open{{&hardware_->root, add(hardware_->root, -1, 0), 0}};
    while (!open.empty()) {
        Open& top = open.back();
        if (top.child == partsIn(*top.component).size()) {
            nodes_[ix(top.node)].next = static_cast<std::int32_t>(nodes_.size());
            open.pop_back();
            continue;
        }
        const Component& child = partsIn(*top.component)[top.child];
        const std::int32_t node = add(child, top.node, static_cast<std::int32_t>(top.child++));
        open.push_back({&child, node, 0});
    }
}

int Scene::resolve(std::string_view key) const {
    if (nodes_.empty()) return -1;
    int node = 0;
    while (!key.empty()) {
        const std::size_t slash = key.find('/');
        const std::string_view part = key.substr(0, slash);
        key.remove_prefix(slash == key.npos ? key.size() : slash + 1);
        const Family* family = familyOf(node);
        if (!family) return -1;
        int found = -1;
        if (family->big) {
            auto& names = family->big->names;
            if (names.empty()) {
                std::unordered_map<std::string_view, int> seen;
                for (const int child : childrenOf(node)) {
                    const std::string_view name = nameOf(*nodes_[ix(child)].component);
                    names.emplace(placementName(name, ++seen[name]), child);
                }
            }
            const auto entry = names.find(std::string(part));
            if (entry != names.end()) found = entry->second;
        } else {
            const std::size_t hash = part.rfind('#');
            int ordinal = 1;
            if (hash != part.npos) std::from_chars(part.data() + hash + 1, part.data() + part.size(), ordinal);
            const std::string_view bare = part.substr(0, hash);
            for (const int child : childrenOf(node)) {
                const std::string_view name = nameOf(*nodes_[ix(child)].component);
                const bool same =
                    name.find_first_of("/#%") == name.npos ? name == bare : placementName(name, 1) == bare;
                if (same && --ordinal == 0) {
                    found = child;
                    break;
                }
            }
        }
        if (found < 0) return -1;
        node = found;
    }
    return node;
}

void Scene::readAllPlacements() {
    for (const auto& [key, placement] : placements_->at) {
        if (const int node = resolve(key); node >= 0) placed_[node] = placement;
    }
}

void Scene::layOutAll() {
    for (int node = static_cast<int>(nodes_.size()) - 1; node >= 0; --node) layOut(node, nullptr);
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) position(node);
    attachLinks();
    std::vector<std::int32_t> all(links_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
    route(all);
}

void Scene::layOut(int node, std::vector<int>* moved) {
    SceneNode& scene = nodes_[ix(node)];
    const auto hand = placed_.find(node);
    scene.folded = hand != placed_.end() && hand->second.folded && inner_[ix(node)].family >= 0;
    scene.expanded = hand != placed_.end() && hand->second.expanded;
    Family* family = familyOf(node);
    if (family) {
        std::vector<LayoutItem> items(ix(family->count));
        bool anyPlaced = false;
        const std::span<const std::int32_t> children = childrenOf(node);
        for (std::size_t i = 0; i < items.size(); ++i) {
            items[i] = {nodes_[ix(children[i])].component->kind, inner_[ix(children[i])].size};
            const auto place = placed_.find(children[i]);
            anyPlaced = anyPlaced || (place != placed_.end() && place->second.placed);
        }
        std::vector<std::pair<int, int>> pairs;
        if (const auto owned = ownedLinks_.find(node); owned != ownedLinks_.end()) {
            for (const int index : owned->second) {
                const SceneLink& link = links_[ix(index)];
                if (link.from < 0 || link.to < 0) continue;
                const int a = childTowards(node, link.from);
                const int b = childTowards(node, link.to);
                if (a >= 0 && b >= 0) pairs.emplace_back(nodes_[ix(a)].slot, nodes_[ix(b)].slot);
            }
        }
        const std::vector<QPointF> stands =
            arrange(items, pairs, scene.component->kind == ComponentKind::Array ? 1.2 : 1.6);
        std::vector<QRectF> taken;
        const bool keepApart = anyPlaced && family->count <= freeFamily;
        const auto put = [&](int child, const QPointF& where) {
            if (moved && inner_[ix(child)].at != where) moved->push_back(child);
            inner_[ix(child)].at = where;
        };
        for (std::size_t i = 0; i < items.size(); ++i) {
            Inner& inner = inner_[ix(children[i])];
            inner.slot = stands[i];
            const auto place = placed_.find(children[i]);
            if (place == placed_.end() || !place->second.placed) continue;
            put(children[i], QPointF(place->second.x, place->second.y) + inner.lead);
            if (keepApart && !items[i].size.isEmpty()) taken.emplace_back(inner.at, inner.size);
        }
        QPointF below;
        double row = 0;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const Inner& inner = inner_[ix(children[i])];
            const auto place = placed_.find(children[i]);
            if (place != placed_.end() && place->second.placed) continue;
            QPointF where = inner.slot;
            if (keepApart && !items[i].size.isEmpty()) {
                const auto clash = [&] {
                    const QRectF box = QRectF(where, inner.size)
                                           .adjusted(-siblingGap / 2, -siblingGap / 2, siblingGap / 2, siblingGap / 2);
                    return std::ranges::any_of(taken, [&](const QRectF& other) { return other.intersects(box); });
                };
                if (clash()) {  // into rows below all that stands
                    if (row == 0 || below.x() + inner.size.width() > 960) {
                        double bottom = 0;
                        for (const QRectF& other : taken) bottom = std::max(bottom, other.bottom());
                        for (std::size_t k = 0; k < items.size(); ++k) {
                            if (!items[k].size.isEmpty())
                                bottom = std::max(bottom, stands[k].y() + items[k].size.height());
                        }
                        below = {0, std::ceil((bottom + siblingGap) / gridStep) * gridStep};
                    }
                    where = below;
                    below.rx() += std::ceil((inner.size.width() + siblingGap) / gridStep) * gridStep;
                    row = 1;
                }
                taken.emplace_back(where, inner.size);
            }
            put(children[i], where);
        }
        measureFamily(*family);
        if (family->big) {
            std::vector<QRectF> boxes(items.size());
            for (std::size_t i = 0; i < items.size(); ++i) boxes[i] = childRect(children[i]);
            family->big->index.build(boxes);
        }
    }
    fitAround(node);
}

// A large family of which only some children were moved: the others keep their slots.
void Scene::layOutSome(int node, const std::vector<int>& children) {
    Family& family = *familyOf(node);
    bool shrinks = false;
    QRectF extent = family.extent;
    for (const int child : children) {
        Inner& inner = inner_[ix(child)];
        const QRectF before = childRect(child);
        const auto place = placed_.find(child);
        inner.at = place != placed_.end() && place->second.placed
                       ? QPointF(place->second.x, place->second.y) + inner.lead
                       : inner.slot;
        const QRectF now = childRect(child);
        if (now == before || now.isEmpty()) continue;
        family.big->index.move(nodes_[ix(child)].slot, before, now);
        shrinks = shrinks || before.left() <= extent.left() || before.top() <= extent.top() ||
                  before.right() >= extent.right() || before.bottom() >= extent.bottom();
        extent = extent.united(now);
    }
    if (shrinks)
        measureFamily(family);
    else
        family.extent = extent;
    fitAround(node);
}

void Scene::measureFamily(Family& family) {
    double left = 1e300, top = 1e300, right = -1e300, bottom = -1e300;
    std::vector<double> widths, heights;
    for (std::int32_t i = family.first; i < family.first + family.count; ++i) {
        const Inner& inner = inner_[ix(childNodes_[ix(i)])];
        if (inner.size.isEmpty()) continue;
        left = std::min(left, inner.at.x());
        top = std::min(top, inner.at.y());
        right = std::max(right, inner.at.x() + inner.size.width());
        bottom = std::max(bottom, inner.at.y() + inner.size.height());
        widths.push_back(inner.size.width());
        heights.push_back(inner.size.height());
    }
    family.extent = {};
    family.typical = {};
    if (widths.empty()) return;
    family.extent = QRectF(QPointF(left, top), QPointF(right, bottom));
    // Of a memory and a die the die: a box opens for the larger of two, not for the smaller.
    const auto middle = static_cast<std::ptrdiff_t>(widths.size() / 2);
    std::nth_element(widths.begin(), widths.begin() + middle, widths.end());
    std::nth_element(heights.begin(), heights.begin() + middle, heights.end());
    family.typical = QSizeF(widths[static_cast<std::size_t>(middle)], heights[static_cast<std::size_t>(middle)]);
}

void Scene::fitAround(int node) {
    Inner& inner = inner_[ix(node)];
    const SceneNode& scene = nodes_[ix(node)];
    const Component& component = *scene.component;
    const auto hand = placed_.find(node);
    inner.lead = {};
    if (component.kind == ComponentKind::Link) {
        const auto link = linkOf_.find(node);
        inner.size = link != linkOf_.end() && standsAlone(links_[ix(link->second)]) ? leafSize(component) : QSizeF();
        return;
    }
    const Family* family = scene.folded ? nullptr : familyOf(node);
    if (!family || family->extent.isEmpty()) {
        inner.size = leafSize(component, scene.expanded);
    } else {
        const QPointF inset = contentInset(component);
        const QSizeF grid = gridSize(component);
        const QRectF& extent = family->extent;
        inner.lead = {std::min(0.0, extent.left()), std::min(0.0, extent.top())};
        const double right = std::max(headerWidth(component), inset.x() + extent.right() + contentMargin);
        const double bottom = std::max(inset.y() + extent.bottom() + contentMargin,
                                       grid.isEmpty() ? 0 : headerHeight + grid.height() + 2 * contentMargin);
        inner.size = QSizeF(right - inner.lead.x(), bottom - inner.lead.y());
    }
    if (hand != placed_.end()) inner.size = inner.size.expandedTo(QSizeF(hand->second.width, hand->second.height));
}

void Scene::position(int node) {
    SceneNode& scene = nodes_[ix(node)];
    const Inner& inner = inner_[ix(node)];
    QPointF topLeft = inner.lead;
    scene.hidden = false;
    if (scene.parent >= 0) {
        const SceneNode& parent = nodes_[ix(scene.parent)];
        scene.hidden = parent.hidden || parent.folded;
        topLeft = parent.origin + inner.at;
    }
    scene.box = scene.hidden || inner.size.isEmpty() ? QRectF() : QRectF(topLeft, inner.size);
    scene.origin = topLeft - inner.lead + contentInset(*scene.component);
}

// Follows the parent's origin; goes into the inside only where it moved along.
void Scene::positionWithInside(int node, std::vector<int>& moved) {
    const QPointF origin = nodes_[ix(node)].origin;
    const auto one = [&](int i) {
        const SceneNode& scene = nodes_[ix(i)];
        const QRectF before = scene.box;
        const bool hidden = scene.hidden;
        position(i);
        if (scene.box == before && scene.hidden == hidden) return;
        if (!before.isEmpty()) changed_ = changed_.united(before);
        if (!scene.box.isEmpty()) changed_ = changed_.united(scene.box);
        moved.push_back(i);
    };
    one(node);
    const SceneNode& scene = nodes_[ix(node)];
    const bool hides = scene.hidden || scene.folded;
    const bool innerHidden = node + 1 < scene.next && nodes_[ix(node + 1)].hidden;
    if (scene.origin == origin && hides == innerHidden) return;
    for (int i = node + 1; i < scene.next; ++i) one(i);
}

void Scene::followPlacements(const Placements& before) {
    std::map<std::pair<int, int>, Change> open;  // inner families first: their sizes are what the outer ones arrange
    const auto change = [&](int node) -> Change& { return open[{-nodes_[ix(node)].depth, node}]; };
    std::vector<int> touched;
    const auto note = [&](const std::string& key, const Placement* was, const Placement* is) {
        const int node = resolve(key);
        if (node < 0) return;
        if (is)
            placed_[node] = *is;
        else
            placed_.erase(node);
        touched.push_back(node);
        const Placement a = was ? *was : Placement{};
        const Placement b = is ? *is : Placement{};
        if (a.width != b.width || a.height != b.height || a.folded != b.folded || a.expanded != b.expanded)
            change(node).resized = true;
        if (nodes_[ix(node)].parent >= 0) change(nodes_[ix(node)].parent).inside.push_back(node);
    };
    SharedSortedMap<Placement>::differences(before.at, placements_->at, note);
    bool folds = false;
    while (!open.empty()) {
        const int node = open.begin()->first.second;
        const Change todo = std::move(open.begin()->second);
        open.erase(open.begin());
        const Inner was = inner_[ix(node)];
        const bool folded = nodes_[ix(node)].folded;
        const bool expanded = nodes_[ix(node)].expanded;
        const Family* family = familyOf(node);
        if (family && family->count > freeFamily && !todo.resized) {
            layOutSome(node, todo.inside);
            touched.insert(touched.end(), todo.inside.begin(), todo.inside.end());
        } else {
            layOut(node, &touched);
        }
        folds = folds || folded != nodes_[ix(node)].folded;
        const Inner& after = inner_[ix(node)];
        if (after.size != was.size || after.lead != was.lead || folded != nodes_[ix(node)].folded ||
            expanded != nodes_[ix(node)].expanded) {
            touched.push_back(node);
            if (nodes_[ix(node)].parent >= 0) {
                Change& outer = change(nodes_[ix(node)].parent);
                outer.resized = true;
                outer.inside.push_back(node);
            }
        }
    }
    std::ranges::sort(touched);
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    std::vector<int> moved;
    for (const int node : touched) positionWithInside(node, moved);
    if (folds) attachLinks();
    std::ranges::sort(moved);
    moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
    routeAround(moved);
}

}  // namespace orrery::ui
