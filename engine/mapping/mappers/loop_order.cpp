// Enumerates orders of loops (LOMA: Symons, Mei, Verhelst, AICAS 2021). For the spatial factors that use most of the
// array, the rest of every dimension is split into prime factors; every order of those is filled into the levels from
// the innermost outwards, each level taking loops while its tiles fit.

#include "mapping/mappers/lane.h"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

constexpr std::size_t laneCount = 16;
constexpr std::size_t mostLoops = 8;     // LOMA's limit: 8! orders at most
constexpr std::size_t mostSpatial = 48;  // assignments of the array that are followed
constexpr std::size_t mostVisited = 200000;
constexpr unsigned mostKeepBits = 6;

struct Loop {
    std::uint8_t dimension;
    std::int32_t factor;
    bool operator==(const Loop&) const = default;
    auto operator<=>(const Loop&) const = default;
};

/// One way to use the array: a point with its spatial factors, and the loops that are left.
struct Spatial {
    MapPoint point;
    double parallel = 1;
    std::vector<Loop> loops;  ///< sorted
    std::uint64_t orders = 1;
};

std::uint64_t ordersOf(const std::vector<Loop>& loops) {
    std::uint64_t orders = 1;
    for (std::size_t i = 0, equal = 0; i < loops.size(); ++i) {
        equal = i && loops[i] == loops[i - 1] ? equal + 1 : 1;
        orders = orders * (i + 1) / equal;
    }
    return orders;
}

/// Order `number` of a multiset, by picking the first loop, then the next among the others.
void pickOrder(std::vector<Loop> left, std::uint64_t orders, std::uint64_t number, std::vector<Loop>& out) {
    out.clear();
    while (!left.empty()) {
        for (std::size_t i = 0; i < left.size();) {
            std::size_t end = i;
            while (end < left.size() && left[end] == left[i]) ++end;
            const std::uint64_t share = orders * (end - i) / left.size();
            if (number < share) {
                orders = share;
                out.push_back(left[i]);
                left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
                break;
            }
            number -= share;
            i = end;
        }
    }
}

std::vector<Loop> loopsOf(const Mapspace& space, const MapPoint& point) {
    std::vector<Loop> loops;
    for (std::size_t d = 0; d < space.dimensions(); ++d) {
        std::int64_t rest = space.problem().extents[d];
        for (std::size_t loop = 0; loop < 2 * space.levels(); ++loop)
            rest = (rest + point.factor[loop][d] - 1) / point.factor[loop][d];
        for (std::int64_t p = 2; rest > 1; ++p) {
            if (p * p > rest) p = rest;
            for (; rest % p == 0; rest /= p)
                loops.push_back({static_cast<std::uint8_t>(d), static_cast<std::int32_t>(p)});
        }
    }
    // Too many: the two smallest of one dimension become one.
    while (loops.size() > mostLoops) {
        std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) { return a.factor < b.factor; });
        bool merged = false;
        for (std::size_t i = 0; i < loops.size() && !merged; ++i) {
            for (std::size_t k = i + 1; k < loops.size(); ++k) {
                if (loops[k].dimension != loops[i].dimension) continue;
                loops[i].factor *= loops[k].factor;
                loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(k));
                merged = true;
                break;
            }
        }
        if (!merged) break;
    }
    std::sort(loops.begin(), loops.end());
    return loops;
}

class LoopOrder : public MapperAlgorithm {
public:
    explicit LoopOrder(const Mapspace& space) {
        MapPoint point = space.start();
        for (std::size_t d = 0; d < space.dimensions(); ++d) {
            for (const auto& loop : space.freeLoops(d)) {
                point.factor[loop.loop][d] = 1;
                if (loop.loop % 2 == 0) slots_.push_back({static_cast<std::uint8_t>(d), loop.loop, loop.limit});
            }
        }
        spread(space, point, 0);
        std::stable_sort(spatial_.begin(), spatial_.end(),
                         [](const Spatial& a, const Spatial& b) { return a.parallel > b.parallel; });
        if (spatial_.size() > mostSpatial) spatial_.resize(mostSpatial);
        unsigned bits = 0;
        for (std::size_t l = 0; l < space.levels(); ++l)
            bits += static_cast<unsigned>(std::popcount(space.freeKeeps(l)));
        keeps_ = bits <= mostKeepBits ? std::uint64_t{1} << bits : 1;
        for (Spatial& each : spatial_) {
            each.loops = loopsOf(space, each.point);
            each.orders = ordersOf(each.loops);
            items_ += each.orders * keeps_;
        }
        for (std::size_t i = 0; i < laneCount; ++i) next_[i] = i;
    }
    std::uint64_t usualEvaluations() const override { return 200000; }
    bool exhausted(std::size_t number) const override { return next_[number] >= items_; }

