#include "widgets/canvas/spread_lines.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

namespace orrery::ui {

namespace {

constexpr int farthest = 64;  // to either side
constexpr int mostRounds = 6;
constexpr double touching = 2;  // lines that meet end to end do not run over one another
constexpr double clearance = 2;

/// A straight part of a line: where it lies across its direction, and from where to where along it.
struct Stretch {
    bool upright = false;
    double at = 0, from = 0, to = 0;
};

Stretch stretchOf(const QPolygonF& line, qsizetype part) {
    const QPointF& a = line[part];
    const QPointF& b = line[part + 1];
    if (a.x() == b.x()) return {true, a.x(), std::min(a.y(), b.y()), std::max(a.y(), b.y())};
    return {false, a.y(), std::min(a.x(), b.x()), std::max(a.x(), b.x())};
}

bool runOver(const Stretch& a, const Stretch& b, double gap) {
    return a.upright == b.upright && std::abs(a.at - b.at) < gap - 0.01 &&
           std::min(a.to, b.to) - std::max(a.from, b.from) > touching;
}

/// With an inner part elsewhere; empty where that would turn one of its neighbours round.
QPolygonF moved(const QPolygonF& line, qsizetype part, double by) {
    QPolygonF other = line;
    const bool upright = line[part].x() == line[part + 1].x();
    for (const qsizetype at : {part, part + 1}) (upright ? other[at].rx() : other[at].ry()) += by;
    for (const qsizetype neighbour : {part - 1, part + 1}) {
        const QPointF was = line[neighbour + 1] - line[neighbour], is = other[neighbour + 1] - other[neighbour];
        if (QPointF::dotProduct(was, is) <= touching * std::max(std::abs(was.x()), std::abs(was.y()))) return {};
    }
    return other;
}

bool crosses(const QPolygonF& line, qsizetype part, const QRectF& box) {
    const QRectF covered = QRectF(line[part], line[part + 1]).normalized();
    return covered.left() < box.right() && covered.right() > box.left() && covered.top() < box.bottom() &&
           covered.bottom() > box.top();
}

/// Where across its direction a part would come too near to a box that it keeps clear of now.
std::vector<std::pair<double, double>> blockedBy(std::span<const QRectF> obstacles, const Stretch& part) {
    std::vector<std::pair<double, double>> ranges;
    for (const QRectF& box : obstacles) {
        const QRectF around = box.adjusted(-clearance, -clearance, clearance, clearance);
        const auto [from, to] =
            part.upright ? std::pair(around.top(), around.bottom()) : std::pair(around.left(), around.right());
        const auto [low, high] =
            part.upright ? std::pair(around.left(), around.right()) : std::pair(around.top(), around.bottom());
        if (part.from >= to || part.to <= from || (part.at > low && part.at < high)) continue;
        ranges.emplace_back(low, high);
    }
    return ranges;
}

/// Whether `line`, made of `was` by moving one part, runs through nothing, nor too near, that `was` kept clear of.
bool isFree(const QPolygonF& line, const QPolygonF& was, qsizetype part, std::span<const QRectF> obstacles,
            const QRectF& border) {
    if (!border.contains(line[part]) || !border.contains(line[part + 1])) return false;
    const auto enters = [&](qsizetype at, const QRectF& box) {
        return crosses(line, at, box) && !crosses(was, at, box);
    };
    for (const QRectF& box : obstacles) {
        if (enters(part, box.adjusted(-clearance, -clearance, clearance, clearance))) return false;
        for (const qsizetype at : {part - 1, part, part + 1})  // the neighbours have become longer or shorter
            if (enters(at, box.adjusted(1, 1, -1, -1))) return false;
    }
    return true;
}

}  // namespace

void spreadLines(std::span<QPolygonF* const> lines, std::span<const QRectF> obstacles, const QRectF& border,
                 double gap) {
    struct Part {
        std::size_t line;
        qsizetype at;
        Stretch where;
        bool placed = false;
    };
    std::vector<Part> parts;
    for (std::size_t line = 0; line < lines.size(); ++line)
        for (qsizetype at = 0; at + 1 < lines[line]->size(); ++at)
            parts.push_back({line, at, stretchOf(*lines[line], at), at == 0 || at + 2 == lines[line]->size()});
    // The longest first: short ones find room in what is left.
    std::ranges::stable_sort(parts, std::greater(), [](const Part& part) { return part.where.to - part.where.from; });
    // What finds no place in one round may in the next, when others have moved away.
    std::vector<double> beside;
    std::vector<QRectF> near;
    std::vector<std::pair<double, double>> blocked;
    for (int round = 0; round < mostRounds; ++round) {
        bool any = false;
        for (Part& part : parts) {
            QPolygonF& line = *lines[part.line];
            if (part.at == 0 || part.at + 2 == line.size()) continue;
            part.placed = true;
            // Moved across, a part is as long as before: the same ones run beside it wherever it goes.
            beside.clear();
            for (const Part& other : parts)
                if (other.placed && other.line != part.line && runOver(part.where, other.where, 2 * farthest))
                    beside.push_back(other.where.at);
            std::ranges::sort(beside);
            const auto taken = [&](double at, double apart) {
                const double reach = apart - 0.01;
                const auto next = std::ranges::upper_bound(beside, at - reach);
                return next != beside.end() && *next < at + reach;
            };
            near.clear();
            // Narrower where the corridor is.
            for (const double apart : {gap, 0.5 * gap, 0.4 * gap}) {
                if (!taken(part.where.at, apart)) break;
                if (near.empty()) {
                    constexpr double reach = farthest + clearance;
                    const QRectF around = line.boundingRect().adjusted(-reach, -reach, reach, reach);
                    std::ranges::copy_if(obstacles, std::back_inserter(near),
                                         [&](const QRectF& box) { return box.intersects(around); });
                    blocked = blockedBy(near, part.where);
                }
                bool placed = false;
                for (int step = 2; step < 2 * farthest && !placed; ++step) {
                    const double by = step % 2 == 0 ? step / 2 : -(step / 2);
                    const double at = part.where.at + by;
                    if (taken(at, apart) || std::ranges::any_of(blocked, [&](const auto& range) {
                            return at > range.first && at < range.second;
                        }))
                        continue;
                    QPolygonF other = moved(line, part.at, by);
                    if (other.isEmpty() || !isFree(other, line, part.at, near, border)) continue;
                    line = std::move(other);
                    placed = true;
                }
                if (!placed) continue;
                any = true;
                for (Part& its : parts)
                    if (its.line == part.line) its.where = stretchOf(line, its.at);
                break;
            }
        }
        if (!any) return;
    }
}

}  // namespace orrery::ui
