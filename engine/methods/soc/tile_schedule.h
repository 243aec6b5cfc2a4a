#pragma once

// Tiles of one kernel through a processor that prepares them, a way that carries them and accelerators that compute
// them: when each is where, and a bill of the time whose parts add up.

#include "methods/kernel_method.h"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

/// One invocation of an accelerator, in seconds; what need not be done (again) is 0.
struct TileJob {
    double prepare = 0;  ///< the processor makes its tiles
    double in = 0, compute = 0, out = 0;
    double gather = 0;  ///< the processor puts the tile of results back
    std::int32_t accelerator = 0;
};

/// Every moment counts once: to the accelerators while any computes, else to the way while it carries, else to the
/// processor.
struct TileBill {
    double seconds = 0;  ///< compute + transfer + preparation, exactly
    double compute = 0, transfer = 0, preparation = 0;
};

enum class TileBuffers : std::uint8_t {
    One,  ///< all is prepared, then each accelerator loads, computes and stores in turn, then all is gathered
    Two   ///< a tile is loaded while the one before is computed, and prepared while others are
};

/// Rows of spans: the processor's work, then for each accelerator its transfers and its computing.
inline constexpr std::int32_t preparationRow = 1;
inline std::int32_t transferRow(std::int32_t accelerator) {
    return 2 + 2 * accelerator;
}
inline std::int32_t computeRow(std::int32_t accelerator) {
    return 3 + 2 * accelerator;
}

/// The way carries one transfer in and one out at a time, whichever was ready first. Behind it stands something that
/// both directions share, and that each transfer takes for the part `shared` (0 … 1) of its time: with 1, the way of a
/// bus, one transfer is carried at a time. Jobs of one accelerator run in their order, and the processor prepares in
/// the order of all jobs, before it gathers. No moment passes in which nobody works. O(jobs · log accelerators). Spans,
/// where they are asked for, are those of at most `pieces` runs of jobs for each accelerator: in each every part is as
/// long as in all of its jobs.
TileBill scheduleTiles(std::span<const TileJob> jobs, std::int32_t accelerators, TileBuffers buffers,
                       std::vector<KernelSpan>* spans = nullptr, std::size_t pieces = 16, double shared = 1);

}  // namespace orrery
