#include "simulation/cpu/cores/beyond.h"

#include <algorithm>
#include <cmath>

namespace orrery::pipeline {

SharedCache::SharedCache(const Chip& chip, int level, int first, Beyond& beyond, const OthersPassed& others)
    : spec_(chip.core.caches[static_cast<std::size_t>(level)]),
      level_(level),
      first_(first),
      beyond_(beyond),
      others_(others),
      lines_(spec_.bytes, spec_.ways),
      broughtBy_(lines_.places(), 0) {
    const auto at = static_cast<std::size_t>(level);
    const double stated = at < chip.sliceBytes.size() ? chip.sliceBytes[at] : 0;
    for (int i = 0; i < chip.sharedBy[at]; ++i) {
        slices_.push_back({SlotRing(64.0 / (stated > 0 ? stated : spec_.bytesPerCycle)), EntryPool(spec_.misses)});
        ports_.push_back({SlotRing(64.0 / spec_.bytesPerCycle), EntryPool(spec_.misses), {}, {}});
    }
}

SharedCache::Slice& SharedCache::sliceOf(std::uint64_t line) {
    // Lines in a row lie far apart under multiples of the golden section (Knuth, TAOCP 3, section 6.4).
    const std::uint64_t hash = (line * 0x9e3779b97f4a7c15ull) >> 32;
    return slices_[static_cast<std::size_t>(hash * slices_.size() >> 32)];
}

void SharedCache::place(std::uint64_t line, const Access& answer, const Asker& asker) {
    const std::size_t at = lines_.placeFor(line);
    if (!lines_.empty(at) && lines_.dirty[at]) beyond_.writeBack(lines_.lineAt(at), answer.ready, asker);
    lines_.put(at, line, answer.ready, answer.level, false);
    broughtBy_[at] = static_cast<std::uint16_t>(asker.core);
}

Access SharedCache::fetch(std::uint64_t line, std::uint64_t cycle, const Asker& asker) {
    Port& port = portOf(asker);
    const auto level = static_cast<std::uint8_t>(level_);
    const std::uint64_t now = std::min(asker.now, others_.cycle);
    const std::size_t at = lines_.find(line);
    Access answer{};
    if (at != CacheLines::absent) {
        ++port.counts.hits;
        if (broughtBy_[at] != asker.core) ++port.counts.fromOthers;
        if (asker.timeless) {
            answer = {0, level};
        } else {
            Slice& slice = sliceOf(line);
            port.way.advance(now);
            slice.way.advance(now);
            const std::uint64_t sent = port.way.reserve(cycle), begins = slice.way.join(sent);
            port.counts.waited += begins - sent;
            const std::uint64_t usual = begins + static_cast<std::uint64_t>(spec_.latency), filled = lines_.ready[at];
            answer = {std::max(usual, filled), filled > usual ? lines_.from[at] : level};
        }
    } else {
        ++port.counts.misses;
        std::uint64_t from = cycle;
        if (asker.timeless) {
            answer = beyond_.fetch(line, from, asker);
        } else {
            Slice& slice = sliceOf(line);
            for (std::uint64_t before = ~0ull; before != from;) {
                before = from;
                from = slice.misses.freeFrom(port.misses.freeFrom(from));
            }
            answer = beyond_.fetch(line, from, asker);
            port.misses.hold(from, answer.ready, now);
            slice.misses.hold(from, answer.ready, now);
        }
        place(line, answer, asker);
    }
    if (spec_.stream) port.streams.follow(line, [&](std::uint64_t ahead) { prefetch(ahead, cycle, asker); });
    return answer;
}

void SharedCache::prefetch(std::uint64_t line, std::uint64_t cycle, const Asker& asker) {
    if (lines_.holds(line)) return;
    Port& port = portOf(asker);
    Slice& slice = sliceOf(line);
    if (!asker.timeless && (port.misses.full(cycle) || slice.misses.full(cycle))) return;
    ++port.counts.prefetches;
    const Access answer = beyond_.fetch(line, cycle, asker);
    if (!asker.timeless) {
        const std::uint64_t now = std::min(asker.now, others_.cycle);
        port.misses.hold(cycle, answer.ready, now);
        slice.misses.hold(cycle, answer.ready, now);
    }
    place(line, answer, asker);
}

void SharedCache::writeBack(std::uint64_t line, std::uint64_t cycle, const Asker& asker) {
    const std::size_t at = lines_.find(line);
    if (at != CacheLines::absent)
        lines_.dirty[at] = 1;
    else
        beyond_.writeBack(line, cycle, asker);
}

Memories::Memories(const Chip& chip, const OthersPassed& others)
    : others_(others), pages_(chip.pages), nodes_(chip.nodes), perNode_(chip.cores / chip.nodes) {
    const Machine& core = chip.core;
    const auto cycles = [&](double seconds) { return static_cast<std::uint64_t>(std::llround(seconds * core.clock)); };
    const auto cyclesPerLine = [&](double bandwidth) { return 64.0 / (bandwidth / core.clock); };
    reach_ = core.caches.empty() ? 0 : static_cast<std::uint64_t>(core.caches.back().latency);
    latency_ = cycles(core.memoryLatency);
    linkLatency_ = cycles(chip.linkLatency);
    const auto nodes = static_cast<std::size_t>(nodes_);
    ports_.assign(static_cast<std::size_t>(chip.cores), SlotRing(cyclesPerLine(core.memoryBandwidth)));
    channels_.assign(nodes, SlotRing(cyclesPerLine(chip.nodeBandwidth)));
    if (nodes > 1) links_.assign(nodes * nodes, SlotRing(cyclesPerLine(chip.linkBandwidth)));
    uses_.resize(static_cast<std::size_t>(chip.cores));
}

int Memories::homeOf(std::uint64_t line, int node) const {
    switch (pages_) {
        case Pages::Local:
            return node;
        case Pages::Interleaved:
            return static_cast<int>(line / linesPerPage % static_cast<std::uint64_t>(nodes_));
        case Pages::FirstNode:
            return 0;
        case Pages::Remote:
            return (node + 1) % nodes_;
    }
    return node;
}

std::uint64_t Memories::passed(const Asker& asker) const {
    return std::min(asker.now, others_.cycle);
}

Access Memories::fetch(std::uint64_t line, std::uint64_t cycle, const Asker& asker) {
    constexpr auto level = static_cast<std::uint8_t>(mostCaches);
    MemoryLines& use = uses_[static_cast<std::size_t>(asker.core)];
    const int node = asker.core / perNode_, home = homeOf(line, node);
    ++use.reads;
    use.remote += home != node;
    if (asker.timeless) return {0, level};
    SlotRing& port = ports_[static_cast<std::size_t>(asker.core)];
    SlotRing& channel = channels_[static_cast<std::size_t>(home)];
    const std::uint64_t now = passed(asker), asked = cycle + reach_;
    port.advance(now);
    channel.advance(now);
    const std::uint64_t own = port.reserve(asked);
    use.waitedOwn += own - asked;
    const std::uint64_t there = home == node ? own : own + linkLatency_;
    const std::uint64_t begins = channel.join(there);
    use.waitedChannel += begins - there;
    if (home == node) return {begins + latency_, level};
    SlotRing& back = link(home, node);
    back.advance(now);
    const std::uint64_t found = begins + latency_, sent = back.join(found);
    use.waitedLink += sent - found;
    return {sent + linkLatency_, level};
}

void Memories::writeBack(std::uint64_t line, std::uint64_t cycle, const Asker& asker) {
    MemoryLines& use = uses_[static_cast<std::size_t>(asker.core)];
    const int node = asker.core / perNode_, home = homeOf(line, node);
    ++use.writes;
    use.remote += home != node;
    if (asker.timeless) return;
    const std::uint64_t now = passed(asker);
    SlotRing& port = ports_[static_cast<std::size_t>(asker.core)];
    SlotRing& channel = channels_[static_cast<std::size_t>(home)];
    port.advance(now);
    channel.advance(now);
    std::uint64_t at = port.reserve(cycle);
    if (home != node) {
        SlotRing& way = link(node, home);
        way.advance(now);
        at = way.join(at) + linkLatency_;
    }
    channel.join(at);
}

}  // namespace orrery::pipeline
