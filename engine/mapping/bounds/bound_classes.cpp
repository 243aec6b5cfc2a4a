#include "mapping/bounds/bound_space.h"

#include <algorithm>
#include <set>
#include <utility>

namespace orrery::bounds {
namespace {

bool moves(const Axis& axis, std::size_t tensor) {
    return axis.tensors >> tensor & 1u;
}

/// Whether two window axes move one rank of the tensor.
bool mates(const Space& space, std::size_t tensor, std::size_t a, std::size_t b) {
    for (const TensorRank& rank : space.problem->tensors[tensor].ranks) {
        bool hasA = false, hasB = false;
        for (const ProjectionTerm& term : rank.terms) {
            hasA = hasA || term.dimension == space.axes[a].dimensions[0];
            hasB = hasB || term.dimension == space.axes[b].dimensions[0];
        }
        if (hasA && hasB) return true;
    }
    return false;
}

/// Orders from the innermost loop outwards, until no tensor can save more.
class Orders {
public:
    Orders(const Space& space, Mask kept, bool steps) : space_(space), kept_(kept), withSteps_(steps) {}

    std::vector<OrderClass> all() {
        OrderClass start;
        std::array<std::uint8_t, maxNestTensors> open{};
        for (std::size_t t = 0; t < maxNestTensors; ++t) open[t] = kept_ >> t & 1u;
        extend(start, open, 0);
        return std::move(found_);
    }

private:
    using Open = std::array<std::uint8_t, maxNestTensors>;  ///< 0: settled, 1: not moved yet, 2: may return

    static std::size_t length(const Stillness& s) {
        return static_cast<std::size_t>(std::find(s.steps.begin(), s.steps.end(), -1) - s.steps.begin());
    }

    void place(OrderClass& now, Open& open, std::size_t axis, Mask placed) const {
        for (std::size_t t = 0; t < maxNestTensors; ++t) {
            if (!open[t]) continue;
            Stillness& still = now.tensors[t];
            const bool moved = moves(space_.axes[axis], t);
            if (open[t] == 2) {
                const std::size_t at = length(still);
                if (moved && at < still.steps.size() &&
                    mates(space_, t, static_cast<std::size_t>(still.steps[0]), axis)) {
                    still.steps[at] = static_cast<std::int8_t>(axis);
                } else {
                    open[t] = 0;
                }
            } else if (moved) {
                still.free = placed;
                const bool window = !space_.axes[axis].plain;
                if (window && !placed) still.slides = static_cast<int>(axis);
                open[t] = 0;
                if (window && withSteps_) {
                    still.steps[0] = static_cast<std::int8_t>(axis);
                    still.still = placed != 0;
                    open[t] = 2;
                }
            } else {
                still.free |= Mask{1} << axis;
            }
        }
    }

    void extend(const OrderClass& now, const Open& open, Mask placed) {
        const bool settled = std::all_of(open.begin(), open.end(), [](std::uint8_t o) { return o == 0; });
        const Mask everything = (Mask{1} << space_.axes.size()) - 1;
        if (settled || placed == everything) return keep(now);
        std::vector<std::int32_t> state{static_cast<std::int32_t>(placed)};
        for (std::size_t t = 0; t < maxNestTensors; ++t) {
            const Stillness& s = now.tensors[t];
            state.insert(state.end(), {open[t], static_cast<std::int32_t>(s.free), s.slides, s.still});
            state.insert(state.end(), s.steps.begin(), s.steps.end());
        }
        if (!visited_.insert(std::move(state)).second) return;
        for (std::size_t axis = 0; axis < space_.axes.size(); ++axis) {
            if (placed >> axis & 1u) continue;
            OrderClass next = now;
            Open left = open;
            place(next, left, axis, placed);
            next.axes.push_back(static_cast<std::uint8_t>(axis));
            extend(next, left, placed | Mask{1} << axis);
        }
    }

    static bool noWorse(const Stillness& a, const Stillness& b) {
        return (b.free & ~a.free) == 0 && (b.slides < 0 || b.slides == a.slides) &&
               (b.steps[0] < 0 || (b.steps == a.steps && b.still == a.still && b.free == a.free));
    }
    bool noWorse(const OrderClass& a, const OrderClass& b) const {
        for (std::size_t t = 0; t < maxNestTensors; ++t) {
            if (kept_ >> t & 1u && !noWorse(a.tensors[t], b.tensors[t])) return false;
        }
        return true;
    }

    void keep(OrderClass now) {
        for (Stillness& s : now.tensors) {
            if (length(s) >= 2) continue;  // one step returns to nothing
            s.steps.fill(-1);
            s.still = false;
        }
        for (const OrderClass& other : found_) {
            if (noWorse(other, now)) return;
        }
        std::erase_if(found_, [&](const OrderClass& other) { return noWorse(now, other); });
        found_.push_back(std::move(now));
    }

    const Space& space_;
    Mask kept_;
    bool withSteps_;
    std::vector<OrderClass> found_;
    std::set<std::vector<std::int32_t>> visited_;
};

}  // namespace

std::vector<OrderClass> orderClasses(const Space& space, Mask kept, bool steps) {
    return Orders(space, kept, steps).all();
}

}  // namespace orrery::bounds
