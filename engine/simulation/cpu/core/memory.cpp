#include "simulation/cpu/core/memory.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace orrery::pipeline {

namespace {

constexpr std::uint64_t lineBits = 6, linesPerPage = 64;
constexpr std::size_t absent = ~std::size_t{0};
constexpr int streamDistance = 20, streamDegree = 2;

bool onePage(std::uint64_t a, std::uint64_t b) {
    return a / linesPerPage == b / linesPerPage;
}

}  // namespace

Memory::Memory(const Machine& machine)
    : channel_(64.0 / (machine.memoryBandwidth / machine.clock)),
      memoryLatency_(static_cast<std::uint64_t>(std::llround(machine.memoryLatency * machine.clock))) {
    for (const CacheSpec& spec : machine.caches) {
        Cache& cache = caches_.emplace_back();
        cache.ways = spec.ways;
        cache.latency = spec.latency;
        cache.sets = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(spec.bytes / 64.0 / spec.ways));
        cache.powerOfTwo = std::has_single_bit(cache.sets);
        const auto lines = static_cast<std::size_t>(cache.sets) * static_cast<std::size_t>(spec.ways);
        cache.tags.assign(lines, 0);
        cache.ready.assign(lines, 0);
        cache.used.assign(lines, 0);
        cache.from.assign(lines, 0);
        cache.dirty.assign(lines, 0);
        cache.way = SlotRing(64.0 / spec.bytesPerCycle);
        cache.misses = EntryPool(spec.misses);
        cache.spec = spec;
    }
}

std::size_t Memory::find(Cache& cache, std::uint64_t line) {
    const std::size_t first = cache.first(line);
    const std::uint64_t tag = line + 1;
    for (std::size_t i = first; i < first + static_cast<std::size_t>(cache.ways); ++i) {
        if (cache.tags[i] == tag) {
            cache.used[i] = ++clock_;
            return i;
        }
    }
    return absent;
}

void Memory::place(std::size_t level, std::uint64_t line, std::uint64_t ready, std::uint8_t from, bool dirty) {
    Cache& cache = caches_[level];
    const std::size_t first = cache.first(line);
    std::size_t at = first;
    for (std::size_t i = first; i < first + static_cast<std::size_t>(cache.ways); ++i) {
        if (cache.tags[i] == 0) {
            at = i;
            break;
        }
        // Ages, not stamps: the clock may wrap.
        if (clock_ - cache.used[i] > clock_ - cache.used[at]) at = i;
    }
    if (cache.tags[at] != 0 && cache.dirty[at]) {
        const std::uint64_t old = cache.tags[at] - 1;
        bool kept = false;
        for (std::size_t outer = level + 1; outer < caches_.size() && !kept; ++outer) {
            Cache& next = caches_[outer];
            const std::size_t where = find(next, old);
            if (where == absent) continue;
            next.dirty[where] = 1;
            kept = true;
        }
        if (!kept) {
            ++counts_.memoryWrites;
            if (!timeless_) channel_.reserve(ready);
        }
    }
    cache.tags[at] = line + 1;
    cache.ready[at] = ready;
    cache.used[at] = ++clock_;
    cache.from[at] = from;
    cache.dirty[at] = dirty;
}

// The line as the level inside gets it, asked for at `cycle`, where the first cache was asked.
Access Memory::fetch(std::size_t level, std::uint64_t line, std::uint64_t cycle) {
    if (level == caches_.size()) {
        ++counts_.memoryReads;
        if (timeless_) return {0, static_cast<std::uint8_t>(mostCaches)};
        const std::uint64_t asked = cycle + (caches_.empty() ? 0 : static_cast<std::uint64_t>(caches_.back().latency));
        for (writesDue_ += writesPerRead_; writesDue_ >= 1; writesDue_ -= 1) channel_.reserve(asked);
        return {channel_.reserve(asked) + memoryLatency_, static_cast<std::uint8_t>(mostCaches)};
    }
    Cache& cache = caches_[level];
    const std::size_t at = find(cache, line);
    Access answer{};
    if (at != absent) {
        ++counts_.hits[level];
        if (timeless_) {
            answer = {0, static_cast<std::uint8_t>(level)};
        } else {
            const std::uint64_t begins = cache.way.reserve(cycle);
            const std::uint64_t usual = begins + static_cast<std::uint64_t>(cache.latency);
            const std::uint64_t filled = cache.ready[at];
            answer = {std::max(usual, filled), filled > usual ? cache.from[at] : static_cast<std::uint8_t>(level)};
        }
    } else {
        ++counts_.misses[level];
        const std::uint64_t from = timeless_ ? cycle : cache.misses.freeFrom(cycle);
        answer = fetch(level + 1, line, from);
        if (!timeless_) cache.misses.hold(from, answer.ready, now_);
        place(level, line, answer.ready, answer.level, false);
    }
    if (cache.spec.stream) follow(level, line, cycle);
    return answer;
}

