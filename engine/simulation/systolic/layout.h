#pragma once

// Where the words of an operand stand in a banked SRAM, and what it costs when one cycle wants several lines of one
// bank. A line is as wide as all banks together give in a cycle; a bank holds the same stretch of columns of every line
// and serves `ports` lines in a cycle. The array waits for the bank that is asked for most lines.
//
// Semantics of layouts in SCALE-Sim 3 (Raj et al., ISPASS 2025; its files: layout CSV and section [layout]), with three
// differences: a word's column is its place in the line (the tool takes the order in which a hash set of the line's
// addresses is walked), every layer has the layout of its own row (the tool takes the first row for all), and addresses
// start at 0. Kept as the tool has it: filters are divided as [filters][channels][height][width] though its windows
// name them [filters][height][width][channels].

#include "simulation/systolic/bound_buffer.h"
#include "simulation/systolic/operand.h"

#include <cstdint>
#include <vector>

namespace orrery::systolic {

/// Fails with `systolic.layout`: no layout where the array asks for one, factors or orders that are none, a line that
/// is not as wide as the banks, sparse arrays.
Expected<void> checkLayouts(const Array& array, const Layer& layer);

/// Place of every word of an operand in the order of its lines, padding left out.
struct LaidOut {
    std::vector<std::int32_t> place;  ///< by address
    std::int64_t places = 0;          ///< padding counted
};
/// `extents`: of the operand, outermost first, as its addresses count them.
LaidOut layOut(const Layout& layout, const std::vector<std::int64_t>& extents);

/// A read SRAM of laid-out words behind a limited bandwidth.
class BankedBuffer {
public:
    BankedBuffer(LaidOut words, std::int64_t bufferWords, std::int64_t bandwidth, const Banks& banks, bool waitsTwice);

    void begin(std::int64_t cycle) {
        cycle_ = cycle;
        wait_ = mostLines_ = 0;
        ++stamp_;
    }
    void word(std::int64_t address);
    /// Cycles that the array has to wait for the words since begin().
    std::int64_t end();

    Transfer transfer() const { return buffer_.transfer(); }
    std::int64_t exchanges() const { return buffer_.exchanges(); }
    std::int64_t conflictCycles() const { return conflictCycles_; }  ///< waits for banks alone

private:
    LaidOut words_;
    BoundBuffer buffer_;
    std::int64_t line_, bankWidth_, banks_, ports_;
    std::int64_t cycle_ = 0, wait_ = 0, mostLines_ = 0, conflictCycles_ = 0;
    std::int64_t stamp_ = 0;
    std::vector<std::int64_t> asked_;       ///< by line and bank: cycle's stamp in which it was asked for last
    std::vector<std::int64_t> linesStamp_;  ///< by bank: stamp to which `lines_` belongs
    std::vector<std::int64_t> lines_;       ///< by bank: different lines asked for
};

}  // namespace orrery::systolic
