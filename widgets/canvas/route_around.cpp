#include "widgets/canvas/route_around.h"

#include <queue>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace orrery::ui {

namespace {

// Right, down, left, up: opposite directions differ by two.
constexpr int dx[4] = {1, 0, -1, 0}, dy[4] = {0, 1, 0, -1};

int outwardOf(Side side) {
    switch (side) {
        case Side::Right:
            return 0;
        case Side::Bottom:
            return 1;
        case Side::Left:
            return 2;
        default:
            return 3;
    }
}

/// The lines beside all borders and through all ends, and which pieces of them lie inside an obstacle.
class Lines {
public:
    Lines(std::span<const RouteEnd> from, std::span<const RouteEnd> to, std::span<const QRectF> obstacles, double gap) {
        for (const QRectF& box : obstacles) {
            xs.insert(xs.end(), {box.left() - gap, box.right() + gap});
            ys.insert(ys.end(), {box.top() - gap, box.bottom() + gap});
        }
        for (const auto& ends : {from, to}) {
            for (const RouteEnd& end : ends) {
                const QPointF out = away(end, gap);
                xs.insert(xs.end(), {out.x(), end.at.x()});
                ys.insert(ys.end(), {out.y(), end.at.y()});
            }
        }
        for (std::vector<double>* all : {&xs, &ys}) {
            std::ranges::sort(*all);
            const auto same = std::ranges::unique(*all, [](double a, double b) { return std::abs(a - b) < 1e-6; });
            all->erase(same.begin(), same.end());
        }
        acrossBlocked.assign(count(), 0);
        downBlocked.assign(count(), 0);
        for (const QRectF& box : obstacles) block(box);
    }
    static QPointF away(const RouteEnd& end, double gap) {
        const int d = outwardOf(end.side);
        return end.at + QPointF(dx[d], dy[d]) * gap;
    }
    std::size_t count() const { return xs.size() * ys.size(); }
    int index(const QPointF& at) const { return nearest(ys, at.y()) * width() + nearest(xs, at.x()); }
    int width() const { return static_cast<int>(xs.size()); }
    QPointF at(int index) const {
        return {xs[static_cast<std::size_t>(index % width())], ys[static_cast<std::size_t>(index / width())]};
    }
    /// The neighbour in a direction; −1: outside, or through an obstacle.
    int next(int index, int direction) const {
        const int x = index % width() + dx[direction], y = index / width() + dy[direction];
        if (x < 0 || y < 0 || x >= width() || y >= static_cast<int>(ys.size())) return -1;
        const int to = y * width() + x;
        const int first = std::min(index, to);
        const auto& blocked = dx[direction] != 0 ? acrossBlocked : downBlocked;
        return blocked[static_cast<std::size_t>(first)] ? -1 : to;
    }

private:
    static int nearest(const std::vector<double>& all, double value) {
        return static_cast<int>(std::ranges::lower_bound(all, value - 1e-6) - all.begin());
    }
    void block(const QRectF& box) {
        constexpr double hair = 1e-6;
        const auto inside = [](const std::vector<double>& all, double low, double high) {
            return std::pair(std::ranges::upper_bound(all, low + hair) - all.begin(),
                             std::ranges::lower_bound(all, high - hair) - all.begin());
        };
        const auto [left, right] = inside(xs, box.left(), box.right());
        const auto [top, bottom] = inside(ys, box.top(), box.bottom());
        const auto w = static_cast<std::ptrdiff_t>(xs.size());
        // A piece reaches from its line to the next: it may begin before the box.
        for (std::ptrdiff_t y = top; y < bottom; ++y)
            for (std::ptrdiff_t x = std::max<std::ptrdiff_t>(left - 1, 0); x < std::min(right, w - 1); ++x)
                acrossBlocked[static_cast<std::size_t>(y * w + x)] = 1;
        const auto h = static_cast<std::ptrdiff_t>(ys.size());
        for (std::ptrdiff_t y = std::max<std::ptrdiff_t>(top - 1, 0); y < std::min(bottom, h - 1); ++y)
            for (std::ptrdiff_t x = left; x < right; ++x) downBlocked[static_cast<std::size_t>(y * w + x)] = 1;
    }

    std::vector<double> xs, ys;
    std::vector<char> acrossBlocked, downBlocked;  ///< the piece to the right of a corner, and below it
};

struct Open {
    double expected, spent;
    int state;
    bool operator>(const Open& other) const { return expected > other.expected; }
};

}  // namespace

QPolygonF routeAround(std::span<const RouteEnd> from, std::span<const RouteEnd> to, std::span<const QRectF> obstacles,
                      double gap, double bend, int most) {
    const Lines lines(from, to, obstacles, gap);
    if (from.empty() || to.empty() || lines.count() > static_cast<std::size_t>(most)) return {};
    constexpr double never = std::numeric_limits<double>::max();
    // A state is a corner and the direction in which it was reached.
    std::vector<double> spent(lines.count() * 4, never);
    std::vector<int> before(lines.count() * 4, -1);
    std::vector<std::int8_t> goal(lines.count(), -1);
    for (std::size_t i = 0; i < to.size(); ++i)
        goal[static_cast<std::size_t>(lines.index(Lines::away(to[i], gap)))] = static_cast<std::int8_t>(i);
    const auto least = [&](const QPointF& at) {
        double distance = never;
        for (const RouteEnd& end : to) distance = std::min(distance, (end.at - at).manhattanLength());
        return distance;
    };
    std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
    const auto offer = [&](int corner, int direction, double cost, int previous) {
        const auto state = static_cast<std::size_t>(corner * 4 + direction);
        if (cost >= spent[state]) return;
        spent[state] = cost;
        before[state] = previous;
        open.push({cost + least(lines.at(corner)), cost, static_cast<int>(state)});
    };
    for (const RouteEnd& end : from) offer(lines.index(Lines::away(end, gap)), outwardOf(end.side), gap, -1);
    while (!open.empty()) {
        const Open now = open.top();
        open.pop();
        if (now.spent > spent[static_cast<std::size_t>(now.state)]) continue;
        const int corner = now.state / 4, direction = now.state % 4;
        const int reached = goal[static_cast<std::size_t>(corner)];
        if (reached >= 0 && direction != outwardOf(to[static_cast<std::size_t>(reached)].side)) {
            QPolygonF way{to[static_cast<std::size_t>(reached)].at};
            int first = now.state;
            for (int state = now.state; state >= 0; state = before[static_cast<std::size_t>(state)]) {
                way << lines.at(state / 4);
                first = state;
            }
            for (const RouteEnd& end : from)
                if (lines.index(Lines::away(end, gap)) == first / 4 && outwardOf(end.side) == first % 4) {
                    way << end.at;
                    break;
                }
            std::ranges::reverse(way);
            return way;
        }
        for (int turn = 0; turn < 4; ++turn) {
            if (turn == (direction + 2) % 4) continue;
            const int next = lines.next(corner, turn);
            if (next < 0) continue;
            const double step = (lines.at(next) - lines.at(corner)).manhattanLength();
            offer(next, turn, now.spent + step + (turn == direction ? 0 : bend), now.state);
        }
    }
    return {};
}

}  // namespace orrery::ui
