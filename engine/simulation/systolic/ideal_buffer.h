#pragma once

// A read SRAM over a DRAM that always delivers in time: it counts what it had to fetch and how far ahead. Half of the
// buffer holds the words that were asked for since the last exchange; when it is full the halves change places and its
// words count as gone. SCALE-Sim keeps each half as 50 sets of 1/100 of the buffer, rounded down, and so do we: the
// capacity of a half is 50·floor(words/100).

#include "simulation/systolic/operand.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace orrery::systolic {

/// First and last cycle in which a memory delivers, and how many words it is asked for.
struct Transfer {
    std::int64_t start = 0, stop = -1;
    std::int64_t words = 0;
};

class IdealBuffer {
public:
    IdealBuffer(std::int64_t words, std::int64_t bandwidth)
        : set_(words / 100), half_(50 * set_), bandwidth_(bandwidth) {}
    /// Prepares for an operand whose words repeat; its words are numbered below `words`.
    void trackWords(std::int64_t words) { seen_.assign(static_cast<std::size_t>(words), 0); }

    /// Lanes demanded in `cycle` of elements that were last demanded `ago` cycles earlier, all of them at the same
    /// lane (0: never). Returns how many had to be fetched.
    std::int64_t demand(std::int64_t cycle, std::int64_t lo, std::int64_t hi, std::int64_t ago);
    /// Elements of a whole stretch of cycles, same rules, by arithmetic alone: `stream` begins at `begin`.
    void demandFold(const Stream& stream, std::int64_t begin, std::int64_t ago);
    /// Words of an operand that repeats, demanded in `cycle`. Returns how many had to be fetched.
    std::int64_t sweep(std::int64_t cycle, const Stretch& words) {
        if (firstDemand_ < 0) firstDemand_ = cycle;
        Stamp* stamps = seen_.data() + words.lowest;
        std::int64_t misses = 0;
        for (std::int64_t i = 0; i < words.count; ++i) misses += stamps[i] != stamp_ ? 1 : 0;
        if (misses == 0) return 0;
        if (filled_ + misses >= half_) return sweepSlowly(cycle, words);
        std::fill_n(stamps, words.count, stamp_);
        filled_ += misses;
        fetched_ += misses;
        return misses;
    }

    Transfer transfer() const;

private:
    using Stamp = std::uint16_t;
    std::int64_t sweepSlowly(std::int64_t cycle, const Stretch& words);
    void exchange(std::int64_t cycle, std::int64_t lane) {
        filled_ = 0;
        ++exchanges_;
        exchangeCycle_ = cycle;
        exchangeLane_ = lane;
        // Stamps are short, so that many lie in one line of a cache; they begin again when they are used up.
        if (++stamp_ != 0) return;
        std::fill(seen_.begin(), seen_.end(), Stamp{0});
        stamp_ = 1;
    }

    std::int64_t set_, half_, bandwidth_;
    std::int64_t filled_ = 0, fetched_ = 0;
    std::int64_t firstDemand_ = -1;
    std::int64_t exchanges_ = 0;
    std::int64_t exchangeCycle_ = -1, exchangeLane_ = 0;  ///< the last demand that the present half does not hold
    Stamp stamp_ = 1;                                     ///< of the half in use
    std::vector<Stamp> seen_;                             ///< by address: stamp of the half in which it was seen last
};

}  // namespace orrery::systolic
