#include "simulation/gpu/interval/timed_cache.h"

#include "base/hash.h"

#include <algorithm>
#include <bit>

namespace orrery::gpusim {

void TimedCache::configure(const CacheShape& shape, double dirtyPercent) {
    shape_ = shape, dirtyPercent_ = dirtyPercent;
    setWays(shape.ways);
}

void TimedCache::setWays(int ways) {
    ways_ = std::max(1, ways);
    lines_.clear();
    pending = 0, dirtyLines_ = 0, touched_ = false;
}

void TimedCache::lay() {
    const auto sets = static_cast<std::size_t>(shape_.sets);
    lines_.assign(sets * static_cast<std::size_t>(ways_), {});
    newest_.assign(sets, -1), oldest_.assign(sets, -1);
    buckets_.assign(std::bit_ceil(lines_.size() * 2), -1);
    for (std::size_t i = 0; i < lines_.size(); ++i)
        pushNewest(static_cast<std::int32_t>(i), static_cast<std::uint32_t>(i / static_cast<std::size_t>(ways_)));
}

std::size_t TimedCache::bucket(std::uint64_t tag) const {
    return mixedBits(tag) & (buckets_.size() - 1);
}

std::int32_t TimedCache::lookup(std::uint64_t tag) const {
    auto at = buckets_[bucket(tag)];
    while (at >= 0 && lines_[static_cast<std::size_t>(at)].tag != tag) at = lines_[static_cast<std::size_t>(at)].next;
    return at;
}

void TimedCache::unlink(std::int32_t at, std::uint32_t set) {
    Line& one = line(at);
    (one.newer >= 0 ? line(one.newer).older : newest_[set]) = one.older;
    (one.older >= 0 ? line(one.older).newer : oldest_[set]) = one.newer;
}

void TimedCache::pushNewest(std::int32_t at, std::uint32_t set) {
    Line& one = line(at);
    one.newer = -1, one.older = newest_[set];
    (newest_[set] >= 0 ? line(newest_[set]).newer : oldest_[set]) = at;
    newest_[set] = at;
}

TimedCache::Found TimedCache::find(std::uint64_t sector, std::uint32_t set, std::int32_t& at) {
    if (lines_.empty()) lay();
    at = lookup(sector >> 7);
    if (at >= 0) {
        const Line& one = lines_[static_cast<std::size_t>(at)];
        const auto bit = 1u << sectorOf(sector);
        return one.pending & bit ? Found::Pending : one.valid & bit ? Found::Hit : Found::Missing;
    }
    // The least recently used that nobody waits for; clean ones while few are dirty.
    const bool dirtyMayGo =
        static_cast<double>(dirtyLines_) * 100 >= dirtyPercent_ * static_cast<double>(lines_.size());
    for (at = oldest_[set]; at >= 0; at = lines_[static_cast<std::size_t>(at)].newer) {
        const Line& one = lines_[static_cast<std::size_t>(at)];
        if (!one.pending && (dirtyMayGo || !one.dirty)) return Found::Missing;
    }
    return Found::Refused;
}

int TimedCache::take(std::int32_t at, std::uint64_t sector, std::uint32_t set) {
    Line& one = line(at);
    if (one.tag == sector >> 7) return 0;
    const int driven = std::popcount(one.dirty);
    if (one.dirty) --dirtyLines_;
    if (one.tag != ~std::uint64_t{0}) {
        auto* link = &buckets_[bucket(one.tag)];
        while (*link != at) link = &line(*link).next;
        *link = one.next;
    }
    const auto newer = one.newer, older = one.older;
    one = Line{};
    one.newer = newer, one.older = older;
    one.tag = sector >> 7;
    auto& head = buckets_[bucket(one.tag)];
    one.next = head, head = at;
    use(at, set);
    touched_ = true;
    return driven;
}

void TimedCache::use(std::int32_t at, std::uint32_t set) {
    if (newest_[set] == at) return;
    unlink(at, set);
    pushNewest(at, set);
}

void TimedCache::write(std::int32_t at, std::uint64_t sector, std::uint32_t bytes) {
    Line& one = line(at);
    const unsigned part = sectorOf(sector);
    const auto bit = static_cast<std::uint8_t>(1u << part);
    if (!one.dirty) ++dirtyLines_;
    one.dirty |= bit;
    one.written[part] |= bytes;
    if (!(one.valid & bit)) one.partial |= bit;
    one.valid |= bit;
    if (one.written[part] == 0xffffffffu) one.partial &= static_cast<std::uint8_t>(~bit);
    touched_ = true;
}

void TimedCache::fill(std::int32_t at, std::uint64_t sector) {
    Line& one = line(at);
    const auto bit = static_cast<std::uint8_t>(1u << sectorOf(sector));
    if (one.pending & bit) --pending;
    one.pending &= static_cast<std::uint8_t>(~bit), one.partial &= static_cast<std::uint8_t>(~bit);
    one.valid |= bit;
    one.merged[sectorOf(sector)] = 0, one.waiting[sectorOf(sector)] = -1;
}

void TimedCache::invalidate() {
    if (!touched_) return;
    for (Line& one : lines_) one.valid = one.dirty = one.partial = 0, one.written.fill(0);
    dirtyLines_ = 0, touched_ = pending > 0;
}

}  // namespace orrery::gpusim
