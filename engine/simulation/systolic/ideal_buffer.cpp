#include "simulation/systolic/ideal_buffer.h"

#include <algorithm>

namespace orrery::systolic {

std::int64_t IdealBuffer::demand(std::int64_t cycle, std::int64_t lo, std::int64_t hi, std::int64_t ago) {
    if (hi < lo) return 0;
    if (firstDemand_ < 0) firstDemand_ = cycle;
    std::int64_t last = hi;  // of the lanes that are missing: those demanded before the last exchange
    if (ago > 0) {
        const std::int64_t before = cycle - ago;
        if (before > exchangeCycle_) return 0;
        if (before == exchangeCycle_) last = std::min(hi, exchangeLane_);
    }
    std::int64_t misses = 0;
    while (lo <= last) {
        const std::int64_t room = half_ - filled_;
        const std::int64_t now = std::min(room, last - lo + 1);
        filled_ += now;
        misses += now;
        lo += now;
        if (filled_ == half_) {
            exchange(cycle, lo - 1);
            last = hi;  // nothing that is left of this cycle is in the new half
        }
    }
    fetched_ += misses;
    return misses;
}

std::int64_t IdealBuffer::sweepSlowly(std::int64_t cycle, const Stretch& words) {
    std::int64_t misses = 0;
    std::size_t address = words.first;
    for (std::int64_t left = words.count; left > 0; --left, address += static_cast<std::size_t>(words.step)) {
        if (seen_[address] == stamp_) continue;
        seen_[address] = stamp_;
        ++fetched_;
        ++misses;
        if (++filled_ == half_) exchange(cycle, 0);
    }
    return misses;
}

void IdealBuffer::demandFold(const Stream& stream, std::int64_t begin, std::int64_t ago) {
    const std::int64_t first = stream.first();
    const std::int64_t last = stream.last();
    if (last < first) return;
    std::int64_t cycle = first;
    if (firstDemand_ < 0) firstDemand_ = begin + first;
    while (cycle <= last) {
        // Cycles before `known` hold nothing that the present half has; those after hold only what it has.
        std::int64_t known = last + 1;
        if (ago > 0) known = std::min(known, exchangeCycle_ + ago - begin);
        if (cycle > known) return;
        const std::int64_t waiting = stream.before(known) - stream.before(cycle);
        if (cycle == known || waiting == 0) {
            if (known > last) return;
            const Lanes lanes = stream.at(known);
            demand(begin + known, lanes.lo, lanes.hi, ago);
            cycle = known + 1;
            continue;
        }
        const std::int64_t room = half_ - filled_;
        if (waiting < room) {
            filled_ += waiting;
            fetched_ += waiting;
            cycle = known;
            continue;
        }
        // The cycle in which the half fills: the last before which fewer than `room` are demanded.
        const std::int64_t base = stream.before(cycle);
        std::int64_t low = cycle;
        std::int64_t high = known - 1;
        while (low < high) {
            const std::int64_t middle = low + (high - low + 1) / 2;
            if (stream.before(middle) - base < room)
                low = middle;
            else
                high = middle - 1;
        }
        const std::int64_t whole = stream.before(low) - base;
        filled_ += whole;
        fetched_ += whole;
        const Lanes lanes = stream.at(low);
        demand(begin + low, lanes.lo, lanes.hi, ago);
        cycle = low + 1;
    }
}

Transfer IdealBuffer::transfer() const {
    constexpr std::int64_t latency = 1;
    const auto cyclesFor = [this](std::int64_t words) { return (words + bandwidth_ - 1) / bandwidth_; };
    // The first half is complete one cycle before the first demand; each later one while its predecessor is in use.
    if (exchanges_ > 0) return {firstDemand_ - cyclesFor(half_), exchangeCycle_ + latency, fetched_};
    const std::int64_t sets = (filled_ + set_ - 1) / set_;
    return {-cyclesFor(sets * set_), -1, fetched_};
}

}  // namespace orrery::systolic
