#pragma once

// Caches with misses in flight, prefetchers, and a memory of one latency and one bandwidth below. Accesses come in
// program order, each with the cycle in which it happens: contents and replacement follow program order, ways between
// levels, entries for misses and the memory channel are held in time.

#include "simulation/cpu/core/calendar.h"
#include "simulation/cpu/core/machine.h"

#include <array>
#include <cstdint>
#include <vector>

namespace orrery::pipeline {

/// Where data came from: 0 the first cache, 1 and 2 those outside, `mostCaches` main memory.
struct Access {
    std::uint64_t ready;
    std::uint8_t level;
};

struct MemoryCounts {
    std::array<std::uint64_t, mostCaches> hits{}, misses{}, prefetches{};
    std::uint64_t memoryReads = 0, memoryWrites = 0;  ///< lines
};

class Memory {
public:
    explicit Memory(const Machine& machine);
    /// `now`: no later access happens before it. `by`: number of the instruction, for prefetching by strides.
    Access access(std::uint64_t address, std::uint64_t cycle, std::uint64_t now, bool write, std::uint32_t by);
    /// Contents only: what an access leaves in the caches.
    std::uint8_t touch(std::uint64_t address, bool write, std::uint32_t by);
    /// Puts a line where a run that is not simulated would have left it: in this cache and those outside, in none
    /// inside; `mostCaches`: in none.
    void settle(std::uint64_t line, std::uint8_t level);
    /// Lines that go back to memory for each that is read from it, beside those that a cache gives up.
    void writeBack(double linesPerRead) { writesPerRead_ = linesPerRead; }
    const MemoryCounts& counts() const { return counts_; }

private:
    struct Cache {
        std::uint64_t sets = 1;
        bool powerOfTwo = true;
        int ways = 0, latency = 0;
        std::vector<std::uint64_t> tags, ready;
        std::vector<std::uint32_t> used;
        std::vector<std::uint8_t> from;  ///< level of the data while they are on their way
        std::vector<std::uint8_t> dirty;
        SlotRing way;
        EntryPool misses;
        CacheSpec spec;
        std::size_t first(std::uint64_t line) const {
            return static_cast<std::size_t>(powerOfTwo ? line & (sets - 1) : line % sets) *
                   static_cast<std::size_t>(ways);
        }
    };
    struct Stride {
        std::uint64_t last = 0;
        std::int64_t step = 0;
        int sure = 0;
    };
    struct Stream {
        std::uint64_t page = ~0ull, last = 0, ahead = 0;
        int direction = 0, length = 0;
        std::uint64_t used = 0;
    };
    std::size_t find(Cache& cache, std::uint64_t line);
    void place(std::size_t level, std::uint64_t line, std::uint64_t ready, std::uint8_t from, bool dirty);
    Access fetch(std::size_t level, std::uint64_t line, std::uint64_t cycle);
    void prefetch(std::size_t level, std::uint64_t line, std::uint64_t cycle);
    void follow(std::size_t level, std::uint64_t line, std::uint64_t cycle);

    std::vector<Cache> caches_;
    SlotRing channel_;
    std::uint64_t memoryLatency_, now_ = 0;
    std::uint32_t clock_ = 0;
    bool timeless_ = false;
    double writesPerRead_ = 0, writesDue_ = 0;
    std::array<Stride, 256> strides_{};
    std::array<Stream, 16> streams_{};
    std::uint64_t streamClock_ = 0;
    MemoryCounts counts_;
};

}  // namespace orrery::pipeline
