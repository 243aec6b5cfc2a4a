#include "hardware/walk.h"
#include "widgets/canvas/natural_size.h"
#include "widgets/canvas/scene.h"

#include <algorithm>
#include <unordered_set>

namespace orrery::ui {
namespace {

constexpr int mostFrozen = 512;

std::size_t ix(int i) {
    return static_cast<std::size_t>(i);
}

double distance(const QPolygonF& line, const QPointF& point) {
    double least = 1e300;
    for (qsizetype i = 0; i + 1 < line.size(); ++i) {
        const QPointF along = line[i + 1] - line[i];
        const double length = QPointF::dotProduct(along, along);
        const double t = length > 0 ? std::clamp(QPointF::dotProduct(point - line[i], along) / length, 0.0, 1.0) : 0;
        const QPointF away = point - line[i] - t * along;
        least = std::min(least, std::hypot(away.x(), away.y()));
    }
    return least;
}

}  // namespace

QRectF Scene::bounds() const {
    return nodes_.empty() ? QRectF() : nodes_.front().box;
}

std::span<const std::int32_t> Scene::childrenOf(int node) const {
    const Family* family = familyOf(node);
    if (!family) return {};
    return {childNodes_.data() + family->first, ix(family->count)};
}

std::vector<int> Scene::children(int node) const {
    const auto all = childrenOf(node);
    return {all.begin(), all.end()};
}

int Scene::find(const ComponentPath& path) const {
    if (nodes_.empty()) return -1;
    int node = 0;
    for (const int slot : path) {
        const auto all = childrenOf(node);
        if (slot < 0 || ix(slot) >= all.size()) return -1;
        node = all[ix(slot)];
    }
    return node;
}

ComponentPath Scene::path(int node) const {
    ComponentPath path;
    if (node < 0 || ix(node) >= nodes_.size()) return path;
    for (; nodes_[ix(node)].parent >= 0; node = nodes_[ix(node)].parent) path.push_back(nodes_[ix(node)].slot);
    std::ranges::reverse(path);
    return path;
}

int Scene::visible(int node) const {
    if (node < 0) return -1;
    while (nodes_[ix(node)].hidden) node = nodes_[ix(node)].parent;
    return node;
}

int Scene::childTowards(int ancestor, int node) const {
    while (node >= 0 && nodes_[ix(node)].parent != ancestor) node = nodes_[ix(node)].parent;
    return node;
}

std::vector<int> Scene::linksAt(int node) const {
    const auto found = attachedLinks_.find(node);
    return found == attachedLinks_.end() ? std::vector<int>{}
                                         : std::vector<int>(found->second.begin(), found->second.end());
}

std::vector<int> Scene::linksOwnedBy(int node) const {
    const auto found = ownedLinks_.find(node);
    return found == ownedLinks_.end() ? std::vector<int>{}
                                      : std::vector<int>(found->second.begin(), found->second.end());
}

int Scene::linkOf(int node) const {
    const auto found = linkOf_.find(node);
    return found == linkOf_.end() ? -1 : found->second;
}

QSizeF Scene::typicalChild(int node) const {
    const Family* family = nodes_[ix(node)].folded ? nullptr : familyOf(node);
    return family ? family->typical : QSizeF();
}

void Scene::childrenWithin(int node, const QRectF& area, std::vector<int>& found) const {
    const Family* family = familyOf(node);
    if (!family || nodes_[ix(node)].folded || nodes_[ix(node)].hidden) return;
    const auto all = childrenOf(node);
    const auto meets = [&](const QRectF& box) {
        return !box.isEmpty() && box.left() <= area.right() && box.right() >= area.left() &&
               box.top() <= area.bottom() && box.bottom() >= area.top();
    };
    if (!family->big) {
        for (const int child : all) {
            if (meets(nodes_[ix(child)].box)) found.push_back(child);
        }
        return;
    }
    const QRectF within = area.translated(-nodes_[ix(node)].origin);
    if (within.contains(family->extent)) {
        for (const int child : all) {
            if (!nodes_[ix(child)].box.isEmpty()) found.push_back(child);
        }
        return;
    }
    std::vector<int> stands;
    family->big->index.find(within, stands);
    for (const int slot : stands) {
        if (meets(nodes_[ix(all[ix(slot)])].box)) found.push_back(all[ix(slot)]);
    }
}

int Scene::at(const QPointF& point, double least) const {
    if (nodes_.empty() || !nodes_.front().box.contains(point)) return -1;
    int node = 0;
    std::vector<int> candidates;
    while (true) {
        const QRectF& box = nodes_[static_cast<std::size_t>(node)].box;
        if (std::min(box.width(), box.height()) < least) return node;
        candidates.clear();
        childrenWithin(node, QRectF(point, QSizeF(0, 0)), candidates);
        int inner = -1;
        for (const int child : candidates) {
            if (nodes_[static_cast<std::size_t>(child)].box.contains(point)) inner = child;
        }
        if (inner < 0) return node;
        node = inner;
    }
}

int Scene::linkAt(const QPointF& point, double reach) const {
    int best = -1;
    double least = reach;
    const QRectF around(point.x() - reach, point.y() - reach, 2 * reach, 2 * reach);
    std::vector<int> open;
    if (!nodes_.empty()) open.push_back(0);
    while (!open.empty()) {
        const int node = open.back();
        open.pop_back();
        if (const auto owned = ownedLinks_.find(node); owned != ownedLinks_.end()) {
            for (const int link : owned->second) {
                const QPolygonF& line = links_[static_cast<std::size_t>(link)].line;
                if (line.isEmpty()) continue;
                const double away = distance(line, point);
                if (away < least || (away == least && link > best)) {
                    least = away;
                    best = link;
                }
            }
        }
        std::vector<int> inside;
        childrenWithin(node, around, inside);
        open.insert(open.end(), inside.begin(), inside.end());
    }
    return best;
}

std::vector<int> Scene::within(const QRectF& area, bool inside) const {
    std::vector<int> found;
    const QRectF wanted = area.normalized();
    const auto visit = [&](auto& self, int node) -> void {
        const QRectF& box = nodes_[static_cast<std::size_t>(node)].box;
        if (!inside || wanted.contains(box)) found.push_back(node);
        std::vector<int> children;
        childrenWithin(node, wanted, children);
        for (const int child : children) self(self, child);
    };
    if (!nodes_.empty()) {
        const QRectF& box = nodes_.front().box;
        if (box.left() <= wanted.right() && box.right() >= wanted.left() && box.top() <= wanted.bottom() &&
            box.bottom() >= wanted.top())
            visit(visit, 0);
    }
    return found;
}

Placement Scene::placementAt(int parent, const QPointF& topLeft, int child) const {
    const QPointF lead = child >= 0 ? inner_[static_cast<std::size_t>(child)].lead : QPointF();
    const QPointF where = topLeft - nodes_[static_cast<std::size_t>(parent)].origin - lead;
    Placement placement;
    if (child >= 0) {
        if (const auto hand = placed_.find(child); hand != placed_.end()) placement = hand->second;
    }
    placement.x = where.x();
    placement.y = where.y();
    placement.placed = true;
    return placement;
}

Placement Scene::placementOf(int node) const {
    Placement placement;
    if (const auto hand = placed_.find(node); hand != placed_.end()) placement = hand->second;
    const Inner& inner = inner_[static_cast<std::size_t>(node)];
    if (nodes_[static_cast<std::size_t>(node)].parent >= 0) {
        const QPointF where = inner.at - inner.lead;
        placement.x = where.x();
        placement.y = where.y();
    }
    placement.placed = true;
    return placement;
}

std::vector<PlacedAt> Scene::frozen(int parent) const {
    std::vector<PlacedAt> all;
    const auto children = childrenOf(parent);
    if (children.size() > mostFrozen) return all;
    ComponentPath path = this->path(parent);
    for (const int child : children) {
        if (inner_[static_cast<std::size_t>(child)].size.isEmpty()) continue;
        path.push_back(nodes_[static_cast<std::size_t>(child)].slot);
        all.push_back({path, placementOf(child)});
        path.pop_back();
    }
    return all;
}

QSizeF Scene::naturalSize(const Component& component) {
    if (partsIn(component).empty()) return leafSize(component);
    Hardware alone;
    alone.root = component;
    Scene scene;
    scene.setDesign(std::make_shared<const Hardware>(std::move(alone)), nullptr);
    return scene.bounds().size();
}

void Scene::setProblems(const Diagnostics& problems) {
    for (const int node : badNodes_) nodes_[static_cast<std::size_t>(node)].worst = -1;
    badNodes_.clear();
    if (nodes_.empty() || problems.empty()) return;
    // Places are `path` or `path.attribute`; paths are joined names, which may hold dots themselves.
    std::unordered_map<std::string, int> worst;
    for (const Diagnostic& problem : problems) {
        const auto severity = static_cast<int>(problem.severity);
        const auto note = [&](const std::string& place) {
            const auto [entry, isNew] = worst.emplace(place, severity);
            if (!isNew) entry->second = std::max(entry->second, severity);
        };
        note(problem.place.path);
        for (std::size_t dot = problem.place.path.rfind('.'); dot != std::string::npos && dot > 0;
             dot = problem.place.path.rfind('.', dot - 1)) {
            note(problem.place.path.substr(0, dot));
            if (problem.place.path.find('/', dot) != std::string::npos) break;
        }
    }
    std::string text;
    std::vector<std::size_t> ends;
    for (int node = 0; node < static_cast<int>(nodes_.size()); ++node) {
        SceneNode& scene = nodes_[static_cast<std::size_t>(node)];
        ends.resize(static_cast<std::size_t>(scene.depth) + 1);
        text.resize(scene.depth == 0 ? 0 : ends[static_cast<std::size_t>(scene.depth) - 1]);
        if (scene.depth > 0) text += '/';
        text += nameOf(*scene.component);
        ends[static_cast<std::size_t>(scene.depth)] = text.size();
        if (const auto found = worst.find(text); found != worst.end()) {
            scene.worst = static_cast<std::int8_t>(found->second);
            badNodes_.push_back(node);
        }
    }
}

}  // namespace orrery::ui
