#pragma once

// The output SRAM: what the array writes is collected in lines as wide as DRAM is per cycle; once more than half of the
// buffer is occupied, that half is written out, one line per cycle, while the array goes on writing. It waits only
// where the buffer is full before the writing has ended. A line that is begun when writing out starts is written out
// short, and its empty places count as written, as SCALE-Sim counts them.

#include "simulation/systolic/ideal_buffer.h"

#include <cstdint>
#include <deque>

namespace orrery::systolic {

class DrainBuffer {
public:
    DrainBuffer(std::int64_t words, std::int64_t bandwidth)
        : words_(words), drain_(words - (words + 1) / 2), bandwidth_(bandwidth), free_(words) {}

    /// The array writes `count` words in `cycle`; returns the cycles that it has to wait.
    std::int64_t write(std::int64_t cycle, std::int64_t count) {
        if (count <= 0) return 0;
        if (quiet(cycle, count)) {
            store(count);
            return 0;
        }
        return writeSlowly(cycle, count);
    }
    /// Words that can be written from `cycle` on before anything happens: writing out, or waiting.
    std::int64_t quietWords(std::int64_t cycle) const {
        return cycle < busyUntil_ ? free_ - 1 : free_ - (words_ - drain_);
    }
    std::int64_t busyUntil() const { return busyUntil_; }
    /// Words written while nothing happens.
    void store(std::int64_t count) {
        free_ -= count;
        begun_ += count;
    }
    /// Everything that is left is written out from `cycle` on.
    void finish(std::int64_t cycle);

    Transfer transfer() const { return {start_, stop_, written_}; }

private:
    struct Lines {
        std::int64_t count, words;  ///< so many lines of so many words
    };
    bool quiet(std::int64_t cycle, std::int64_t count) const { return count <= quietWords(cycle); }
    std::int64_t writeSlowly(std::int64_t cycle, std::int64_t count);
    void closeLines();
    void push(std::int64_t count, std::int64_t words);
    void drain(std::int64_t cycle);

    std::int64_t words_, drain_, bandwidth_;
    std::int64_t free_;
    std::int64_t begun_ = 0;  ///< words of lines that no writing out has closed yet
    std::int64_t busyUntil_ = 0;
    std::int64_t start_ = 0, stop_ = -1, written_ = 0;
    std::deque<Lines> waiting_;
};

}  // namespace orrery::systolic
