#pragma once

// One window of operations: where its data come from, and how long it takes when chains of operations limit it, with or
// without queues and caches. A pass is a dataflow in program order, in the manner of Karkhanis and Smith (ISCA 2004),
// without a calendar.

#include "simulation/cpu/core/machine.h"
#include "simulation/cpu/core/windows/reuse.h"

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace orrery::pipeline {

// Lines that the window has touched or asked for, by number.
class LineTable {
public:
    struct Entry {
        std::uint64_t line = ~0ull;
        std::int32_t by = -1;  ///< operation
        std::uint8_t level = 0;
        bool ahead = false;  ///< asked for, and not touched yet
    };
    explicit LineTable(std::size_t lines) : mask_(std::bit_ceil(4 * lines + 16) - 1), entries_(mask_ + 1) {}
    Entry* find(std::uint64_t line, bool& fresh) {
        std::size_t at = (line * 0x9E3779B97F4A7C15ull >> 20) & mask_;
        while (entries_[at].line != ~0ull && entries_[at].line != line) at = (at + 1) & mask_;
        fresh = entries_[at].line == ~0ull;
        if (fresh) entries_[at].line = line;
        return &entries_[at];
    }

private:
    std::size_t mask_;
    std::vector<Entry> entries_;
};

struct Window {
    std::vector<std::uint32_t> op;
    std::vector<std::uint64_t> address;
    std::vector<std::uint8_t> taken;
    // Of loads and stores: 0 the first cache, up to mostCaches main memory; who brought the line or asked for it ahead,
    // −1: nobody in this window.
    std::vector<std::uint8_t> level;
    std::vector<std::int32_t> broughtBy, askedBy;
    std::array<double, mostCaches + 1> lines{};  ///< brought in from outside each cache; the last is not used
    std::array<double, mostCaches> waits{};      ///< cycles that entries for misses of each cache are held
    double written = 0;                          ///< lines that go back to memory
    std::size_t size() const { return op.size(); }
    void clear();
};

/// A line that a window touches for the first time, and which array of which straight line of the nest it belongs to.
struct FirstTouch {
    std::uint64_t line;
    std::int32_t node, array;
};

/// Where the lines of a window come from, from what the nest says of each straight line's lines. A share of them that
/// is missing is missing in stretches, for what comes again is what a loop around comes back to: a phase of the kernel,
/// told by a number from 0 to 1, misses what is missing in a greater share.
class WindowLevels {
public:
    /// `nodeOf` per static operation.
    WindowLevels(const LoopNest& nest, const NestReuse& reuse, const std::vector<int>& nodeOf,
                 const std::vector<BoundOp>& ops, const Machine& machine);
    /// Looks at a window; phases() are then its phases: how long each is, of all 1.
    void look(const Window& window);
    /// Of the window that was looked at.
    const std::vector<FirstTouch>& firstTouches() const { return touches_; }
    const std::vector<double>& phases() const { return lengths_; }
    /// From here on levels are those of this phase.
    void enter(std::size_t phase);
    /// Where a line stands that this straight line of the nest touches first: 0 the first cache, `mostCaches` memory.
    std::uint8_t levelOf(int node, int array) const;
    /// Sets the levels of the window as in that phase.
    void set(Window& window, std::size_t phase);

private:
    const LoopNest& nest_;
    const NestReuse& reuse_;
    const std::vector<int>& nodeOf_;
    const std::vector<BoundOp>& ops_;
    const Machine& machine_;
    std::vector<std::array<float, mostCaches>> share_;  ///< [node x arrays + array] of the lines that are new
    std::vector<FirstTouch> touches_;
    std::vector<double> lengths_;
    double at_ = 0;
};

/// What limits a pass.
struct FlowLimits {
    bool queues = false, caches = false;
};

class WindowFlow {
public:
    WindowFlow(const Machine& machine, const std::vector<BoundOp>& ops);
    /// Cycles per operation of a window that follows itself for ever; measured on its second turn.
    double cycles(const Window& window, const FlowLimits& limits);

private:
    const Machine& machine_;
    const std::vector<BoundOp>& ops_;
    std::array<double, mostCaches + 1> latency_{}, pace_{};
    std::vector<double> issue_, filled_, left_, loads_, stores_, general_, vectors_, misses_, waiting_;
};

}  // namespace orrery::pipeline
