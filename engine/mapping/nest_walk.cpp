// Imperfect loops: the last iteration is smaller, so that tiles change their size as well as their place. All loops are
// walked, of each the first, second, last but one and last iteration; the second stands for those between. Of parallel
// children the first is walked, its siblings hold the same at their own offset.

#include "mapping/nest_traffic.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace orrery::nest {
namespace {

constexpr std::size_t mostVisits = std::size_t{1} << 20;

struct Box {
    Coordinates low, high;  ///< high is exclusive; not set by default, there are many
    double size(std::size_t ranks) const {
        double product = 1;
        for (std::size_t r = 0; r < ranks; ++r) product *= static_cast<double>(high[r] - low[r]);
        return product;
    }
};

// What is new of a tile: disjoint boxes.
struct Fresh {
    std::size_t count = 0;
    std::array<Box, 2 * maxRanks> boxes;
    Fresh() {}  // boxes beyond count stay unset
    double size(std::size_t ranks) const {
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i) sum += boxes[i].size(ranks);
        return sum;
    }
};

void subtract(const Box& box, const Box& held, std::size_t ranks, Fresh& fresh) {
    fresh.count = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
        if (box.high[r] <= held.low[r] || held.high[r] <= box.low[r]) {
            fresh.boxes[fresh.count++] = box;
            return;
        }
    }
    Box middle = box;
    for (std::size_t r = 0; r < ranks; ++r) {
        if (middle.low[r] < held.low[r]) {
            Box& left = fresh.boxes[fresh.count++] = middle;
            middle.low[r] = left.high[r] = held.low[r];
        }
        if (held.high[r] < middle.high[r]) {
            Box& right = fresh.boxes[fresh.count++] = middle;
            middle.high[r] = right.low[r] = held.high[r];
        }
    }
}

// What a level's first instance holds of one tensor.
struct Held {
    bool any = false, stride = false;
    Box box;
    Coordinates last{};  ///< its last step, twice the distance of the centres
};

struct Children {
    std::vector<Coordinates> offsets;  ///< by their number, inner loops counting fastest
    double different = 0;              ///< different offsets
};

// The last delivery of a level: what its first child got, how much, and where all its children stood.
struct Delivery {
    bool any = false;
    double size = 0;
    Fresh fresh;
    Children reached;
};

class Walker {
public:
    Walker(const Frame& frame, const FlatNest& flat, Traffic& traffic)
        : frame_(frame),
          flat_(flat),
          traffic_(traffic),
          held_(flat.levels),
          fresh_(flat.levels + 1),
          deliveries_(flat.levels) {
        std::array<std::int64_t, maxNestDimensions> full, rest;
        full.fill(1);
        rest.fill(1);
        molds_.resize(flat.count + 1);
        for (std::size_t i = 0; i < flat.count; ++i) {
            molds_[i] = {full, rest};
            const FlatLoop& loop = flat.loops[i];
            rest[loop.dimension] += full[loop.dimension] * (loop.residual - 1);
            full[loop.dimension] *= loop.bound;
        }
        molds_[flat.count] = {full, rest};
        traffic_.cycles = 0;
        for (auto& level : traffic_.flow) level.fill({});
        for (auto& level : traffic_.tile) level.fill(0);
        for (auto& level : traffic_.shared) level.fill(0);
    }

    bool run() {
        visitLevel(flat_.levels - 1);
        for (std::size_t l = 0; l < flat_.levels; ++l) {
            const bool spatialAbove = l + 1 < flat_.levels && flat_.spatialEnd[l + 1] > flat_.begin[l + 1];
            if (!spatialAbove) traffic_.shared[l] = traffic_.tile[l];
        }
        return !tooLong_;
    }

private:
    struct Mold {
        std::array<std::int64_t, maxNestDimensions> full, rest;
    };

    bool last(std::size_t from, std::size_t dimension) const {
        for (std::size_t i = from; i < flat_.count; ++i) {
            if (flat_.loops[i].dimension == dimension && index_[i] + 1 < flat_.loops[i].residual) return false;
        }
        return true;
    }
    std::int64_t end(std::size_t i) const {
        return last(i + 1, flat_.loops[i].dimension) ? flat_.loops[i].residual : flat_.loops[i].bound;
    }
    // The tile that all loops before `loops` walk through, from where the others stand.
    Box box(std::size_t tensor, std::size_t loops) const {
        Box result;
        result.low.fill(0);
        result.high.fill(1);
        for (std::size_t d = 0; d < frame_.dimensions; ++d) {
            const std::int64_t extent = last(loops, d) ? molds_[loops].rest[d] : molds_[loops].full[d];
            frame_.projections[tensor].add(d, at_[d], result.low);
            frame_.projections[tensor].add(d, at_[d] + extent - 1, result.high);
        }
        return result;
    }

