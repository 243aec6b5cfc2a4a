#include "widgets/canvas/snap.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace orrery::ui {

namespace {

/// A box seen along one axis: `from`…`to` along it, `low`…`high` across.
struct Span {
    double from, to, low, high;
    double centre() const { return (from + to) / 2; }
    bool beside(const Span& other) const { return low < other.high && other.low < high; }
};

Span span(const QRectF& box, bool across) {
    return across ? Span{box.left(), box.right(), box.top(), box.bottom()}
                  : Span{box.top(), box.bottom(), box.left(), box.right()};
}

struct Candidate {
    double by = 0;
    SnapKind kind = SnapKind::Grid;
    int rank = 9;                                 ///< of equally near ones the lower wins
    double at = 0;                                ///< the aligned coordinate; of a gap, unused
    std::vector<std::pair<double, double>> gaps;  ///< along the axis, before `by`; to be drawn
    double gapLevel = 0;
};

class Axis {
public:
    Axis(const QRectF& box, const SnapTargets& targets, bool across)
        : me_(span(box, across)), targets_(targets), across_(across) {
        for (const QRectF& other : targets.boxes) others_.push_back(span(other, across));
    }

    void offer(double by, SnapKind kind, int rank, double at) {
        if (std::abs(by) > targets_.reach) return;
        if (best_ && !nearer(by, rank)) return;
        best_ = Candidate{by, kind, rank, at, {}, 0};
    }

    void edges(bool from, bool to) {
        for (const Span& other : others_) {
            for (const double at : {other.from, other.to}) {
                if (from) offer(at - me_.from, SnapKind::Edge, 2, at);
                if (to) offer(at - me_.to, SnapKind::Edge, 2, at);
            }
        }
    }

    void centres() {
        for (const Span& other : others_) offer(other.centre() - me_.centre(), SnapKind::Centre, 1, other.centre());
        for (const QPointF& port : targets_.ports) {
            const double at = across_ ? port.x() : port.y();
            offer(at - me_.centre(), SnapKind::Port, 0, at);
        }
    }

    void gaps() {
        std::vector<Span> row;
        for (const Span& other : others_) {
            if (other.beside(me_)) row.push_back(other);
        }
        std::sort(row.begin(), row.end(), [](const Span& a, const Span& b) { return a.from < b.from; });
        const double length = me_.to - me_.from;
        for (std::size_t i = 0; i + 1 < row.size(); ++i) {
            const Span &a = row[i], &b = row[i + 1];
            const double gap = b.from - a.to;
            if (gap <= 0) continue;
            gapAt(b.to + gap, {{a.to, b.from}, {b.to, b.to + gap}});
            gapAt(a.from - gap - length, {{a.to, b.from}, {a.from - gap, a.from}});
            if (gap > length) {
                const double each = (gap - length) / 2;
                gapAt(a.to + each, {{a.to, a.to + each}, {b.from - each, b.from}});
            }
        }
    }

    /// The offset, and its guides if it is not the grid's.
    double choose(double gridAt, std::vector<Candidate>& chosen) {
        if (best_) {
            chosen.push_back(*best_);
            return best_->by;
        }
        if (targets_.grid <= 0) return 0;
        const double origin = across_ ? targets_.gridOrigin.x() : targets_.gridOrigin.y();
        return origin + std::round((gridAt - origin) / targets_.grid) * targets_.grid - gridAt;
    }

    const Span& me() const { return me_; }
    const std::vector<Span>& others() const { return others_; }

private:
    bool nearer(double by, int rank) const {
        const double difference = std::abs(by) - std::abs(best_->by);
        return difference < -1e-9 || (difference < 1e-9 && rank < best_->rank);
    }
    void gapAt(double from, std::vector<std::pair<double, double>> lines) {
        const double by = from - me_.from;
        if (std::abs(by) > targets_.reach || (best_ && !nearer(by, 3))) return;
        best_ = Candidate{by, SnapKind::Gap, 3, from, std::move(lines), (me_.low + me_.high) / 2};
    }

    Span me_;
    const SnapTargets& targets_;
    bool across_;
    std::vector<Span> others_;
    std::optional<Candidate> best_;
};

QLineF line(double along, double from, double to, bool across) {
    return across ? QLineF(along, from, along, to) : QLineF(from, along, to, along);
}

/// Guides run from the box over all that they are level with. `shift`: how far the box moves across the axis.
void addGuides(const Axis& axis, const std::vector<Candidate>& chosen, bool across, double shift,
               const SnapTargets& targets, std::vector<SnapGuide>& guides) {
    for (const Candidate& one : chosen) {
        if (one.kind == SnapKind::Gap) {
            const double level = one.gapLevel + shift;
            for (const auto& [from, to] : one.gaps) guides.push_back({one.kind, line(level, from, to, !across)});
            continue;
        }
        double low = axis.me().low + shift, high = axis.me().high + shift;
        for (const Span& other : axis.others()) {
            const bool level = one.kind == SnapKind::Centre
                                   ? std::abs(other.centre() - one.at) < 1e-6
                                   : std::abs(other.from - one.at) < 1e-6 || std::abs(other.to - one.at) < 1e-6;
            if (one.kind == SnapKind::Port || !level) continue;
            low = std::min(low, other.low);
            high = std::max(high, other.high);
        }
        for (const QPointF& port : targets.ports) {
            if (one.kind != SnapKind::Port || std::abs((across ? port.x() : port.y()) - one.at) > 1e-6) continue;
            low = std::min(low, across ? port.y() : port.x());
            high = std::max(high, across ? port.y() : port.x());
        }
        guides.push_back({one.kind, line(one.at, low, high, across)});
    }
}

}  // namespace

Snapped snapBox(const QRectF& box, const SnapTargets& targets) {
    Snapped result;
    Axis x(box, targets, true), y(box, targets, false);
    std::vector<Candidate> chosenX, chosenY;
    for (Axis* axis : {&x, &y}) {
        axis->edges(true, true);
        axis->centres();
        axis->gaps();
    }
    result.by = {x.choose(box.left(), chosenX), y.choose(box.top(), chosenY)};
    addGuides(x, chosenX, true, result.by.y(), targets, result.guides);
    addGuides(y, chosenY, false, result.by.x(), targets, result.guides);
    return result;
}

Snapped snapEdges(const QRectF& box, int horizontal, int vertical, const SnapTargets& targets) {
    Snapped result;
    Axis x(box, targets, true), y(box, targets, false);
    std::vector<Candidate> chosenX, chosenY;
    if (horizontal != 0) {
        x.edges(horizontal<0, horizontal> 0);
        result.by.setX(x.choose(horizontal < 0 ? box.left() : box.right(), chosenX));
    }
    if (vertical != 0) {
        y.edges(vertical<0, vertical> 0);
        result.by.setY(y.choose(vertical < 0 ? box.top() : box.bottom(), chosenY));
    }
    addGuides(x, chosenX, true, 0, targets, result.guides);
    addGuides(y, chosenY, false, 0, targets, result.guides);
    return result;
}

}  // namespace orrery::ui
