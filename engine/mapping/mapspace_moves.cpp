// Neighbours and children of points, for searches that improve what they have.

#include "base/random.h"
#include "mapping/mapspace.h"

#include <utility>

namespace orrery {

void Mapspace::moveFactor(MapPoint& point, RandomStream& random) const {
    if (spread_.empty()) return;
    const std::uint8_t d = spread_[random.below(spread_.size())];
    const auto& loops = free_[d];
    std::array<std::int32_t, 2 * maxMapspaceLevels> factors;
    if (!constraints_.imperfect && random.below(4) != 0) {
        const std::int32_t prime = primes_[d][random.below(primes_[d].size())];
        // From a loop that has the prime to any other.
        const std::size_t offset = random.below(loops.size());
        for (std::size_t i = 0; i < loops.size(); ++i) {
            const std::size_t from = (offset + i) % loops.size();
            if (point.factor[loops[from].loop][d] % prime != 0) continue;
            std::size_t to = random.below(loops.size() - 1);
            if (to >= from) ++to;
            auto& target = point.factor[loops[to].loop][d];
            if (std::int64_t{target} * prime > loops[to].limit) return;
            point.factor[loops[from].loop][d] /= prime;
            target *= prime;
            gather(point, d, factors.data());
            if (!spaces_[d].contains(std::span(factors).first(loops.size()))) {
                point.factor[loops[from].loop][d] *= prime;
                point.factor[loops[to].loop][d] /= prime;
            }
            return;
        }
        return;
    }
    gather(point, d, factors.data());
    spaces_[d].redraw(factors, random.below(loops.size()), random);
    scatter(point, d, factors.data());
}

void Mapspace::swapLoops(MapPoint& point, RandomStream& random) const {
    Dims dims;
    const std::size_t offset = random.below(levels());
    for (std::size_t i = 0; i < levels(); ++i) {
        const std::size_t l = (offset + i) % levels();
        const std::size_t count = loose(point, l, dims);
        if (count < 2) continue;
        const std::size_t a = random.below(count);
        const std::size_t b = (a + 1 + random.below(count - 1)) % count;
        auto& order = point.order[l];
        std::size_t placeA = 0, placeB = 0;
        for (std::size_t k = 0; k < dimensions(); ++k) {
            if (order[k] == dims[a]) placeA = k;
            if (order[k] == dims[b]) placeB = k;
        }
        std::swap(order[placeA], order[placeB]);
        return;
    }
}

void Mapspace::mutate(MapPoint& point, RandomStream& random) const {
    const std::uint64_t kind = random.below(16);
    if (kind < 9) {
        moveFactor(point, random);
        if (kind < 3) moveFactor(point, random);
    } else if (kind < 13) {
        swapLoops(point, random);
    } else if (kind < 15) {
        const std::size_t l = random.below(levels());
        if (const std::uint64_t choices = xChoices(point, l); choices > 1)
            setXChoice(point, l, random.below(choices));
        else
            moveFactor(point, random);
    } else {
        const std::size_t l = random.below(levels());
        if (freeKeeps_[l])
            point.keeps[l] ^= freeKeeps_[l] & (1u << random.below(problem_.tensors.size()));
        else
            swapLoops(point, random);
    }
    for (std::size_t l = 0; l < levels(); ++l) {
        if (!xAllowed(point, l)) setXChoice(point, l, random.below(xChoices(point, l)));
    }
}

void Mapspace::cross(const MapPoint& mother, const MapPoint& father, MapPoint& child, RandomStream& random) const {
    child = mother;
    for (const std::uint8_t d : spread_) {
        if (random() & 1u) continue;
        for (const FreeLoop& loop : free_[d]) child.factor[loop.loop][d] = father.factor[loop.loop][d];
    }
    for (std::size_t l = 0; l < levels(); ++l) {
        const std::uint32_t from = random();
        if (from & 1u) child.order[l] = father.order[l];
        if (from & 2u) child.x[l] = father.x[l];
        if (from & 4u) child.keeps[l] = father.keeps[l];
        if (!xAllowed(child, l)) setXChoice(child, l, random.below(xChoices(child, l)));
    }
}

}  // namespace orrery
