#include "simulation/cpu/core/memory.h"

#include <algorithm>
#include <cmath>

namespace orrery::pipeline {

namespace {

constexpr std::uint64_t lineBits = 6;
constexpr std::size_t absent = CacheLines::absent;

}  // namespace

Memory::Memory(const Machine& machine)
    : channel_(64.0 / (machine.memoryBandwidth / machine.clock)),
      memoryLatency_(static_cast<std::uint64_t>(std::llround(machine.memoryLatency * machine.clock))) {
    for (const CacheSpec& spec : machine.caches) {
        Cache& cache = caches_.emplace_back();
        cache.lines = CacheLines(spec.bytes, spec.ways);
        cache.latency = spec.latency;
        cache.way = SlotRing(64.0 / spec.bytesPerCycle);
        cache.misses = EntryPool(spec.misses);
        cache.spec = spec;
    }
}

Memory::Memory(const Machine& machine, Beyond& beyond, int core) : Memory(machine) {
    beyond_ = &beyond;
    core_ = core;
}

void Memory::place(std::size_t level, std::uint64_t line, std::uint64_t ready, std::uint8_t from, bool dirty) {
    CacheLines& lines = caches_[level].lines;
    const std::size_t at = lines.placeFor(line);
    if (!lines.empty(at) && lines.dirty[at]) {
        const std::uint64_t old = lines.lineAt(at);
        bool kept = false;
        for (std::size_t outer = level + 1; outer < caches_.size() && !kept; ++outer) {
            CacheLines& next = caches_[outer].lines;
            const std::size_t where = next.find(old);
            if (where == absent) continue;
            next.dirty[where] = 1;
            kept = true;
        }
        if (!kept && beyond_) {
            beyond_->writeBack(old, ready, asker());
        } else if (!kept) {
            ++counts_.memoryWrites;
            if (!timeless_) channel_.reserve(ready);
        }
    }
    lines.put(at, line, ready, from, dirty);
}

// The line as the level inside gets it, asked for at `cycle`, where the first cache was asked.
Access Memory::fetch(std::size_t level, std::uint64_t line, std::uint64_t cycle) {
    if (level == caches_.size()) {
        if (beyond_) return beyond_->fetch(line, cycle, asker());
        ++counts_.memoryReads;
        if (timeless_) return {0, static_cast<std::uint8_t>(mostCaches)};
        const std::uint64_t asked = cycle + (caches_.empty() ? 0 : static_cast<std::uint64_t>(caches_.back().latency));
        for (writesDue_ += writesPerRead_; writesDue_ >= 1; writesDue_ -= 1) channel_.reserve(asked);
        return {channel_.reserve(asked) + memoryLatency_, static_cast<std::uint8_t>(mostCaches)};
    }
    Cache& cache = caches_[level];
    std::size_t at = cache.lines.find(line);
    if (at == absent && !standing_.empty()) at = stood(level, line);
    Access answer{};
    if (at != absent) {
        ++counts_.hits[level];
        if (timeless_) {
            answer = {0, static_cast<std::uint8_t>(level)};
        } else {
            const std::uint64_t begins = cache.way.reserve(cycle);
            const std::uint64_t usual = begins + static_cast<std::uint64_t>(cache.latency);
            const std::uint64_t filled = cache.lines.ready[at];
            answer = {std::max(usual, filled),
                      filled > usual ? cache.lines.from[at] : static_cast<std::uint8_t>(level)};
        }
    } else {
        ++counts_.misses[level];
        const std::uint64_t from = timeless_ ? cycle : cache.misses.freeFrom(cycle);
        answer = fetch(level + 1, line, from);
        if (!timeless_) cache.misses.hold(from, answer.ready, now_);
        place(level, line, answer.ready, answer.level, false);
    }
    if (cache.spec.stream) streams_.follow(line, [&](std::uint64_t ahead) { prefetch(level, ahead, cycle); });
    return answer;
}

void Memory::prefetch(std::size_t level, std::uint64_t line, std::uint64_t cycle) {
    Cache& cache = caches_[level];
    if (cache.lines.holds(line)) return;
    if (!standing_.empty() && stood(level, line) != absent) return;
    if (!timeless_ && cache.misses.full(cycle)) return;
    ++counts_.prefetches[level];
    const Access answer = fetch(level + 1, line, cycle);
    if (!timeless_) cache.misses.hold(cycle, answer.ready, now_);
    place(level, line, answer.ready, answer.level, false);
}

Access Memory::access(std::uint64_t address, std::uint64_t cycle, std::uint64_t now, bool write, std::uint32_t by) {
    const std::uint64_t line = address >> lineBits;
    if (!timeless_) {
        now_ = now;
        channel_.advance(now);
    }
    if (caches_.empty()) return fetch(0, line, cycle);
    Cache& cache = caches_.front();
    std::size_t at = cache.lines.find(line);
    if (at == absent && !standing_.empty()) at = stood(0, line);
    Access answer{};
    if (at != absent) {
        ++counts_.hits[0];
        const std::uint64_t usual = cycle + static_cast<std::uint64_t>(cache.latency), filled = cache.lines.ready[at];
        answer = {std::max(usual, filled), filled > usual ? cache.lines.from[at] : std::uint8_t{0}};
        if (write) cache.lines.dirty[at] = 1;
    } else {
        ++counts_.misses[0];
        for (std::size_t i = 1; i < caches_.size(); ++i) caches_[i].way.advance(now_);
        const std::uint64_t from = timeless_ ? cycle : cache.misses.freeFrom(cycle);
        answer = fetch(1, line, from);
        if (!timeless_) cache.misses.hold(from, answer.ready, now_);
        place(0, line, answer.ready, answer.level, write);
        if (cache.spec.nextLine && onePage(line, line + 1)) prefetch(0, line + 1, cycle);
    }
    if (cache.spec.stride) {
        Stride& entry = strides_[by % strides_.size()];
        const auto step = static_cast<std::int64_t>(address - entry.last);
        if (step == entry.step && step != 0) {
            entry.sure = std::min(entry.sure + 1, 3);
        } else {
            entry.step = step;
            entry.sure = 0;
        }
        entry.last = address;
        if (entry.sure >= 2) {
            const std::int64_t ahead = std::abs(step) < 64 ? (step > 0 ? 64 : -64) : step;
            const std::uint64_t next =
                static_cast<std::uint64_t>(static_cast<std::int64_t>(address) + ahead) >> lineBits;
            if (onePage(next, line)) prefetch(0, next, cycle);
        }
    }
    return answer;
}

void Memory::standing(std::uint64_t begin, std::uint64_t bytes, std::uint8_t level) {
    if (level >= caches_.size() || bytes == 0) return;
    const std::uint64_t first = begin >> lineBits, last = (begin + bytes - 1) >> lineBits;
    standing_.push_back({first, last + 1, level, std::vector<bool>(last + 1 - first, false)});
}

std::size_t Memory::stood(std::size_t level, std::uint64_t line) {
    for (Standing& each : standing_) {
        if (line < each.begin || line >= each.end) continue;
        // In a cache outside it has been touched when it comes here again.
        if (each.level != level || each.touched[line - each.begin]) return absent;
        each.touched[line - each.begin] = true;
        place(level, line, 0, 0, false);
        return caches_[level].lines.find(line);
    }
    return absent;
}

void Memory::settle(std::uint64_t line, std::uint8_t level) {
    for (std::size_t c = caches_.size(); c-- > 0;) {
        CacheLines& lines = caches_[c].lines;
        const std::size_t at = lines.find(line);
        if (c < level) {
            if (at != absent) lines.drop(at);
        } else if (at == absent) {
            place(c, line, 0, 0, false);
        } else {
            lines.ready[at] = 0;
        }
    }
}

std::uint8_t Memory::touch(std::uint64_t address, bool write, std::uint32_t by) {
    timeless_ = true;
    const Access answer = access(address, 0, 0, write, by);
    timeless_ = false;
    return answer.level;
}

}  // namespace orrery::pipeline