void Memory::prefetch(std::size_t level, std::uint64_t line, std::uint64_t cycle) {
    Cache& cache = caches_[level];
    const std::size_t first = cache.first(line);
    for (std::size_t i = first; i < first + static_cast<std::size_t>(cache.ways); ++i) {
        if (cache.tags[i] == line + 1) return;
    }
    if (!timeless_ && cache.misses.full(cycle)) return;
    ++counts_.prefetches[level];
    const Access answer = fetch(level + 1, line, cycle);
    if (!timeless_) cache.misses.hold(cycle, answer.ready, now_);
    place(level, line, answer.ready, answer.level, false);
}

// Two accesses in a row on one page and in one direction begin a stream; it runs ahead by two lines an access.
void Memory::follow(std::size_t level, std::uint64_t line, std::uint64_t cycle) {
    const std::uint64_t page = line / linesPerPage;
    Stream* stream = nullptr;
    Stream* oldest = streams_.data();
    for (Stream& one : streams_) {
        if (one.page == page) stream = &one;
        if (one.used < oldest->used) oldest = &one;
    }
    if (!stream) {
        *oldest = {page, line, line, 0, 0, ++streamClock_};
        return;
    }
    stream->used = ++streamClock_;
    const int direction = line > stream->last ? 1 : line < stream->last ? -1 : 0;
    if (direction == 0) return;
    if (direction == stream->direction) {
        ++stream->length;
    } else {
        stream->direction = direction;
        stream->length = 1;
        stream->ahead = line;
    }
    stream->last = line;
    if (stream->length < 2) return;
    auto ahead = static_cast<std::int64_t>(stream->ahead);
    const auto here = static_cast<std::int64_t>(line);
    if ((ahead - here) * direction < 0) ahead = here;
    for (int i = 0; i < streamDegree; ++i) {
        const std::int64_t next = ahead + direction;
        if ((next - here) * direction > streamDistance || !onePage(static_cast<std::uint64_t>(next), line)) break;
        prefetch(level, static_cast<std::uint64_t>(next), cycle);
        ahead = next;
    }
    stream->ahead = static_cast<std::uint64_t>(ahead);
}

Access Memory::access(std::uint64_t address, std::uint64_t cycle, std::uint64_t now, bool write, std::uint32_t by) {
    const std::uint64_t line = address >> lineBits;
    if (!timeless_) {
        now_ = now;
        channel_.advance(now);
    }
    if (caches_.empty()) return fetch(0, line, cycle);
    Cache& cache = caches_.front();
    const std::size_t at = find(cache, line);
    Access answer{};
    if (at != absent) {
        ++counts_.hits[0];
        const std::uint64_t usual = cycle + static_cast<std::uint64_t>(cache.latency), filled = cache.ready[at];
        answer = {std::max(usual, filled), filled > usual ? cache.from[at] : std::uint8_t{0}};
        if (write) cache.dirty[at] = 1;
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

void Memory::settle(std::uint64_t line, std::uint8_t level) {
    for (std::size_t c = caches_.size(); c-- > 0;) {
        Cache& cache = caches_[c];
        const std::size_t at = find(cache, line);
        if (c < level) {
            if (at != absent) cache.tags[at] = 0;
        } else if (at == absent) {
            place(c, line, 0, 0, false);
        } else {
            cache.ready[at] = 0;
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
