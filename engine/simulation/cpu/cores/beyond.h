#pragma once

// What cores share: caches in slices, and memories with links between them. Contents change in the order in which cores
// run; slices, entries for misses, channels and links are held in time.

#include "simulation/cpu/core/memory.h"
#include "simulation/cpu/cores/chip.h"

#include <memory>
#include <vector>

namespace orrery::pipeline {

/// The cycle that all cores but the running one have passed.
struct OthersPassed {
    std::uint64_t cycle = ~0ull;
};

/// What one core asked of one shared cache.
struct SharedCounts {
    std::uint64_t hits = 0, misses = 0, prefetches = 0;
    std::uint64_t fromOthers = 0;  ///< of the hits: lines that another core brought
    std::uint64_t waited = 0;      ///< cycles, of all hits: until the slice was free
};

/// A cache that several cores share: one slice for each, lines spread over the slices by a hash. A core has a port of
/// the width that its machine states, and as many misses in flight; so has each slice. A core alone finds it as it
/// would find its own.
class SharedCache final : public Beyond {
public:
    /// Of the cores from `first` on; `level` counts from their first cache.
    SharedCache(const Chip& chip, int level, int first, Beyond& beyond, const OthersPassed& others);
    Access fetch(std::uint64_t line, std::uint64_t cycle, const Asker& asker) override;
    void writeBack(std::uint64_t line, std::uint64_t cycle, const Asker& asker) override;
    const SharedCounts& counts(int core) const { return ports_[static_cast<std::size_t>(core - first_)].counts; }

private:
    struct Slice {
        SlotRing way;
        EntryPool misses;
    };
    struct Port {
        SlotRing way;
        EntryPool misses;
        StreamTable streams;
        SharedCounts counts;
    };
    Port& portOf(const Asker& asker) { return ports_[static_cast<std::size_t>(asker.core - first_)]; }
    Slice& sliceOf(std::uint64_t line);
    void place(std::uint64_t line, const Access& answer, const Asker& asker);
    void prefetch(std::uint64_t line, std::uint64_t cycle, const Asker& asker);

    CacheSpec spec_;
    int level_, first_;
    Beyond& beyond_;
    const OthersPassed& others_;
    CacheLines lines_;
    std::vector<std::uint16_t> broughtBy_;  ///< by place
    std::vector<Slice> slices_;
    std::vector<Port> ports_;
};

/// What one core asked of the memories.
struct MemoryLines {
    std::uint64_t reads = 0, writes = 0;  ///< lines
    std::uint64_t remote = 0;             ///< of both: in the memory of another node
    /// Cycles, of all reads: until the core's own share, the channel and the link were free.
    std::uint64_t waitedOwn = 0, waitedChannel = 0, waitedLink = 0;
};

/// The memories of all nodes.
class Memories final : public Beyond {
public:
    Memories(const Chip& chip, const OthersPassed& others);
    Access fetch(std::uint64_t line, std::uint64_t cycle, const Asker& asker) override;
    void writeBack(std::uint64_t line, std::uint64_t cycle, const Asker& asker) override;
    const MemoryLines& use(int core) const { return uses_[static_cast<std::size_t>(core)]; }

private:
    int homeOf(std::uint64_t line, int node) const;
    SlotRing& link(int from, int to) {
        return links_[static_cast<std::size_t>(from) * static_cast<std::size_t>(nodes_) + static_cast<std::size_t>(to)];
    }
    std::uint64_t passed(const Asker& asker) const;

    const OthersPassed& others_;
    Pages pages_;
    int nodes_, perNode_;
    std::uint64_t reach_, latency_, linkLatency_;  ///< cycles
    std::vector<SlotRing> ports_, channels_, links_;
    std::vector<MemoryLines> uses_;
};

}  // namespace orrery::pipeline
