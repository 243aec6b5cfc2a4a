#include "widgets/canvas/routing.h"

#include "widgets/canvas/route_around.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace orrery::ui {
namespace {

constexpr double narrow = 6;                  // between a line and what it goes around
constexpr double bendCost = 24;               // in lengths
constexpr std::size_t mostWalkedAround = 64;  // boxes: a drag routes every line again
constexpr double leadOut = 12;                // a line leaves its box by at least this much before it turns

QPointF outward(Side side) {
    switch (side) {
        case Side::Left:
            return {-1, 0};
        case Side::Right:
            return {1, 0};
        case Side::Top:
            return {0, -1};
        default:
            return {0, 1};
    }
}

bool isVertical(Side side) {
    return side == Side::Top || side == Side::Bottom;
}

double lengthOf(const QPolygonF& line) {
    double length = 0;
    for (qsizetype i = 0; i + 1 < line.size(); ++i)
        length += std::abs(line[i + 1].x() - line[i].x()) + std::abs(line[i + 1].y() - line[i].y());
    return length;
}

bool crosses(const QPointF& a, const QPointF& b, const QRectF& box) {
    return std::min(a.x(), b.x()) < box.right() && std::max(a.x(), b.x()) > box.left() &&
           std::min(a.y(), b.y()) < box.bottom() && std::max(a.y(), b.y()) > box.top();
}

// Points that repeat or lie on a straight part are dropped.
QPolygonF tidied(const QPolygonF& line) {
    QPolygonF tidy;
    for (const QPointF& point : line) {
        if (!tidy.isEmpty() && tidy.last() == point) continue;
        while (tidy.size() >= 2) {
            const QPointF& a = tidy[tidy.size() - 2];
            const QPointF& b = tidy.last();
            const bool straight = (a.x() == b.x() && b.x() == point.x()) || (a.y() == b.y() && b.y() == point.y());
            if (!straight) break;
            tidy.removeLast();
        }
        tidy << point;
    }
    if (tidy.size() == 1) tidy << tidy.first();
    return tidy;
}

double cost(const QPolygonF& line, const RouteRequest& request, std::span<const QRectF> obstacles) {
    double sum = lengthOf(line) + bendCost * static_cast<double>(line.size());
    for (qsizetype i = 0; i + 1 < line.size(); ++i) {
        for (const QRectF& box : obstacles) sum += crosses(line[i], line[i + 1], box) ? 2000 : 0;
        // Nor through the boxes at its own ends.
        sum += crosses(line[i], line[i + 1], request.from.adjusted(1, 1, -1, -1)) ? 4000 : 0;
        sum += crosses(line[i], line[i + 1], request.to.adjusted(1, 1, -1, -1)) ? 4000 : 0;
    }
    return sum;
}

bool crossesAny(const QPolygonF& line, std::span<const QRectF> obstacles) {
    for (qsizetype i = 0; i + 1 < line.size(); ++i)
        for (const QRectF& box : obstacles)
            if (crosses(line[i], line[i + 1], box.adjusted(1, 1, -1, -1))) return true;
    return false;
}

// From a side of one box to a side of another, the middle part shifted by the lane.
QPolygonF between(const QPointF& a, Side from, const QPointF& b, Side to, double lane, double middle) {
    QPolygonF line{a};
    const QPointF out = a + outward(from) * (leadOut + std::abs(lane));
    const QPointF in = b + outward(to) * (leadOut + std::abs(lane));
    if (isVertical(from) != isVertical(to)) {
        const QPointF corner = isVertical(from) ? QPointF(a.x(), b.y()) : QPointF(b.x(), a.y());
        const bool forward =
            QPointF::dotProduct(corner - a, outward(from)) > 0 && QPointF::dotProduct(corner - b, outward(to)) > 0;
        if (forward)
            line << corner;
        else
            line << out << (isVertical(from) ? QPointF(in.x(), out.y()) : QPointF(out.x(), in.y())) << in;
    } else if (from == to) {  // around: both leave to the same side
        if (isVertical(from)) {
            const double y = from == Side::Top ? std::min(out.y(), in.y()) : std::max(out.y(), in.y());
            line << QPointF(a.x(), y) << QPointF(b.x(), y);
        } else {
            const double x = from == Side::Left ? std::min(out.x(), in.x()) : std::max(out.x(), in.x());
            line << QPointF(x, a.y()) << QPointF(x, b.y());
        }
    } else if (isVertical(from)) {
        const bool forward = (from == Side::Bottom) == (b.y() >= a.y());
        const double y = std::isnan(middle) ? (a.y() + b.y()) / 2 + lane : middle;
        if (forward && std::isnan(middle)) {
            const double low = std::min(a.y(), b.y());
            const double high = std::max(a.y(), b.y());
            const double inside = high - low > 8 ? std::clamp(y, low + 4, high - 4) : (low + high) / 2;
            line << QPointF(a.x(), inside) << QPointF(b.x(), inside);
        } else {
            line << out << QPointF((a.x() + b.x()) / 2 + lane, out.y()) << QPointF((a.x() + b.x()) / 2 + lane, in.y())
                 << in;
        }
    } else {
        const bool forward = (from == Side::Right) == (b.x() >= a.x());
        const double x = (a.x() + b.x()) / 2 + lane;
        if (forward) {
            const double low = std::min(a.x(), b.x());
            const double high = std::max(a.x(), b.x());
            const double inside = high - low > 8 ? std::clamp(x, low + 4, high - 4) : (low + high) / 2;
            line << QPointF(inside, a.y()) << QPointF(inside, b.y());
        } else {
            line << out << QPointF(out.x(), (a.y() + b.y()) / 2 + lane) << QPointF(in.x(), (a.y() + b.y()) / 2 + lane)
                 << in;
        }
    }
    line << b;
    return tidied(line);
}

}  // namespace

