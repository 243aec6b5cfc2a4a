#pragma once

// Caches with misses in flight, prefetchers, and a memory of one latency and one bandwidth below. Accesses come in
// program order, each with the cycle in which it happens: contents and replacement follow program order, ways between
// levels, entries for misses and the memory channel are held in time.

#include "simulation/cpu/core/cache_lines.h"
#include "simulation/cpu/core/calendar.h"
#include "simulation/cpu/core/machine.h"
#include "simulation/cpu/core/streams.h"

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

/// Who asks beyond its own caches.
struct Asker {
    int core = 0;
    std::uint64_t now = 0;  ///< of that core: no later access of it happens before
    bool timeless = false;  ///< contents only
};

/// What lies outside the caches of a core where it does not have that for itself (../cores).
class Beyond {
public:
    virtual ~Beyond() = default;
    /// The line, asked for at `cycle`, where the first cache was asked. Levels count from the first cache of the core.
    virtual Access fetch(std::uint64_t line, std::uint64_t cycle, const Asker& asker) = 0;
    /// A written line that the caches inside gave up.
    virtual void writeBack(std::uint64_t line, std::uint64_t cycle, const Asker& asker) = 0;
};

class Memory {
public:
    explicit Memory(const Machine& machine);
    /// All caches of `machine` are the core's own, and what they miss is asked of `beyond`, which must outlive it.
    Memory(const Machine& machine, Beyond& beyond, int core);
    /// `now`: no later access happens before it. `by`: number of the instruction, for prefetching by strides.
    Access access(std::uint64_t address, std::uint64_t cycle, std::uint64_t now, bool write, std::uint32_t by);
    /// Contents only: what an access leaves in the caches.
    std::uint8_t touch(std::uint64_t address, bool write, std::uint32_t by);
    /// Puts a line where a run that is not simulated would have left it: in this cache and those outside, in none
    /// inside; `mostCaches`: in none.
    void settle(std::uint64_t line, std::uint8_t level);
    /// These bytes stand in this cache, until they are touched or what the kernel brings takes their place.
    void standing(std::uint64_t begin, std::uint64_t bytes, std::uint8_t level);
    /// Lines that go back to memory for each that is read from it, beside those that a cache gives up.
    void writeBack(double linesPerRead) { writesPerRead_ = linesPerRead; }
    const MemoryCounts& counts() const { return counts_; }

private:
    struct Cache {
        CacheLines lines;
        int latency = 0;
        SlotRing way;
        EntryPool misses;
        CacheSpec spec;
    };
    struct Stride {
        std::uint64_t last = 0;
        std::int64_t step = 0;
        int sure = 0;
    };
    struct Standing {
        std::uint64_t begin = 0, end = 0;  ///< lines
        std::uint8_t level = 0;
        std::vector<bool> touched;
    };
    // Puts a line that has stood in this cache since before into it, at its first touch.
    std::size_t stood(std::size_t level, std::uint64_t line);
    Asker asker() const { return {core_, now_, timeless_}; }
    void place(std::size_t level, std::uint64_t line, std::uint64_t ready, std::uint8_t from, bool dirty);
    Access fetch(std::size_t level, std::uint64_t line, std::uint64_t cycle);
    void prefetch(std::size_t level, std::uint64_t line, std::uint64_t cycle);

    std::vector<Cache> caches_;
    SlotRing channel_;
    Beyond* beyond_ = nullptr;
    int core_ = 0;
    std::uint64_t memoryLatency_, now_ = 0;
    bool timeless_ = false;
    double writesPerRead_ = 0, writesDue_ = 0;
    std::array<Stride, 256> strides_{};
    StreamTable streams_;
    std::vector<Standing> standing_;
    MemoryCounts counts_;
};

}  // namespace orrery::pipeline