    void advance(MapLane& lane, std::size_t number) override {
        MapPoint point;
        MapScore score;
        std::vector<Loop> order;
        while (next_[number] < items_ && !lane.done()) {
            std::uint64_t item = next_[number];
            next_[number] += laneCount;
            for (const Spatial& each : spatial_) {
                const std::uint64_t here = each.orders * keeps_;
                if (item >= here) {
                    item -= here;
                    continue;
                }
                pickOrder(each.loops, each.orders, item / keeps_, order);
                point = each.point;
                std::uint64_t dropped = item % keeps_;
                for (std::size_t l = 0; keeps_ > 1 && l < lane.space().levels(); ++l) {
                    for (std::uint32_t free = lane.space().freeKeeps(l); free; free &= free - 1, dropped >>= 1) {
                        if (dropped & 1u) point.keeps[l] &= ~(free & (~free + 1));
                    }
                }
                fill(lane.space(), point, order);
                lane.consider(point, score);
                break;
            }
        }
    }

private:
    struct Slot {
        std::uint8_t dimension, loop;
        std::int64_t limit;
    };

    /// Tries every factor of every spatial loop.
    void spread(const Mapspace& space, MapPoint& point, std::size_t slot) {
        if (++visited_ > mostVisited) return;
        if (slot == slots_.size()) {
            Spatial each{point, 1, {}, 1};
            if (!space.fitSplits(each.point)) return;
            for (std::size_t l = 0; l < space.levels(); ++l) {
                for (std::size_t d = 0; d < space.dimensions(); ++d) each.parallel *= point.factor[2 * l][d];
            }
            // Imperfect factors: only the work that is there counts as parallel.
            for (std::size_t d = 0; d < space.dimensions(); ++d) {
                std::int64_t steps = space.problem().extents[d], product = 1;
                for (std::size_t loop = 0; loop < 2 * space.levels(); ++loop) {
                    product *= point.factor[loop][d];
                    steps = (steps + point.factor[loop][d] - 1) / point.factor[loop][d];
                }
                each.parallel *= static_cast<double>(space.problem().extents[d]) / static_cast<double>(steps * product);
            }
            spatial_.push_back(each);
            if (spatial_.size() >= 4096) {
                std::stable_sort(spatial_.begin(), spatial_.end(),
                                 [](const Spatial& a, const Spatial& b) { return a.parallel > b.parallel; });
                spatial_.resize(mostSpatial);
            }
            return;
        }
        const Slot& at = slots_[slot];
        const FanOut& fan = space.fan(at.loop / 2u);
        std::int64_t used = 1, rest = space.problem().extents[at.dimension];
        for (std::size_t d = 0; d < space.dimensions(); ++d) used *= point.factor[at.loop][d];
        for (std::size_t loop = 0; loop < 2 * space.levels(); ++loop) {
            const std::int32_t factor = point.factor[loop][at.dimension];
            rest = (rest + factor - 1) / factor;
        }
        const std::int64_t most = std::min({at.limit, rest, fan.x * fan.y / used});
        // Large ones first: when the visits run out, the best are in.
        for (std::int64_t factor = most; factor >= 1; --factor) {
            if (space.imperfect() ? factor > 1 && (rest + factor - 1) / factor == (rest + factor - 2) / (factor - 1)
                                  : rest % factor != 0)
                continue;
            point.factor[at.loop][at.dimension] = static_cast<std::int32_t>(factor);
            spread(space, point, slot + 1);
        }
        point.factor[at.loop][at.dimension] = 1;
    }

    /// Places loops, the innermost first, each at the lowest level where it fits.
    static void fill(const Mapspace& space, MapPoint& point, const std::vector<Loop>& order) {
        std::array<std::vector<std::uint8_t>, maxMapspaceLevels> sequence;
        std::size_t full = 0;  // levels below hold no more
        for (const Loop& loop : order) {
            const auto& free = space.freeLoops(loop.dimension);
            bool placed = false;
            for (const auto& slot : free) {
                const std::size_t level = slot.loop / 2u;
                if (slot.loop % 2 == 0 || level < full) continue;
                std::int32_t& factor = point.factor[slot.loop][loop.dimension];
                if (std::int64_t{factor} * loop.factor > slot.limit) continue;
                factor *= loop.factor;
                if (level + 1 < space.levels() && space.check(point).fault == MappingFault::Capacity) {
                    factor /= loop.factor;
                    full = level + 1;
                    continue;
                }
                sequence[level].push_back(loop.dimension);
                placed = true;
                break;
            }
            // Left where the constraints allow it, to be refused with its reason.
            if (!placed && !free.empty()) {
                point.factor[free.back().loop][loop.dimension] *= loop.factor;
                sequence[free.back().loop / 2u].push_back(loop.dimension);
            }
        }
        for (std::size_t l = 0; l < space.levels(); ++l) space.setOrder(point, l, sequence[l]);
    }

    std::vector<Slot> slots_;
    std::vector<Spatial> spatial_;
    std::uint64_t keeps_ = 1, items_ = 0;
    std::size_t visited_ = 0;
    std::array<std::uint64_t, laneCount> next_;
};

}  // namespace

std::unique_ptr<MapperAlgorithm> loopOrderMapper(const Mapspace& space) {
    return std::make_unique<LoopOrder>(space);
}

}  // namespace orrery
