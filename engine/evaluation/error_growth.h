#pragma once

// How a method's error grows from kernels to sums of kernels, by itself (errors that have nothing in common cancel, √N)
// or in full (all alike, N), and on to what was measured whole: a pass, a training step, a serving run, where software,
// networks and schedules add to what kernels explain.

#include "evaluation/evaluation.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace orrery {

/// Of sums of `kernels` measured kernels of one device, drawn at random: root mean squares over the draws, relative to
/// the measured sum.
struct GrowthPoint {
    std::size_t kernels = 1;
    double measured = 0;     ///< |Σ(predicted − measured)| ÷ Σ measured
    double independent = 0;  ///< √Σ(predicted − measured)² ÷ Σ measured
    double common = 0;       ///< Σ|predicted − measured| ÷ Σ measured
    /// Share of sums that lie within the interval of sides that add as the given correlation says.
    double coverage = 0;
};

/// Of questions that were measured whole.
struct LevelPoint {
    TaskKind task = TaskKind::Pass;
    std::size_t rows = 0;
    double measured = 0;  ///< root mean square of (predicted − measured) ÷ measured
    double median = 0;    ///< of its size
    double coverage = 0;  ///< share inside the 90 % interval of the answer
};

/// `one pass`, `training step`, `serving run`.
std::string_view levelName(TaskKind task);

struct ErrorGrowth {
    std::vector<GrowthPoint> points;  ///< 1, 2, 4, … kernels
    std::vector<LevelPoint> levels;   ///< in the order of TaskKind; only those that rows are of
    /// Where the measured growth lies between the limits, in squares, over all sums of more than one: 0 for √N, 1 for
    /// N.
    double correlation = 0;
    std::size_t rows = 0, devices = 0;  ///< of kernels
};

/// Of an evaluation's rows, kernels device by device. Draws without repetition, from `seed`; coverage by `assumed`, the
/// correlation with which half-widths are added. No points where no device has two kernels, no levels where no row is
/// whole.
ErrorGrowth errorGrowth(const Evaluation& evaluation, std::span<const ReferenceTable> tables, double assumed,
                        std::uint64_t seed = 1, std::size_t draws = 400);

}  // namespace orrery
