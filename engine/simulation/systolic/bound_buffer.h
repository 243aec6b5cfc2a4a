#pragma once

// A read SRAM over a DRAM of limited bandwidth, as SCALE-Sim's double buffer with a user's bandwidth. The operand is
// fetched in a fixed order, cut into lines of 1/100 of the buffer; one half of the buffer is being used, the other
// being filled with what follows. A demand for a word that is not in the half in use changes the halves, again and
// again until the word is there; the array waits until the DRAM has delivered. Filling wraps around at the operand's
// end.
//
// SCALE-Sim 3.0.0 adds such a wait twice (and takes slack off the cycle in which it reports the word); its golden files
// hold these numbers, and a later version corrected it. `Array::waitsCountTwice` asks for the one or the other.

#include "simulation/systolic/ideal_buffer.h"

#include <cstdint>
#include <vector>

namespace orrery::systolic {

class BoundBuffer {
public:
    /// `elements` and `places` of the fetch order: what is there, and with the empty places that are asked for too.
    /// `line`: words of a line; 0: 1/100 of the buffer.
    BoundBuffer(std::int64_t words, std::int64_t bandwidth, std::int64_t elements, std::int64_t places, bool waitsTwice,
                std::int64_t line = 0);

    /// Everything fits into the half that is filled before the start: no demand can miss.
    bool holdsAll() const { return active_ == lines_; }
    /// Positions first…last in fetch order are demanded in `cycle`. Returns the cycles that the array has to wait;
    /// where waits count twice, a negative number is slack.
    std::int64_t demand(std::int64_t cycle, std::int64_t first, std::int64_t last) {
        if (first > last || holdsAll()) return 0;
        std::int64_t wait = 0;
        const std::int64_t end = last / line_;
        for (std::int64_t line = first / line_; line <= end; ++line) {
            for (std::int64_t tries = 0; !active(line) && tries <= lines_; ++tries) wait = exchange(cycle, wait);
        }
        return wait;
    }
    /// Changes the halves once; the waiting of this cycle so far goes in and out.
    std::int64_t exchange(std::int64_t cycle, std::int64_t wait);
    bool active(std::int64_t line) const {
        return begin_ < end_ ? line >= begin_ && line < end_ : line >= begin_ || line < end_;
    }
    std::int64_t line() const { return line_; }
    std::int64_t lines() const { return lines_; }
    std::int64_t begin() const { return begin_; }  ///< first line of the half in use
    std::int64_t end() const { return end_; }      ///< and the one after its last, modulo lines()
    std::int64_t exchanges() const { return exchanges_; }

    Transfer transfer() const { return {-firstCycles_, ready_, fetched_}; }

private:
    std::int64_t line_ = 1, lines_ = 1;
    std::int64_t active_ = 1, refill_ = 0;  ///< lines of either half
    std::int64_t begin_ = 0, end_ = 1;
    std::int64_t firstCycles_ = 0, refillCycles_ = 0, bandwidth_ = 1;
    std::int64_t ready_ = -1;  ///< cycle in which the last fetch is complete
    std::int64_t fetched_ = 0, exchanges_ = 0;
    bool waitsTwice_ = false;
};

/// The same for an input whose words repeat: a word counts as there if any place of the fetch order in the half in use
/// names it.
class BoundInput {
public:
    BoundInput(const FoldPlan& plan, const InputWords& words, std::int64_t bufferWords, std::int64_t bandwidth,
               bool waitsTwice);
    /// Words demanded in `cycle`. `wait` is what the words before them in the same cycle have to wait; returns what it
    /// is with them.
    std::int64_t sweep(std::int64_t cycle, std::int64_t wait, const Stretch& words) {
        const Stamp* held = held_.data() + words.lowest;
        std::int64_t missing = 0;
        for (std::int64_t i = 0; i < words.count; ++i) missing += held[i] != stamp_ ? 1 : 0;
        return missing == 0 ? wait : sweepSlowly(cycle, wait, words);
    }
    Transfer transfer() const { return buffer_.transfer(); }
    std::int64_t exchanges() const { return buffer_.exchanges(); }

private:
    using Stamp = std::uint16_t;
    /// Place in the fetch order: step of the diagonal (or row), and lane.
    struct Place {
        std::int64_t step, lane;
    };
    template <class Visit>
    void walk(Place from, Visit visit) const;
    void mark();
    std::int64_t sweepSlowly(std::int64_t cycle, std::int64_t wait, const Stretch& words);

    const FoldPlan& plan_;
    const InputWords& words_;
    FetchOrder order_;
    BoundBuffer buffer_;
    std::vector<Place> lineStarts_;
    Stamp stamp_ = 0;          ///< of the half in use; begins again when stamps are used up
    std::vector<Stamp> held_;  ///< by address: stamp of the half that held it last
};

}  // namespace orrery::systolic
