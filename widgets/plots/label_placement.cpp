#include "widgets/plots/label_placement.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery::ui {
namespace {

constexpr double gap = 2;    // pixels between a line and its label
constexpr double step = 10;  // pixels between candidates

QPolygonF turnedBox(const QPointF& topLeft, const QSizeF& size, double degrees) {
    const double a = degrees * M_PI / 180;
    const QPointF along(std::cos(a) * size.width(), std::sin(a) * size.width());
    const QPointF down(-std::sin(a) * size.height(), std::cos(a) * size.height());
    return QPolygonF({topLeft, topLeft + along, topLeft + along + down, topLeft + down});
}

bool separatedBy(const QPolygonF& edges, const QPolygonF& a, const QPolygonF& b) {
    for (qsizetype i = 0; i < edges.size(); ++i) {
        const QPointF edge = edges[(i + 1) % edges.size()] - edges[i];
        const QPointF normal(-edge.y(), edge.x());
        double aLow = std::numeric_limits<double>::infinity(), aHigh = -aLow, bLow = aLow, bHigh = -aLow;
        for (const QPointF& p : a) {
            const double d = QPointF::dotProduct(normal, p);
            aLow = std::min(aLow, d);
            aHigh = std::max(aHigh, d);
        }
        for (const QPointF& p : b) {
            const double d = QPointF::dotProduct(normal, p);
            bLow = std::min(bLow, d);
            bHigh = std::max(bHigh, d);
        }
        if (aHigh <= bLow || bHigh <= aLow) return true;
    }
    return false;
}

bool crosses(const QPolygonF& box, const QLineF& line) {
    for (qsizetype i = 0; i < box.size(); ++i) {
        if (QLineF(box[i], box[(i + 1) % box.size()]).intersects(line, nullptr) == QLineF::BoundedIntersection)
            return true;
    }
    return box.containsPoint(line.p1(), Qt::OddEvenFill);
}

bool inside(const QPolygonF& box, const QRectF& area) {
    return std::all_of(box.begin(), box.end(), [&](const QPointF& p) { return area.contains(p); });
}

bool blocked(const QPolygonF& box, const std::vector<QPolygonF>& taken, const Obstacles& obstacles) {
    return std::any_of(taken.begin(), taken.end(), [&](const QPolygonF& other) { return overlap(box, other); }) ||
           std::any_of(obstacles.hard.begin(), obstacles.hard.end(),
                       [&](const QRectF& rect) { return overlap(box, turnedBox(rect.topLeft(), rect.size(), 0)); });
}

double cost(const QPolygonF& box, const Obstacles& obstacles, const QLineF& own) {
    double sum = 0;
    for (const QPointF& p : obstacles.points) sum += box.containsPoint(p, Qt::OddEvenFill) ? 20 : 0;
    for (const QRectF& disc : obstacles.discs) sum += overlap(box, turnedBox(disc.topLeft(), disc.size(), 0)) ? 20 : 0;
    for (const QLineF& line : obstacles.lines) {
        if (line.p1() == own.p1() && line.p2() == own.p2()) continue;
        sum += crosses(box, line) ? 30 : 0;
    }
    return sum;
}

}  // namespace

bool overlap(const QPolygonF& a, const QPolygonF& b) {
    return !separatedBy(a, a, b) && !separatedBy(b, a, b);
}

QLineF clipped(const QLineF& line, const QRectF& area) {
    // Liang and Barsky: shrink the parameter interval by each of the four borders.
    double from = 0, to = 1;
    const double dx = line.dx(), dy = line.dy();
    const double p[4] = {-dx, dx, -dy, dy};
    const double q[4] = {line.x1() - area.left(), area.right() - line.x1(), line.y1() - area.top(),
                         area.bottom() - line.y1()};
    for (int i = 0; i < 4; ++i) {
        if (p[i] == 0) {
            if (q[i] < 0) return {};
            continue;
        }
        const double t = q[i] / p[i];
        if (p[i] < 0)
            from = std::max(from, t);
        else
            to = std::min(to, t);
    }
    if (from >= to) return {};
    return {line.pointAt(from), line.pointAt(to)};
}

