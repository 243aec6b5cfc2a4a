#pragma once

// A read SRAM over a DRAM that always delivers in time: it counts what it had to fetch and how far ahead. Half of the
// buffer holds the words that were asked for since the last exchange; when it is full the halves change places and its
// words count as gone. SCALE-Sim keeps each half as 50 sets of 1/100 of the buffer, rounded down, and so do we: the
// capacity of a half is 50·floor(words/100).

#include "simulation/systolic/operand.h"

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
    /// Prepares for an operand whose words repeat; `words` is the size of the operand in memory.
    void trackWords(std::int64_t words) { seen_.assign(static_cast<std::size_t>(words), 0); }

    /// Lanes demanded in `cycle` of elements that were last demanded `ago` cycles earlier, all of them at the same
    /// lane (0: never). Returns how many had to be fetched.
    std::int64_t demand(std::int64_t cycle, std::int64_t lo, std::int64_t hi, std::int64_t ago);
    /// Elements of a whole stretch of cycles, same rules, by arithmetic alone: `stream` begins at `begin`.
    void demandFold(const Stream& stream, std::int64_t begin, std::int64_t ago);
    /// One word of an operand that repeats. True if it had to be fetched.
    bool word(std::int64_t cycle, std::size_t address) {
        if (firstDemand_ < 0) firstDemand_ = cycle;
        std::uint32_t& stamp = seen_[address];
        if (stamp == exchanges_ + 1) return false;
        stamp = exchanges_ + 1;
        ++fetched_;
        if (++filled_ == half_) exchange(cycle, 0);
        return true;
    }

    Transfer transfer() const;

private:
    void exchange(std::int64_t cycle, std::int64_t lane) {
        filled_ = 0;
        ++exchanges_;
        exchangeCycle_ = cycle;
        exchangeLane_ = lane;
    }

    std::int64_t set_, half_, bandwidth_;
    std::int64_t filled_ = 0, fetched_ = 0;
    std::int64_t firstDemand_ = -1;
    std::uint32_t exchanges_ = 0;
    std::int64_t exchangeCycle_ = -1, exchangeLane_ = 0;  ///< the last demand that the present half does not hold
    std::vector<std::uint32_t> seen_;                     ///< by address: half in which it was seen last, from 1
};

}  // namespace orrery::systolic