Side facing(const QRectF& from, const QRectF& to) {
    if (to.contains(from) || from.contains(to)) {
        const QRectF& outer = to.contains(from) ? to : from;
        const QRectF& inner = to.contains(from) ? from : to;
        const std::array<double, 4> away{inner.left() - outer.left(), inner.top() - outer.top(),
                                         outer.right() - inner.right(), outer.bottom() - inner.bottom()};
        const auto nearest = std::min_element(away.begin(), away.end()) - away.begin();
        return std::array{Side::Left, Side::Top, Side::Right, Side::Bottom}[static_cast<std::size_t>(nearest)];
    }
    const double right = to.left() - from.right();
    const double left = from.left() - to.right();
    const double down = to.top() - from.bottom();
    const double up = from.top() - to.bottom();
    const double across = std::max(right, left);
    const double along = std::max(down, up);
    if (across >= along) return right >= left ? Side::Right : Side::Left;
    return down >= up ? Side::Bottom : Side::Top;
}

QPointF onSide(const QRectF& box, Side side, double along) {
    switch (side) {
        case Side::Left:
            return {box.left(), box.top() + along * box.height()};
        case Side::Right:
            return {box.right(), box.top() + along * box.height()};
        case Side::Top:
            return {box.left() + along * box.width(), box.top()};
        default:
            return {box.left() + along * box.width(), box.bottom()};
    }
}

