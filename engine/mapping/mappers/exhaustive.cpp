// Enumerations. Lane i of n takes factorisations i, i + n, i + 2n, …

#include "mapping/mappers/lane.h"

#include <algorithm>
#include <numeric>

namespace orrery {
namespace {

constexpr std::size_t laneCount = 16;
__extension__ typedef unsigned __int128 Wide;

class Enumeration : public MapperAlgorithm {
public:
    /// `mostVariants`: of one factorisation; 0: all.
    Enumeration(const Mapspace& space, std::uint64_t mostVariants)
        : mostVariants_(mostVariants), count_(space.factorisations()) {
        // A step coprime to the count visits every factorisation once, neighbours far apart.
        if (mostVariants_ == 0) return;
        step_ =
            std::max<std::uint64_t>(static_cast<std::uint64_t>(0.6180339887498949 * static_cast<double>(count_)), 1);
        while (std::gcd(step_, count_) != 1) ++step_;
    }
    std::uint64_t usualEvaluations() const override { return mostVariants_ == 0 ? 0 : 200000; }
    bool exhausted(std::size_t number) const override { return cursors_[number].next >= count_; }
    bool coversAll() const override { return mostVariants_ == 0; }

    void advance(MapLane& lane, std::size_t number) override {
        Cursor& at = cursors_[number];
        const Mapspace& space = lane.space();
        if (!at.begun) {
            at = {true, number, 0, 0, 1, space.start()};
            if (at.next < count_) open(at, space);
        }
        MapScore score;
        while (at.next < count_ && !lane.done()) {
            if (at.variant < at.variants) {
                space.setVariant(at.point, at.variant);
                at.variant += at.stride;
                lane.consider(at.point, score);
            }
            if (at.variant >= at.variants) {
                if (count_ - at.next <= laneCount) {
                    at.next = count_;
                    break;
                }
                at.next += laneCount;
                open(at, space);
            }
        }
    }

private:
    struct Cursor {
        bool begun = false;
        std::uint64_t next = 0, variant = 0, variants = 0, stride = 1;
        MapPoint point;
    };

    void open(Cursor& at, const Mapspace& space) const {
        const auto number = static_cast<std::uint64_t>(static_cast<Wide>(at.next) * step_ % count_);
        space.setFactors(at.point, number);
        at.variants = space.variants(at.point);
        at.variant = 0;
        at.stride = mostVariants_ == 0 ? 1 : std::max<std::uint64_t>(at.variants / mostVariants_, 1);
    }

    std::uint64_t mostVariants_, count_, step_ = 1;
    std::array<Cursor, laneCount> cursors_;
};

class RandomDraws : public MapperAlgorithm {
public:
    std::uint64_t usualEvaluations() const override { return 100000; }
    void advance(MapLane& lane, std::size_t) override {
        MapPoint point = lane.space().start();
        MapScore score;
        while (!lane.done()) {
            lane.space().drawFactors(point, lane.random());
            const PointFault fault = lane.sparse() ? PointFault{} : lane.space().checkFactors(point);
            if (fault.fault != MappingFault::None) {
                lane.refuse(fault);
                continue;
            }
            lane.space().drawVariant(point, lane.random());
            lane.consider(point, score);
        }
    }
};

}  // namespace

std::unique_ptr<MapperAlgorithm> exhaustiveMapper(const Mapspace& space) {
    return std::make_unique<Enumeration>(space, 0);
}
std::unique_ptr<MapperAlgorithm> linearPrunedMapper(const Mapspace& space) {
    return std::make_unique<Enumeration>(space, 16);
}
std::unique_ptr<MapperAlgorithm> randomPrunedMapper() {
    return std::make_unique<RandomDraws>();
}

}  // namespace orrery
