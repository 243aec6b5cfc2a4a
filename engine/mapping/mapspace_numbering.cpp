// Numbers of a mapspace's points: factorisations, then variants (keeps, X or Y, orders) of one factorisation.

#include "base/random.h"
#include "mapping/mapspace.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace orrery {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

std::uint64_t saturatingProduct(std::uint64_t a, std::uint64_t b) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? most : product;
}

std::uint64_t factorial(std::size_t n) {
    std::uint64_t product = 1;
    for (std::size_t i = 2; i <= n; ++i) product *= i;  // 16! fits
    return product;
}

/// Bits of `number` placed where `mask` has ones.
std::uint32_t deposit(std::uint64_t number, std::uint32_t mask) {
    std::uint32_t out = 0;
    for (; mask; mask &= mask - 1, number >>= 1) {
        if (number & 1u) out |= mask & (~mask + 1);
    }
    return out;
}

}  // namespace

std::uint64_t Mapspace::factorisations() const {
    std::uint64_t product = 1;
    for (const FactorSpace& space : spaces_) product = saturatingProduct(product, space.size());
    return product;
}

void Mapspace::scatter(MapPoint& point, std::size_t dimension, const std::int32_t* factors) const {
    for (const FreeLoop& loop : free_[dimension]) point.factor[loop.loop][dimension] = *factors++;
}

void Mapspace::gather(const MapPoint& point, std::size_t dimension, std::int32_t* factors) const {
    for (const FreeLoop& loop : free_[dimension]) *factors++ = point.factor[loop.loop][dimension];
}

void Mapspace::setFactors(MapPoint& point, std::uint64_t number) const {
    std::array<std::int32_t, 2 * maxMapspaceLevels> factors;
    for (std::size_t d = 0; d < dimensions(); ++d) {
        const std::uint64_t size = spaces_[d].size();
        spaces_[d].at(number % size, factors);
        number /= size;
        scatter(point, d, factors.data());
    }
}

void Mapspace::drawFactors(MapPoint& point, RandomStream& random) const {
    std::array<std::int32_t, 2 * maxMapspaceLevels> factors;
    for (const std::uint8_t d : spread_) {
        spaces_[d].at(random.below(spaces_[d].size()), factors);
        scatter(point, d, factors.data());
    }
}

std::size_t Mapspace::loose(const MapPoint& point, std::size_t level, Dims& dims) const {
    // Nothing outside the innermost level sees in which order its loops run.
    if (level == 0) return 0;
    std::size_t count = 0;
    for (const std::uint8_t d : active_) {
        if (point.factor[2 * level + 1][d] > 1 && !(pinned_[level] >> d & 1u)) dims[count++] = d;
    }
    return count;
}

void Mapspace::arrange(MapPoint& point, std::size_t level, Dims& dims, std::size_t count) const {
    auto& order = point.order[level];
    const LoopConstraint& constraint = constraints_.levels[level].temporal;
    std::size_t at = constraint.innermost.size();
    std::uint32_t placed = pinned_[level];
    for (std::size_t i = 0; i < count; ++i) {
        order[at++] = dims[i];
        placed |= 1u << dims[i];
    }
    for (std::size_t d = 0; d < dimensions(); ++d) {
        if (!(placed >> d & 1u)) order[at++] = static_cast<std::uint8_t>(d);
    }
}

void Mapspace::setOrder(MapPoint& point, std::size_t level, const std::vector<std::uint8_t>& dimensions) const {
    Dims dims;
    std::size_t count = 0;
    std::uint32_t placed = pinned_[level];
    for (const std::uint8_t d : dimensions) {
        if (placed >> d & 1u) continue;
        placed |= 1u << d;
        dims[count++] = d;
    }
    arrange(point, level, dims, count);
}

bool Mapspace::fitSplits(MapPoint& point) const {
    for (std::size_t l = 0; l < levels(); ++l) {
        if (!fans_[l].any()) continue;
        bool fits = false;
        const std::uint64_t choices = xChoices(point, l);
        for (std::uint64_t choice = 0; choice < choices && !fits; ++choice) {
            setXChoice(point, l, choice);
            std::int64_t x = 1, y = 1;
            for (const std::uint8_t d : active_) ((point.x[l] >> d & 1u) ? x : y) *= point.factor[2 * l][d];
            fits = x <= fans_[l].x && y <= fans_[l].y;
        }
        if (!fits) return false;
    }
    return true;
}

std::uint64_t Mapspace::xChoices(const MapPoint& point, std::size_t level) const {
    const XRule& rule = xRules_[level];
    if (rule.kind == XRule::Fixed) return 1;
    const LoopConstraint& constraint = constraints_.levels[level].spatial;
    const std::uint32_t pinned = [&] {
        std::uint32_t mask = 0;
        for (const std::uint8_t d : constraint.innermost) mask |= 1u << d;
        return mask;
    }();
    std::uint64_t ordered = 0;
    std::size_t loose = 0;
    for (const std::uint8_t d : active_) {
        if (point.factor[2 * level][d] == 1) continue;
        if (pinned >> d & 1u)
            ++ordered;
        else
            ++loose;
    }
    // A split beyond the given order makes all of that order X.
    if (constraint.split) ordered = 0;
    return ordered + (std::uint64_t{1} << loose);
}

