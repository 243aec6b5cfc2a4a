#pragma once

// Where a modern core's instructions and constants come from: an L0 per sub-core, an L1 per SM, a cache behind it
// (L1.5) and L2. A stream buffer per sub-core asks for the lines that follow one that missed (Jouppi, ISCA 1990), as
// Huerta et al. found it on Ampere (MICRO 2025). Lines of the L1.5, which several SMs share, stand in each SM's own
// copy here: SMs of a kernel run the same code.

#include "simulation/gpu/counters.h"
#include "simulation/gpu/generations.h"

#include <cstdint>
#include <vector>

namespace orrery::gpusim {

/// Tags of a set-associative cache of lines; the one used longest ago goes first.
class LineTags {
public:
    struct Entry {
        std::uint64_t line = ~std::uint64_t{0};
        std::uint64_t ready = 0;  ///< when it stands there
        std::uint64_t used = 0;
    };
    void configure(const GpuGeneration::LineCache& shape, int lineBytes);
    bool exists() const { return !entries_.empty(); }
    Entry* find(std::uint64_t line);
    void insert(std::uint64_t line, std::uint64_t ready);
    template <class Which>
    void forget(Which&& which) {
        for (Entry& one : entries_) {
            if (which(one.line)) one = {};
        }
    }
    template <class Archive>
    void keep(Archive& archive) {
        archive(entries_, uses_);
    }

private:
    Entry* setOf(std::uint64_t line) { return &entries_[line % sets_ * ways_]; }
    std::vector<Entry> entries_;
    std::size_t ways_ = 1, sets_ = 1;
    std::uint64_t uses_ = 0;
};

class CodePath {
public:
    static constexpr int lineBytes = 128, constantLine = 64;
    static std::uint64_t constantLineOf(std::size_t kernel, std::uint32_t address) {
        return std::uint64_t{kernel} << 32 | address / constantLine;
    }
    static std::uint64_t lineOf(std::uint64_t kernel, std::uint32_t pc) { return kernel << 32 | pc / (lineBytes / 16); }

    void configure(const GpuGeneration& generation, int schedulers);
    /// False: instructions are always there.
    bool finite() const { return code_.l0.bytes > 0; }
    bool fitsL0(std::int64_t bytes) const { return bytes <= code_.l0.bytes; }
    /// An earlier run has left the line behind the L0; of how many the last can still be there.
    void leave(std::uint64_t line);
    std::uint32_t linesBehind() const {
        return static_cast<std::uint32_t>((code_.l1.bytes + code_.shared.bytes) / lineBytes);
    }
    /// When a scheduler has the line; it and those up to `last` that follow are brought.
    std::uint64_t ask(unsigned scheduler, std::uint64_t line, std::uint64_t last, std::uint64_t now, Counters& counts);

    /// When an operand from constant memory is there, and what a load from there takes longer than one that hits.
    /// `kernel`: its place among those that run, each of which has constants of its own.
    std::uint64_t operand(unsigned scheduler, std::size_t kernel, std::uint32_t address, std::uint64_t now,
                          Counters& counts);
    unsigned loadMiss(std::size_t kernel, std::uint32_t address, std::uint64_t now, Counters& counts);
    /// Another kernel takes the place.
    void forgetConstants(std::size_t kernel);

    template <class Archive>
    void keep(Archive& archive) {
        archive(l1_, shared_, constantL1_);
        for (Lane& lane : lanes_) archive(lane.l0, lane.constants, lane.ahead, lane.next);
    }

private:
    struct Lane {
        LineTags l0, constants;
        std::vector<LineTags::Entry> ahead;  ///< the stream buffer; place: line mod its size
        std::uint64_t next = 0;              ///< the first line that has not been asked for in advance
    };
    std::uint64_t request(std::uint64_t line, std::uint64_t now, Counters& counts);

    GpuGeneration::CodeCaches code_;
    GpuGeneration::ConstantCaches constants_;
    std::vector<Lane> lanes_;
    LineTags l1_, shared_, constantL1_;
};

}  // namespace orrery::gpusim
