#pragma once

// How a method's error grows from kernels to sums of kernels: by itself (errors that have nothing in common cancel, √N)
// or in full (all alike, N), as measured rows say.

#include "evaluation/evaluation.h"

#include <cstdint>
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

struct ErrorGrowth {
    std::vector<GrowthPoint> points;  ///< 1, 2, 4, … kernels
    /// Where the measured growth lies between the limits, in squares, over all sums of more than one: 0 for √N, 1 for
    /// N.
    double correlation = 0;
    std::size_t rows = 0, devices = 0;
};

/// Of an evaluation's rows, device by device. Draws without repetition, from `seed`; coverage by `assumed`, the
/// correlation with which half-widths are added. Empty where no device has two rows.
ErrorGrowth errorGrowth(const Evaluation& evaluation, std::span<const ReferenceTable> tables, double assumed,
                        std::uint64_t seed = 1, std::size_t draws = 400);

}  // namespace orrery
