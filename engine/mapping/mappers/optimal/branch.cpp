#include "mapping/mappers/optimal/branch.h"

#include <algorithm>
#include <limits>

namespace orrery::optimal {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

}  // namespace

Branch::Branch(const Chain& chain, const Skeleton& skeleton, const ToGo& toGo, Orders& orders, Incumbent& best)
    : chain_(chain),
      facts_(*chain.facts),
      skeleton_(skeleton),
      toGo_(toGo),
      orders_(orders),
      best_(best),
      levels_(facts_.levels()),
      depth_(levels_ + 1) {
    Depth& root = depth_[levels_];
    root.outside = toGo_.states(levels_)[0].extents;
    for (Closing& closing : root.closing) closing.outside = true;
    root.known = chain.base;
}

double Branch::root() const {
    return boundAt(levels_, 0, depth_[levels_]);
}

// The loops of level b leave `state` inside: what every tensor sees of the loops outside boundary b, and what the
// interfaces that begin there cost.
void Branch::close(std::size_t b, std::uint32_t state, std::uint32_t active, const OrderClass& order,
                   const Depth& outside, Depth& made) const {
    const ToGo::Extents& inside = toGo_.states(b)[state].extents;
    double outer = 1, bounds = 1;
    for (std::size_t a = 0; a < facts_.active.size(); ++a) {
        outer *= static_cast<double>(chain_.temporal[a] / inside[a]);
        if (active >> a & 1u) bounds *= static_cast<double>(outside.outside[a] / inside[a]);
    }
    made.outside = inside;
    made.known = outside.known;
    made.open = false;
    for (std::size_t t = 0; t < facts_.tensors.size(); ++t) {
        Closing& closing = made.closing[t];
        closing = outside.closing[t];
        if (active & facts_.tensors[t].relevant) {
            closing = chain_.closing(t, order, b, inside.data(), outside.outside.data());
            if (!closing.outside) {
                closing.outside = outside.closing[t].outside;
                closing.insideBounds = bounds * outside.closing[t].insideBounds;
            }
            made.open = made.open || !closing.exact;
        } else if (active) {
            closing.run *= bounds;
            closing.insideBounds *= bounds;
            closing.first = -1;
            made.open = made.open || !closing.exact;
        }
        for (std::size_t j = 0; j < toGo_.interfaces(b, t); ++j) {
            const Interface& at = chain_.interfaces[t][j];
            if (at.child + 1 == static_cast<int>(b)) chain_.add(at, inside.data(), outer, closing, made.known);
        }
    }
    made.open = made.open || (chain_.linked != 0 && active != 0);
}

double Branch::boundAt(std::size_t b, std::uint32_t state, const Depth& at) const {
    const ToGo::Extents& inside = toGo_.states(b)[state].extents;
    const std::size_t measures = facts_.measures(), tensors = facts_.tensors.size();
    double outer = 1;
    for (std::size_t a = 0; a < facts_.active.size(); ++a) outer *= static_cast<double>(chain_.temporal[a] / inside[a]);
    // What waits, if all from the first open interface on do.
    std::array<std::array<Measures, maxMapspaceLevels + 1>, maxNestTensors> waiting;
    for (std::size_t t = 0; t < tensors; ++t) {
        const std::size_t n = toGo_.interfaces(b, t);
        std::fill_n(waiting[t][n].begin(), measures, 0.0);
        for (std::size_t j = n; j-- > 0;) {
            std::copy_n(waiting[t][j + 1].begin(), measures, waiting[t][j].begin());
            const Interface& face = chain_.interfaces[t][j];
            const bool counted = b < levels_ && face.child + 1 == static_cast<int>(b);
            if (!counted) chain_.add(face, inside.data(), outer, at.closing[t], waiting[t][j]);
        }
    }
    double least = endless;
    for (std::size_t o = 0; o < toGo_.openings(b); ++o) {
        const Measures& inner = toGo_.cost(b, state, o);
        if (inner[0] == endless) continue;
        Measures sum = at.known;
        for (std::size_t k = 0; k < measures; ++k) {
            sum[k] += inner[k];
            for (std::size_t t = 0; t < tensors; ++t) sum[k] += waiting[t][toGo_.firstOpen(b, o, t)][k];
        }
        least = std::min(least, facts_.value(chain_.cycles, sum));
    }
    return least;
}

void Branch::expand(std::size_t b) {
    Depth& at = depth_[b + 1];
    at.branches.clear();
    at.next = 0;
    Depth made;
    toGo_.inside(b, at.outside, [&](std::uint32_t state, std::uint32_t active) {
        if (best_.ended()) return;
        const auto& classes = orders_.of(b, active, chain_.linked);
        for (std::size_t i = 0; i < classes.size(); ++i) {
            best_.ends();
            close(b, state, active, classes[i], at, made);
            const double bound = boundAt(b, state, made);
            if (bound < best_.threshold()) at.branches.push_back({bound, state, active, static_cast<std::uint16_t>(i)});
        }
    });
    std::sort(at.branches.begin(), at.branches.end(), [](const Child& x, const Child& y) {
        return x.bound != y.bound ? x.bound < y.bound : std::pair(x.state, x.order) < std::pair(y.state, y.order);
    });
}

void Branch::descend(std::size_t b) {
    expand(b);
    Depth& at = depth_[b + 1];
    for (at.next = 0; at.next < at.branches.size(); ++at.next) {
        const Child& child = at.branches[at.next];
        if (child.bound >= best_.threshold() || best_.ended()) return;
        if (b + 1 == levels_ && tell_) (*tell_)(child.bound);
        const OrderClass& order = orders_.of(b, child.active, chain_.linked)[child.order];
        close(b, child.state, child.active, order, at, depth_[b]);
        at.orders = &order.orders;
        at.open = depth_[b].open;
        if (b == 0)
            leaf();
        else
            descend(b - 1);
        if (best_.ended()) return;
    }
}

void Branch::leaf() {
    MapPoint point = pointOf(facts_, skeleton_);
    for (std::size_t l = 0; l < levels_; ++l) {
        for (std::size_t a = 0; a < facts_.active.size(); ++a)
            point.factor[2 * l + 1][facts_.active[a]] =
                static_cast<std::int32_t>(depth_[l + 1].outside[a] / depth_[l].outside[a]);
    }
    tryOrders(1, point);
}

void Branch::tryOrders(std::size_t level, MapPoint& point) {
    if (best_.ends()) return;
    if (level >= levels_) {
        best_.consider(point);
        return;
    }
    const Depth& at = depth_[level + 1];
    for (const auto& order : *at.orders) {
        std::vector<std::uint8_t> dimensions;
        for (const std::uint8_t a : order) dimensions.push_back(facts_.active[a]);
        facts_.space->setOrder(point, level, dimensions);
        tryOrders(level + 1, point);
        if (!at.open) return;
    }
}

double Branch::run(const std::function<void(double)>& bound) {
    tell_ = &bound;
    if (root() >= best_.threshold()) return endless;
    for (Depth& at : depth_) at.branches.clear(), at.next = 0;
    descend(levels_ - 1);
    if (!best_.ended()) return endless;
    double least = endless;
    for (const Depth& at : depth_)
        if (at.next < at.branches.size()) least = std::min(least, at.branches[at.next].bound);
    // Stopped while the branches of some depth were still being listed: its own bound stands for them.
    return std::min(least, std::max(root(), 0.0));
}

}  // namespace orrery::optimal
