#pragma once

// A schedule as the program that it makes: loops with their extents, what each is to the machine, what stands inside,
// and how many bytes the loops from there on touch.

#include "learning/schedules/tuning_log.h"

#include <array>
#include <string_view>

namespace orrery {

enum class LoopMark { Serial, Parallel, Vectorized, Unrolled, Block, VirtualThread, Thread };
std::string_view toText(LoopMark mark);  ///< `parallel`, …

enum class NestDimension : std::size_t { Batch, Rows, Columns, Outputs, Inputs, KernelRows, KernelColumns };
inline constexpr std::size_t nestDimensions = 7;
/// How far loops go in each dimension of the operator; 1 where they do not.
using NestExtents = std::array<double, nestDimensions>;
inline constexpr NestExtents noExtents{1, 1, 1, 1, 1, 1, 1};

/// Bytes of input, weights and results that so much of an operator touches, each once. The whole touches
/// TensorWork::bytes(), or less where strides leave out some of the input.
double touchedBytes(const TensorWork& work, const NestExtents& extents);

struct NestLine {
    int depth = 0;
    bool loop = false;
    std::string name;  ///< of a loop: `row_0`, of a fused one `batch·row_0`; else what is done: `out += in × weights`
    double extent = 0;  ///< iterations; 0: the log does not say
    LoopMark mark = LoopMark::Serial;
    std::string axis;  ///< that it is bound to: `blockIdx.x`
    bool reduces = false;
    /// Of one run of this loop with all that stands in it, on the way to the multiply-adds; 0 elsewhere.
    double bytes = 0, flops = 0;
};

struct ScheduleNest {
    std::vector<NestLine>
        lines;          ///< as a program: what stands inside follows, one deeper. Loops of one step are left out
    std::string basis;  ///< where order and marks are from
    double unroll = 0;  ///< the compiler unrolls loops of up to so many steps; 0: it does not
};

/// Of an Ansor record its own steps, replayed. Of AutoTVM the log states sizes only: order and marks are those of TVM's
/// template (topi, 2020). Of other templates, and of steps that cannot be followed, they are the usual ones, and the
/// basis says so. Fails with `schedules.nest` for Winograd, whose loops go over transformed tiles, and for
/// VTA's blocks.
Expected<ScheduleNest> scheduleNestOf(const TunedRow& row);
/// `for row_0 in 0..16:  # parallel`, indented by two.
std::string codeOf(const ScheduleNest& nest);

}  // namespace orrery
