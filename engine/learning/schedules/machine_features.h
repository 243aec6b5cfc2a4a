#pragma once

// What a schedule asks of the machine: vectors and registers of a core, caches of its task; places, issue and memory of
// a GPU. Logarithms are of base 2.

#include "learning/schedules/schedule_loops.h"

#include <span>
#include <string_view>

namespace orrery {

/// Which loop is vectorised is TVM's: the reduction's innermost where a product's weights are not packed, else the
/// outputs'. Registers are counted as of 64 and of 32 bytes. Of GPUs the shape of a task alone.
inline constexpr std::array<std::string_view, 17> vectorFeatureNames{
    "reduction is vector",    "vector bytes",           "64 B vectors filled",    "32 B vectors filled",
    "sums in 64 B registers", "sums in 32 B registers", "loads per multiply-add", "unrolled body",
    "work of a task",         "operands of a task",     "row operands of a task", "output operands of a task",
    "results of a task",      "traffic over the least", "traffic per flop",       "operands of a tile",
    "reduction steps"};
void vectorFeatures(const TunedRow& row, const ScheduleLoops& loops, std::span<double> out);

/// Of GPUs alone: occupancy, shared memory's loads per multiply-add, how many neighbours a warp reads side by side.
inline constexpr std::array<std::string_view, 17> blockFeatureNames{"registers of a thread",
                                                                    "resident blocks",
                                                                    "resident warps",
                                                                    "resident sums",
                                                                    "shared loads per multiply-add",
                                                                    "warps of all",
                                                                    "copied by a thread",
                                                                    "rows of a thread",
                                                                    "outputs of a thread",
                                                                    "threads side by side",
                                                                    "results side by side of a thread",
                                                                    "results side by side",
                                                                    "neighbours of a warp",
                                                                    "step",
                                                                    "steps",
                                                                    "flops per byte of blocks",
                                                                    "work of a thread"};
void blockFeatures(const TunedRow& row, const ScheduleLoops& loops, std::span<double> out);

}  // namespace orrery