    // One tile of level l, from scratch; leaves what is new in it in fresh_[l].
    void visitLevel(std::size_t l) {
        if (++visits_ > mostVisits) {
            tooLong_ = true;
            return;
        }
        visitLoop(l, flat_.end[l]);
        for (std::size_t t = 0; t < frame_.tensors; ++t) take(held_[l][t], box(t, flat_.end[l]), t, l);
    }

    void take(Held& held, const Box& now, std::size_t tensor, std::size_t l) {
        const std::size_t ranks = frame_.projections[tensor].ranks;
        traffic_.tile[l][tensor] = std::max(traffic_.tile[l][tensor], now.size(ranks));
        Fresh& fresh = fresh_[l][tensor];
        fresh.count = 1;
        fresh.boxes[0] = now;
        if (!held.any) {
            held.any = true;
            held.box = now;
            return;
        }
        Coordinates step{};
        for (std::size_t r = 0; r < ranks; ++r) {
            step[r] = now.low[r] + now.high[r] - held.box.low[r] - held.box.high[r];
        }
        if (!held.stride || step == held.last) {
            subtract(now, held.box, ranks, fresh);
            held.stride = true;
            held.last = step;
        } else {
            held.stride = false;
        }
        held.box = now;
    }

    // Runs loops [begin of level, i) of level l; i is one past the loop to run next.
    void visitLoop(std::size_t l, std::size_t i) {
        if (tooLong_) return;
        if (i == flat_.spatialEnd[l]) {
            visitChildren(l);
            return;
        }
        const std::size_t loop = i - 1;
        const FlatLoop& is = flat_.loops[loop];
        const std::int64_t n = end(loop), start = at_[is.dimension];
        const double epochs = epochs_;
        const auto once = [&](std::int64_t index, double times) {
            index_[loop] = index;
            at_[is.dimension] = start + index * is.stride;
            epochs_ = epochs * times;
            visitLoop(l, loop);
        };
        once(0, 1);
        if (n >= 4) once(1, static_cast<double>(n - 3));
        // The walk jumps here from the second iteration; what a neighbouring iteration brought is what this one brings.
        repeat_ = n >= 4 && loop == flat_.begin[l];
        if (n >= 3) once(n - 2, 1);
        repeat_ = false;
        if (n >= 2) once(n - 1, 1);
        epochs_ = epochs;
        at_[is.dimension] = start;
        index_[loop] = 0;
    }

    void visitChildren(std::size_t l) {
        const bool repeat = std::exchange(repeat_, false);
        if (flat_.spatialEnd[l] > flat_.begin[l] && l > 0) {
            for (std::size_t t = 0; t < frame_.tensors; ++t) {
                const double together = box(t, flat_.spatialEnd[l]).size(frame_.projections[t].ranks);
                traffic_.shared[l - 1][t] = std::max(traffic_.shared[l - 1][t], together);
            }
        }
        for (std::size_t i = flat_.begin[l]; i < flat_.spatialEnd[l]; ++i) index_[i] = 0;
        auto& fresh = l > 0 ? fresh_[l - 1] : fresh_[flat_.levels];
        if (l > 0) {
            visitLevel(l - 1);
        } else {
            traffic_.cycles += epochs_;
            for (std::size_t t = 0; t < frame_.tensors; ++t) {
                fresh[t].count = 1;
                Box& point = fresh[t].boxes[0];
                point.low.fill(0);
                for (std::size_t d = 0; d < frame_.dimensions; ++d) frame_.projections[t].add(d, at_[d], point.low);
                for (std::size_t r = 0; r < maxRanks; ++r) point.high[r] = point.low[r] + 1;
            }
        }
        for (std::size_t t = 0; t < frame_.tensors; ++t) deliver(l, t, fresh[t], repeat);
    }

    void deliver(std::size_t l, std::size_t t, const Fresh& fresh, bool repeat) {
        Delivery& previous = deliveries_[l][t];
        const double size = repeat ? previous.size : fresh.size(frame_.projections[t].ranks);
        previous.size = size;
        Flow& flow = traffic_.flow[l][t];
        if (flat_.spatialEnd[l] == flat_.begin[l]) {
            flow.accesses += size * epochs_;
            flow.delivered += size * epochs_;
            return;
        }
        const Children children = childrenOf(l, t);
        linked_.assign(children.offsets.size(), 0);
        double linked = size > 0 ? markLinks(l, t, fresh, children.offsets) : 0;
        double different = linked > 0 ? countDifferent(children.offsets, frame_.projections[t].ranks) : 0;
        if (linked == 0 || different >= children.different) linked = 0, different = children.different;
        flow.accesses += size * epochs_ * different;
        flow.delivered += size * epochs_ * (static_cast<double>(children.offsets.size()) - linked);
        flow.links += size * epochs_ * linked;
        previous.any = true;
        previous.fresh.count = fresh.count;
        std::copy_n(fresh.boxes.begin(), fresh.count, previous.fresh.boxes.begin());
        previous.reached = children;
    }