void Mapspace::setXChoice(MapPoint& point, std::size_t level, std::uint64_t number) const {
    const XRule& rule = xRules_[level];
    if (rule.kind == XRule::Fixed) {
        point.x[level] = rule.mask;
        return;
    }
    const LoopConstraint& constraint = constraints_.levels[level].spatial;
    std::uint32_t first = 0, loose = 0;
    for (const std::uint8_t d : constraint.innermost) first |= 1u << d;
    for (const std::uint8_t d : active_) {
        if (point.factor[2 * level][d] > 1 && !(first >> d & 1u)) loose |= 1u << d;
    }
    const std::uint64_t subsets = std::uint64_t{1} << std::popcount(loose);
    if (number < subsets) {
        point.x[level] = first | deposit(number, loose);
        return;
    }
    // The split falls inside the given order: so many of its loops longer than 1 are X.
    std::uint64_t left = number - subsets;
    point.x[level] = 0;
    for (const std::uint8_t d : constraint.innermost) {
        if (point.factor[2 * level][d] == 1) continue;
        if (left-- == 0) break;
        point.x[level] |= 1u << d;
    }
}

bool Mapspace::xAllowed(const MapPoint& point, std::size_t level) const {
    const XRule& rule = xRules_[level];
    std::uint32_t used = 0;
    for (const std::uint8_t d : active_) {
        if (point.factor[2 * level][d] > 1) used |= 1u << d;
    }
    if (rule.kind == XRule::Fixed) return (point.x[level] & used) == (rule.mask & used);
    if (rule.kind == XRule::Free) return true;
    const LoopConstraint& constraint = constraints_.levels[level].spatial;
    bool y = false;
    std::uint32_t first = 0;
    for (const std::uint8_t d : constraint.innermost) {
        first |= 1u << d;
        if (!(used >> d & 1u)) continue;
        const bool isX = point.x[level] >> d & 1u;
        if (isX && y) return false;
        y = y || !isX;
    }
    if (!y) return true;
    return !constraint.split && (point.x[level] & used & ~first) == 0;
}

std::uint64_t Mapspace::variants(const MapPoint& point) const {
    std::uint64_t product = 1;
    Dims dims;
    for (std::size_t l = 0; l < levels(); ++l) {
        product = saturatingProduct(product, std::uint64_t{1} << std::popcount(freeKeeps_[l]));
        product = saturatingProduct(product, xChoices(point, l));
        product = saturatingProduct(product, factorial(loose(point, l, dims)));
    }
    return product;
}

void Mapspace::setVariant(MapPoint& point, std::uint64_t number) const {
    for (std::size_t l = 0; l < levels(); ++l) {
        Dims dims;
        const std::size_t count = loose(point, l, dims);
        // Lehmer code: which of the dimensions that are left comes next.
        for (std::size_t i = 0; i + 1 < count; ++i) {
            const std::uint64_t left = count - i;
            const auto pick = static_cast<std::ptrdiff_t>(i + number % left);
            number /= left;
            std::rotate(dims.begin() + static_cast<std::ptrdiff_t>(i), dims.begin() + pick, dims.begin() + pick + 1);
        }
        arrange(point, l, dims, count);
        const std::uint64_t splits = xChoices(point, l);
        setXChoice(point, l, number % splits);
        number /= splits;
        const auto bits = static_cast<unsigned>(std::popcount(freeKeeps_[l]));
        // Number 0 keeps everything.
        point.keeps[l] = (start_.keeps[l] & ~freeKeeps_[l]) | deposit(~number, freeKeeps_[l]);
        number >>= bits;
    }
}

void Mapspace::drawVariant(MapPoint& point, RandomStream& random) const {
    for (std::size_t l = 0; l < levels(); ++l) {
        Dims dims;
        const std::size_t count = loose(point, l, dims);
        for (std::size_t i = 0; i + 1 < count; ++i) std::swap(dims[i], dims[i + random.below(count - i)]);
        arrange(point, l, dims, count);
        const std::uint64_t splits = xChoices(point, l);
        setXChoice(point, l, splits > 1 ? random.below(splits) : 0);
        if (freeKeeps_[l]) point.keeps[l] = (start_.keeps[l] & ~freeKeeps_[l]) | (random() & freeKeeps_[l]);
    }
}

void Mapspace::draw(MapPoint& point, RandomStream& random) const {
    drawFactors(point, random);
    drawVariant(point, random);
}

bool Mapspace::contains(const MapPoint& point) const {
    std::array<std::int32_t, 2 * maxMapspaceLevels> factors;
    MapPoint fixed = point;
    for (std::size_t d = 0; d < dimensions(); ++d) {
        gather(point, d, factors.data());
        if (!spaces_[d].contains(std::span(factors).first(free_[d].size()))) return false;
        gather(start_, d, factors.data());
        scatter(fixed, d, factors.data());
    }
    if (fixed.factor != start_.factor) return false;
    for (std::size_t l = 0; l < levels(); ++l) {
        if (((point.keeps[l] ^ start_.keeps[l]) & ~freeKeeps_[l]) || !xAllowed(point, l)) return false;
        const LoopConstraint& order = constraints_.levels[l].temporal;
        if (!std::equal(order.innermost.begin(), order.innermost.end(), point.order[l].begin())) return false;
        const auto end = point.order[l].begin() + static_cast<std::ptrdiff_t>(dimensions());
        if (!std::equal(order.outermost.rbegin(), order.outermost.rend(), std::reverse_iterator(end))) return false;
    }
    return true;
}

}  // namespace orrery
