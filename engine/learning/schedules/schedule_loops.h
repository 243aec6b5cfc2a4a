#pragma once

// How a schedule splits the loops of its operator.

#include "learning/schedules/tuning_log.h"

#include <array>

namespace orrery {

enum LoopRole : std::size_t { Rows, Columns, Outputs, Reduction, loopRoles };

struct LoopSplit {
    std::array<double, 4> parts{1, 1, 1, 1};  ///< innermost last
    std::size_t count = 0;
    double inner() const { return parts[3]; }
    double outer() const { return count > 1 ? parts[4 - count] : parts[3]; }
};

/// On a GPU the outermost of four parts is of blocks, then of virtual threads, of threads, of one thread; of three
/// there are no virtual ones.
struct ScheduleLoops {
    std::array<LoopSplit, loopRoles> splits;
    bool gpu = false;
    double unroll = 0, explicitly = 0;
    double tasks = 1;                          ///< blocks of a GPU; what cores take one by one
    double taskRows = 1, taskOutputs = 1;      ///< results of one task: rows (and columns), and outputs
    double tileRows = 1, tileOutputs = 1;      ///< of the innermost loops
    double threads = 1, rowThreads = 1;        ///< of a block; 1 off a GPU
    double threadRows = 1, threadOutputs = 1;  ///< results of a thread
    double step = 1;                           ///< of the reduction, between two loads of shared memory

    double virtualThreads(LoopRole role) const { return splits[role].count >= 4 ? splits[role].parts[1] : 1; }
};
/// A loop that the schedule does not split is one part: its whole extent, or what a knob of one number says.
ScheduleLoops loopsOf(const TunedRow& row);
/// Tasks, tiles, threads and steps again, from the splits.
void countLoops(const TunedRow& row, ScheduleLoops& loops);

/// Blocks that one multiprocessor holds at once, by warps, blocks and 64 KiB of shared memory. Blocks are half as many
/// as warps (CUDA C++ Programming Guide, compute capabilities 5.0 to 9.0 but 8.6, which has a third); 64 warps where
/// the log does not say. Registers are the compiler's to choose and do not count.
double residentBlocks(const TunedRow& row, const ScheduleLoops& loops);
/// Share of a GPU's places that its blocks fill: 1 where they are more than these, or where its multiprocessors are not
/// known.
double filledPlaces(const TunedRow& row);

}  // namespace orrery