    // The children that work in this iteration.
    Children childrenOf(std::size_t l, std::size_t t) {
        Children children;
        children.offsets.assign(1, Coordinates{});
        for (std::size_t i = flat_.begin[l]; i < flat_.spatialEnd[l]; ++i) {
            const std::size_t filled = children.offsets.size();
            for (std::int64_t n = 1; n < end(i); ++n) {
                for (std::size_t k = 0; k < filled; ++k) {
                    Coordinates next = children.offsets[k];
                    frame_.projections[t].add(flat_.loops[i].dimension, n * flat_.loops[i].stride, next);
                    children.offsets.push_back(next);
                }
            }
        }
        const Delivery& previous = deliveries_[l][t];
        if (previous.any && previous.reached.offsets.size() == children.offsets.size() &&
            previous.reached.offsets == children.offsets) {
            children.different = previous.reached.different;
        } else {
            linked_.assign(children.offsets.size(), 0);
            children.different = countDifferent(children.offsets, frame_.projections[t].ranks);
        }
        return children;
    }

    double countDifferent(const std::vector<Coordinates>& offsets, std::size_t ranks) {
        sorted_.clear();
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            if (!linked_[i]) sorted_.push_back(offsets[i]);
        }
        for (Coordinates& c : sorted_) std::fill(c.begin() + static_cast<std::ptrdiff_t>(ranks), c.end(), 0);
        std::sort(sorted_.begin(), sorted_.end());
        return static_cast<double>(std::unique(sorted_.begin(), sorted_.end()) - sorted_.begin());
    }

    double markLinks(std::size_t l, std::size_t t, const Fresh& fresh, const std::vector<Coordinates>& offsets) {
        const std::size_t ranks = frame_.projections[t].ranks;
        const Delivery& previous = deliveries_[l][t];
        if (!previous.any || previous.fresh.count != fresh.count) return 0;
        Coordinates step{};
        for (std::size_t r = 0; r < ranks; ++r) step[r] = fresh.boxes[0].low[r] - previous.fresh.boxes[0].low[r];
        for (std::size_t i = 0; i < fresh.count; ++i) {
            for (std::size_t r = 0; r < ranks; ++r) {
                if (fresh.boxes[i].low[r] - previous.fresh.boxes[i].low[r] != step[r] ||
                    fresh.boxes[i].high[r] - previous.fresh.boxes[i].high[r] != step[r]) {
                    return 0;
                }
            }
        }
        const auto gridX = static_cast<std::size_t>(std::max(frame_.meshX[l], flat_.fanOutX[l]));
        const auto gridY = static_cast<std::size_t>(std::max(frame_.meshY[l], flat_.fanOutY[l]));
        const auto holds = [&](std::size_t child, std::size_t neighbour) {
            if (neighbour >= previous.reached.offsets.size()) return false;
            for (std::size_t r = 0; r < ranks; ++r) {
                if (previous.reached.offsets[neighbour][r] - offsets[child][r] != step[r]) return false;
            }
            return true;
        };
        double linked = 0;
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            const std::size_t x = i % gridX, y = i / gridX;
            linked_[i] = (x > 0 && holds(i, i - 1)) || (x + 1 < gridX && holds(i, i + 1)) ||
                         (y > 0 && holds(i, i - gridX)) || (y + 1 < gridY && holds(i, i + gridX));
            linked += linked_[i];
        }
        return linked;
    }

    const Frame& frame_;
    const FlatNest& flat_;
    Traffic& traffic_;
    std::vector<std::array<Held, maxNestTensors>> held_;
    std::vector<std::array<Fresh, maxNestTensors>> fresh_;  ///< per level, then of arithmetic
    std::vector<std::array<Delivery, maxNestTensors>> deliveries_;
    std::vector<Mold> molds_;
    std::vector<Coordinates> sorted_;
    std::vector<char> linked_;
    std::array<std::int64_t, maxLoops> index_{};
    std::array<std::int64_t, maxNestDimensions> at_{};
    double epochs_ = 1;
    std::size_t visits_ = 0;
    bool repeat_ = false, tooLong_ = false;
};

}  // namespace

bool walkTraffic(const Frame& frame, const FlatNest& flat, Traffic& traffic) {
    return std::make_unique<Walker>(frame, flat, traffic)->run();
}

}  // namespace orrery::nest
