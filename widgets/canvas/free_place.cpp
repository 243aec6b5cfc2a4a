#include "widgets/canvas/free_place.h"

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr std::size_t mostCorners = 40;  ///< obstacles whose corners are tried
constexpr std::size_t mostPushed = 512;  ///< siblings looked at
constexpr double slack = 1e-6;
constexpr double levelWorth = 0.6;  ///< how much farther a place may be that is level with a neighbour

double distance(const QPointF& a, const QPointF& b) {
    const QPointF d = a - b;
    // A step to the left or up costs a little more: what grows does so to the right and down.
    return std::hypot(d.x(), d.y()) + (a.x() < b.x() || a.y() < b.y() ? 0.25 : 0);
}

bool meet(const QRectF& a, const QRectF& b) {
    return a.left() < b.right() - slack && b.left() < a.right() - slack && a.top() < b.bottom() - slack &&
           b.top() < a.bottom() - slack;
}

}  // namespace

QPointF freePlace(const QRectF& wanted, std::span<const QRectF> taken, double gap) {
    // Where the top left must not be: each obstacle, grown by the box to the left and up.
    std::vector<QRectF> forbidden;
    for (const QRectF& box : taken) {
        forbidden.emplace_back(box.left() - wanted.width() - gap, box.top() - wanted.height() - gap,
                               box.width() + wanted.width() + 2 * gap, box.height() + wanted.height() + 2 * gap);
    }
    const auto isFree = [&](const QPointF& at) {
        return std::none_of(forbidden.begin(), forbidden.end(), [&](const QRectF& area) {
            return at.x() > area.left() + slack && at.x() < area.right() - slack && at.y() > area.top() + slack &&
                   at.y() < area.bottom() - slack;
        });
    };
    const QPointF start = wanted.topLeft();
    if (isFree(start)) return start;
    std::vector<QRectF> near = forbidden;
    const auto away = [&](const QRectF& area) {
        return std::hypot(area.center().x() - start.x(), area.center().y() - start.y());
    };
    if (near.size() > mostCorners) {
        std::nth_element(near.begin(), near.begin() + mostCorners, near.end(),
                         [&](const QRectF& a, const QRectF& b) { return away(a) < away(b); });
        near.resize(mostCorners);
    }
    // Besides the wanted coordinate: against an obstacle's sides, and level with its left or top, as a person would
    // place it.
    struct Line {
        double at;
        bool level;
    };
    std::vector<Line> xs{{start.x(), false}}, ys{{start.y(), false}};
    for (const QRectF& area : near) {
        xs.insert(xs.end(), {{area.left(), false}, {area.right(), false}, {area.left() + wanted.width() + gap, true}});
        ys.insert(ys.end(), {{area.top(), false}, {area.bottom(), false}, {area.top() + wanted.height() + gap, true}});
    }
    std::vector<std::pair<double, QPointF>> candidates;
    for (const Line& x : xs) {
        for (const Line& y : ys) {
            const QPointF at(x.at, y.at);
            candidates.emplace_back(distance(at, start) * (x.level || y.level ? levelWorth : 1), at);
        }
    }
    std::sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [cost, at] : candidates) {
        if (isFree(at)) return at;
    }
    double right = start.x();
    for (const QRectF& area : forbidden) right = std::max(right, area.right());
    return {right, start.y()};
}

std::vector<QRectF> standing(const Scene& scene, int parent, const std::vector<int>& without) {
    std::vector<QRectF> boxes;
    if (parent < 0) return boxes;
    for (const int child : scene.childrenOf(parent)) {
        const QRectF& box = scene.nodes()[static_cast<std::size_t>(child)].box;
        if (!box.isEmpty() && std::find(without.begin(), without.end(), child) == without.end()) boxes.push_back(box);
    }
    return boxes;
}

std::vector<QRectF> sideBySide(const std::vector<Component>& parts) {
    std::vector<QRectF> boxes;
    double x = 0;
    for (const Component& part : parts) {
        const QSizeF size = Scene::naturalSize(part);
        boxes.emplace_back(QPointF(x, 0), size);
        x += size.width() + contentMargin;
    }
    return boxes;
}

std::vector<PlacedAt> pushedAside(const Scene& before, const Scene& after, const ComponentPath& holder) {
    std::vector<PlacedAt> moved;
    double grownX = 0, grownY = 0;  // by how much the container further in has grown in its turn
    for (ComponentPath path = holder; !path.empty(); path.pop_back()) {
        const int node = after.find(path), old = before.find(path);
        if (node <= 0 || old <= 0) break;
        QRectF box = after.nodes()[static_cast<std::size_t>(node)].box;
        box.setSize(box.size() + QSizeF(grownX, grownY));
        const QRectF& was = before.nodes()[static_cast<std::size_t>(old)].box;
        const int parent = after.nodes()[static_cast<std::size_t>(node)].parent;
        const auto family = after.childrenOf(parent);
        if (family.size() > mostPushed) break;
        std::vector<std::pair<int, QRectF>> settled{{node, box}};
        std::vector<std::pair<int, QRectF>> waiting;
        QRectF extent, extentNow;
        for (const int sibling : family) {
            const QRectF& other = after.nodes()[static_cast<std::size_t>(sibling)].box;
            if (other.isEmpty()) continue;
            extent |= other;
            if (sibling != node) waiting.emplace_back(sibling, other);
        }
        // The nearest first, so that a row moves on in its order.
        const auto awayFrom = [&](const QRectF& other) {
            return std::max(other.left() - was.right(), other.top() - was.bottom());
        };
        std::sort(waiting.begin(), waiting.end(),
                  [&](const auto& a, const auto& b) { return awayFrom(a.second) < awayFrom(b.second); });
        std::vector<PlacedAt> pushed;
        for (auto& [sibling, other] : waiting) {
            const QRectF stood = other;
            for (std::size_t tries = 0; tries <= settled.size(); ++tries) {
                const auto hit = std::find_if(settled.begin(), settled.end(), [&](const auto& one) {
                    // Overlaps that a person has made are left alone.
                    return meet(one.second, other) && !(one.first == node && meet(was, stood));
                });
                if (hit == settled.end()) break;
                const double right = hit->second.right() + gridStep - other.left();
                const double down = hit->second.bottom() + gridStep - other.top();
                right <= down ? other.translate(right, 0) : other.translate(0, down);
            }
            if (other != stood) {
                PlacedAt place{after.path(sibling), after.placementOf(sibling)};
                place.at.x += other.x() - stood.x();
                place.at.y += other.y() - stood.y();
                pushed.push_back(std::move(place));
            }
            settled.emplace_back(sibling, other);
        }
        if (!pushed.empty()) {
            // The others stay, or the layout would move them around the pushed.
            for (PlacedAt& place : after.frozen(parent)) {
                const bool moves = std::any_of(pushed.begin(), pushed.end(),
                                               [&](const PlacedAt& one) { return one.path == place.path; });
                if (!moves) moved.push_back(std::move(place));
            }
            moved.insert(moved.end(), pushed.begin(), pushed.end());
        }
        for (const auto& [sibling, now] : settled) extentNow |= now;
        grownX = std::max(0.0, extentNow.right() - extent.right());
        grownY = std::max(0.0, extentNow.bottom() - extent.bottom());
    }
    return moved;
}

}  // namespace orrery::ui