std::vector<PlacedLabel> placeLabels(const std::vector<LabelRequest>& requests, const QRectF& area,
                                     const Obstacles& obstacles) {
    std::vector<PlacedLabel> labels(requests.size());
    std::vector<QPolygonF> taken;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const LabelRequest& request = requests[i];
        const QLineF line = clipped(request.line, area);
        const double room = line.length() - request.size.width() - 12;
        if (line.isNull() || room < 0) continue;
        const double angle = -line.angle() > -180 ? -line.angle() : 360 - line.angle();
        const QPointF unit = (line.p2() - line.p1()) / line.length();
        const QPointF down(-unit.y(), unit.x());
        double best = std::numeric_limits<double>::infinity();
        for (const bool above : {true, false}) {
            for (double along = 0; along <= room; along += step) {
                const double start = 6 + (request.fromEnd ? room - along : along);
                const QPointF topLeft =
                    line.p1() + unit * start + down * (above ? -(request.size.height() + gap) : gap);
                const QPolygonF box = turnedBox(topLeft, request.size, angle);
                const double penalty = (above ? 0 : 8) + along / room * 6;
                if (penalty >= best || !inside(box, area) || blocked(box, taken, obstacles)) continue;
                const double sum = penalty + cost(box, obstacles, request.line);
                if (sum >= best) continue;
                best = sum;
                labels[i] = {true, topLeft, angle, box};
            }
        }
        if (labels[i].placed) taken.push_back(labels[i].box);
    }
    return labels;
}

PlacedLabel placeBeside(const QPointF& point, double radius, const QSizeF& size, const QRectF& area,
                        const std::vector<QPolygonF>& taken, const Obstacles& obstacles) {
    const double w = size.width(), h = size.height();
    PlacedLabel best;
    double least = 45;  // crossing one line is tolerable, covering points and lines is not
    for (const double beyond : {3.0, 12.0}) {
        const double d = radius + beyond;
        for (const QPointF& topLeft :
             {point + QPointF(d, -h / 2), point + QPointF(-d - w, -h / 2), point + QPointF(-w / 2, -d - h),
              point + QPointF(-w / 2, d), point + QPointF(d * 0.7, d * 0.7), point + QPointF(d * 0.7, -d * 0.7 - h),
              point + QPointF(-d * 0.7 - w, d * 0.7), point + QPointF(-d * 0.7 - w, -d * 0.7 - h)}) {
            const QPolygonF box = turnedBox(topLeft, size, 0);
            if (!inside(box, area) || blocked(box, taken, obstacles)) continue;
            const double sum = cost(box, obstacles, {}) + beyond * 0.5;
            if (sum >= least) continue;
            least = sum;
            best = {true, topLeft, 0, box};
        }
    }
    return best;
}