QPolygonF routeLine(const RouteRequest& request, std::span<const QRectF> obstacles) {
    const QRectF& from = request.from;
    const QRectF& to = request.to;
    QPolygonF best;
    double least = std::numeric_limits<double>::max();
    const auto offer = [&](const QPolygonF& line) {
        if (const double sum = cost(line, request, obstacles); sum < least) {
            least = sum;
            best = line;
        }
    };
    // Straight, where the two sides overlap.
    const double top = std::max(from.top(), to.top());
    const double bottom = std::min(from.bottom(), to.bottom());
    const double left = std::max(from.left(), to.left());
    const double right = std::min(from.right(), to.right());
    const bool fixed = request.fromSide != Side::None || request.toSide != Side::None;
    if (fixed) {
        // Not where they overlap, but at their ports.
    } else if (bottom - top >= 8 && right < left) {
        const double y = top + (0.2 + 0.6 * request.parallel) * (bottom - top);
        offer(from.right() <= to.left() ? QPolygonF{{from.right(), y}, {to.left(), y}}
                                        : QPolygonF{{from.left(), y}, {to.right(), y}});
    } else if (right - left >= 8 && bottom < top) {
        const double x = left + (0.2 + 0.6 * request.parallel) * (right - left);
        offer(from.bottom() <= to.top() ? QPolygonF{{x, from.bottom()}, {x, to.top()}}
                                        : QPolygonF{{x, from.top()}, {x, to.bottom()}});
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    constexpr std::array sides{Side::Left, Side::Top, Side::Right, Side::Bottom};
    for (const Side a : sides) {
        if (request.fromSide != Side::None && a != request.fromSide) continue;
        for (const Side b : sides) {
            if (request.toSide != Side::None && b != request.toSide) continue;
            offer(
                between(onSide(from, a, request.fromAlong), a, onSide(to, b, request.toAlong), b, request.lane, none));
        }
    }
    if (!crossesAny(best, obstacles) || obstacles.size() > mostWalkedAround) return best;
    std::vector<RouteEnd> begins, ends;
    for (const Side side : sides) {
        if (request.fromSide == Side::None || side == request.fromSide)
            begins.push_back({onSide(from, side, request.fromAlong), side});
        if (request.toSide == Side::None || side == request.toSide)
            ends.push_back({onSide(to, side, request.toAlong), side});
    }
    std::vector<QRectF> walls(obstacles.begin(), obstacles.end());
    if (!from.contains(to)) walls.push_back(from);
    if (!to.contains(from)) walls.push_back(to);
    // Lines of one channel stand apart; where it is narrow they do not.
    for (const double gap : {narrow + 6 * request.fromAlong, narrow / 2}) {
        const QPolygonF around = routeAround(begins, ends, walls, gap, bendCost);
        if (!around.isEmpty()) return tidied(around);
    }
    return best;
}

QPolygonF routeOut(const QRectF& from, const QRectF& border, double along, std::span<const QRectF> obstacles,
                   bool upwards) {
    const auto straight = [&](Side side, double at) -> QPolygonF {
        const QPointF start = onSide(from, side, at);
        switch (side) {
            case Side::Left:
                return {start, {border.left(), start.y()}};
            case Side::Right:
                return {start, {border.right(), start.y()}};
            case Side::Top:
                return {start, {start.x(), border.top()}};
            default:
                return {start, {start.x(), border.bottom()}};
        }
    };
    Side nearest = facing(from, border);
    if (nearest == Side::Top && !upwards)
        nearest = from.left() - border.left() <= border.right() - from.right() ? Side::Left : Side::Right;
    QPolygonF best = straight(nearest, along);
    if (!crossesAny(best, obstacles)) return best;
    double least = std::numeric_limits<double>::max();
    for (const Side side : {Side::Left, Side::Right, Side::Bottom, Side::Top}) {
        if (side == Side::Top && !upwards) continue;
        for (const double at : {along, 0.5, 0.2, 0.8}) {
            const QPolygonF line = straight(side, at);
            if (const double length = lengthOf(line); length < least && !crossesAny(line, obstacles)) {
                least = length;
                best = line;
            }
        }
    }
    if (least < std::numeric_limits<double>::max() || obstacles.size() > mostWalkedAround) return best;
    // No straight way out: around what stands in it, to any place of the border.
    std::vector<RouteEnd> begins, ends;
    for (const Side side : {Side::Left, Side::Right, Side::Bottom, Side::Top}) {
        if (side == Side::Top && !upwards) continue;
        begins.push_back({onSide(from, side, along), side});
        const Side inward = side == Side::Left    ? Side::Right
                            : side == Side::Right ? Side::Left
                            : side == Side::Top   ? Side::Bottom
                                                  : Side::Top;
        for (const QRectF& box : obstacles) {
            const bool upright = side == Side::Left || side == Side::Right;
            for (const double beside : {upright ? box.top() - narrow : box.left() - narrow,
                                        upright ? box.bottom() + narrow : box.right() + narrow}) {
                const QPointF at = upright ? QPointF(side == Side::Left ? border.left() : border.right(), beside)
                                           : QPointF(beside, side == Side::Top ? border.top() : border.bottom());
                if (border.adjusted(-1, -1, 1, 1).contains(at)) ends.push_back({at, inward});
            }
        }
    }
    if (ends.size() > 100) return best;
    std::vector<QRectF> walls(obstacles.begin(), obstacles.end());
    walls.push_back(from);
    const QPolygonF around = routeAround(begins, ends, walls, narrow / 2, bendCost);
    return around.isEmpty() ? best : tidied(around);
}

}  // namespace orrery::ui
