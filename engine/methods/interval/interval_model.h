#pragma once

// Cycles of a kernel from one representative warp, cut into intervals that end where it waits. After Lee et al.,
// "GCoM", ISCA 2022 (intervals, interleaving of warps, structural stalls, idle multiprocessors), Wang et al., "MDM",
// MICRO 2020 (queues at network and DRAM, misses outstanding) and Cao et al., "AMALI", ISCA 2025 (tensor units whose
// latency is their initiation interval, launching of blocks). In cycles of the nominal clock. For w warps on the
// busiest sub-core and W on the multiprocessor, one interval takes
//
//   base      I·w                                      instructions, one issued per cycle
//   pipe      max over units of (busy·w or busy·W) − base, if positive
//   data      what the warp waits less what hides it:  max(0, L − (w−1)/w·(base+pipe)), and for a load that is needed d
//             rounds of the loop later                 max(0, L/(d+1) − (base+pipe))
//   queue     what bytes of all multiprocessors need at network and DRAM, or W's bytes by what may be outstanding in L,
//             beyond base+pipe+data
//
// Where GCoM adds the queue and lets only issued instructions hide a wait, here busy units hide it and transfers run
// beside them: kernels that load ahead (all of today's matrix products) would be counted twice otherwise.

#include "hardware/views/gpu_view.h"
#include "simulation/gpu/cycle_stack.h"

#include <array>
#include <string>
#include <vector>

namespace orrery {

enum class WarpUnit : std::uint8_t { Vector, Special, Tensor, LoadStore };
inline constexpr int warpUnitCount = 4;

/// What one warp does between two places where it may wait.
struct WarpInterval {
    double count = 1;         ///< times that it is run
    double instructions = 0;  ///< issued
    /// Cycles for which a unit is held: of the sub-core, load and store units of the whole multiprocessor.
    std::array<double, warpUnitCount> busy{};
    double wait = 0;                       ///< cycles from the last instruction to what it waits for, not of memory
    double loadBytes = 0, storeBytes = 0;  ///< past the first-level cache
    double dramShare = 1;                  ///< of them, that come from or go to main memory
    bool waitsForLoad = false;
    double ahead = 0;  ///< rounds of the loop by which loads run ahead
    /// Begins or ends a block: blocks on one multiprocessor are not in step and hide it for each other.
    bool edge = false;
    double& of(WarpUnit unit) { return busy[static_cast<std::size_t>(unit)]; }
    double of(WarpUnit unit) const { return busy[static_cast<std::size_t>(unit)]; }
};

struct WarpProgram {
    std::array<WarpInterval, 6> intervals;
    int length = 0;
    double warpsPerBlock = 1, blocks = 1;
    double registersPerThread = 32, sharedBytesPerBlock = 0;
    void add(const WarpInterval& interval) { intervals[static_cast<std::size_t>(length++)] = interval; }
};

struct IntervalMachine {
    double sms = 1, subCores = 4, warpsPerSm = 64, warpSize = 32;
    double registers = 65536, sharedBytes = 0, l2Bytes = 0;
    double clock = 1;
    double network = 0, dram = 0;      ///< bytes per cycle between L2 and all multiprocessors, and of main memory
    double sharedBytesPerCycle = 128;  ///< of one multiprocessor
    double missBytes = 0;              ///< outstanding in one multiprocessor at most
    double l1Latency = 0, l2Latency = 0, dramLatency = 0, sharedLatency = 0;
    std::array<double, dtypeCount> tensorMacs{}, vectorMacs{};  ///< per cycle and sub-core
    double specialOps = 4;                                      ///< per cycle and sub-core
    std::vector<std::string> assumptions;
};
IntervalMachine intervalMachine(const GpuView& gpu);

/// Blocks that fit one multiprocessor at once, at least 1.
double residentBlocks(const IntervalMachine& machine, const WarpProgram& program);
/// The mean over multiprocessors, where those that wait for the last one are idle: one round of `blocks` on one
/// multiprocessor while `active` of them run.
CycleStack roundStack(const IntervalMachine& machine, const WarpProgram& program, double blocks, double active);
/// The whole kernel. Allocates nothing.
CycleStack kernelStack(const IntervalMachine& machine, const WarpProgram& program);

/// Cycles to launch one block of so many warps: AMALI's law for A100, 0.0036·w² + 0.0366·w + 1.1891.
double blockLaunchCycles(double warps);

}  // namespace orrery
