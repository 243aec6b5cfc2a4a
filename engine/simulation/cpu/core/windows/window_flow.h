#pragma once

// One window of operations: where its data come from, and how long it takes when some resources limit it and others do
// not. A pass is a dataflow in program order, in the manner of Karkhanis and Smith (ISCA 2004), without a calendar.

#include "simulation/cpu/core/machine.h"
#include "simulation/cpu/core/windows/reuse.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace orrery::pipeline {

struct Window {
    std::vector<std::uint32_t> op;
    std::vector<std::uint64_t> address;
    std::vector<std::uint8_t> taken, mispredicted;
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
    const std::vector<double>& phases() const { return lengths_; }
    /// Sets the levels of the window as in that phase.
    void set(Window& window, std::size_t phase);

private:
    std::uint8_t levelOf(int node, int array) const;
    const LoopNest& nest_;
    const NestReuse& reuse_;
    const std::vector<int>& nodeOf_;
    const std::vector<BoundOp>& ops_;
    const Machine& machine_;
    std::vector<std::array<float, mostCaches>> share_;  ///< [node x arrays + array] of the lines that are new
    std::vector<double> lengths_;
    double at_ = 0;
};

/// What limits a pass.
struct FlowLimits {
    bool width = false, ports = false, queues = false, caches = false, branches = false;
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
    std::vector<double> issue_, filled_, left_, decoded_, loads_, stores_, general_, vectors_, misses_, waiting_;
    std::vector<double> storeDone_;
};

}  // namespace orrery::pipeline