namespace {

// From the mark to the nearest point of a box.
QLineF leaderTo(const QPointF& mark, const QRectF& box) {
    return {mark, {std::clamp(mark.x(), box.left(), box.right()), std::clamp(mark.y(), box.top(), box.bottom())}};
}

bool meets(const QLineF& line, const QRectF& box) {
    // A leader mostly ends far from a box; what lies wholly on one side of it needs no clipping.
    if (std::max(line.x1(), line.x2()) < box.left() || std::min(line.x1(), line.x2()) > box.right() ||
        std::max(line.y1(), line.y2()) < box.top() || std::min(line.y1(), line.y2()) > box.bottom())
        return false;
    return !clipped(line, box).isNull();
}

bool meet(const QLineF& a, const QLineF& b) {
    return a.intersects(b, nullptr) == QLineF::BoundedIntersection;
}

// Of boxes of a positive size; QRectF's own first turns every box the right way round.
bool covers(const QRectF& a, const QRectF& b) {
    return a.left() < b.right() && b.left() < a.right() && a.top() < b.bottom() && b.top() < a.bottom();
}

// Where a name may stand: a grid of boxes, from the shortest line back to the mark to the longest.
class NearestFirst {
public:
    NearestFirst(const QPointF& mark, const QSizeF& size, const QRectF& area, double column) {
        for (double y = area.top(); y + size.height() <= area.bottom(); y += size.height() / 2) {
            for (double x = area.left(); x + size.width() <= area.right(); x += column) {
                const QRectF box({x, y}, size);
                places_.push_back({leaderTo(mark, box).length(), places_.size(), box});
            }
        }
        std::make_heap(places_.begin(), places_.end(), farther);
    }
    struct Place {
        double length = 0;  // pixels
        std::size_t index = 0;
        QRectF box;
    };
    /// The next place, or null when none is nearer than or as near as `most`.
    const Place* next(double most) {
        if (places_.empty() || places_.front().length > most) return nullptr;
        std::pop_heap(places_.begin(), places_.end(), farther);
        last_ = places_.back();
        places_.pop_back();
        return &last_;
    }

private:
    static bool farther(const Place& a, const Place& b) {
        return a.length != b.length ? a.length > b.length : a.index > b.index;
    }
    std::vector<Place> places_;
    Place last_;
};

}  // namespace

std::vector<PlacedName> placeNames(const std::vector<QPointF>& marks, const std::vector<QSizeF>& names, double radius,
                                   const QRectF& area, const std::vector<QRectF>& taken) {
    constexpr double beside = 6, column = 12;
    constexpr double crossing = 60, acrossName = 90, acrossMark = 40;  // as pixels of a longer line
    std::vector<PlacedName> placed(marks.size());
    std::vector<QRectF> discs, boxes = taken;
    for (const QPointF& mark : marks) discs.push_back({mark - QPointF(radius, radius), QSizeF(radius, radius) * 2});
    std::vector<QLineF> leaders;
    for (std::size_t i = 0; i < marks.size(); ++i) {
        const QPointF mark = marks[i];
        const QSizeF size = names[i];
        const auto fits = [&](const QRectF& box) {
            const auto isCovered = [&](const QRectF& other) { return covers(other, box); };
            return area.contains(box) && std::none_of(boxes.begin(), boxes.end(), isCovered) &&
                   std::none_of(discs.begin(), discs.end(), isCovered) &&
                   std::none_of(leaders.begin(), leaders.end(), [&](const QLineF& line) { return meets(line, box); });
        };
        const double d = radius + beside;
        for (const double x : {mark.x() + d, mark.x() - d - size.width()}) {
            const QRectF box({x, mark.y() - size.height() / 2}, size);
            if (placed[i].placed || !fits(box)) continue;
            placed[i] = {true, box, {}};
        }
        if (!placed[i].placed) {
            NearestFirst places(mark, size, area, column);
            double least = std::numeric_limits<double>::infinity();
            while (const auto* place = places.next(least)) {
                if (place->length < radius || !fits(place->box)) continue;
                const QLineF line = leaderTo(mark, place->box);
                double cost = place->length;
                for (const QLineF& other : leaders) cost += meet(other, line) ? crossing : 0;
                for (const QRectF& other : boxes) cost += meets(line, other) ? acrossName : 0;
                for (std::size_t m = 0; m < discs.size(); ++m) cost += m != i && meets(line, discs[m]) ? acrossMark : 0;
                if (cost >= least) continue;
                least = cost;
                placed[i] = {true, place->box, line};
            }
        }
        if (!placed[i].placed) continue;
        boxes.push_back(placed[i].box);
        if (!placed[i].leader.isNull()) leaders.push_back(placed[i].leader);
    }
    return placed;
}

}  // namespace orrery::ui
