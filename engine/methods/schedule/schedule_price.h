#pragma once

// What a compiler's schedule takes on a drawn device, from its loops alone: nothing is fitted to any log.
//
// On a GPU it is the physics of `tile-wave` for products on vector units (tile/tile_wave_simt.h) with the tile that the
// schedule says instead of one of a library's, and beside the arithmetic of a block the slowest of
//   shared    W · (rows + outputs of a thread) · k loads, and a load and a store for each element that a thread copies
//             there, each a cycle of shared memory for a warp
//   lanes     warps that are not full multiply for nothing
//   steps     k ÷ step times the latency of L2, over the blocks that a multiprocessor holds
// with W warps of a block. How neighbours read side by side is not priced, nor is known what a compiler refuses.
//
// On a CPU a tile takes the slowest of its multiply-adds, its loads (two a cycle) and the chain of its sums (four
// cycles each; Fog, "Instruction tables": FMA of Haswell to Ice Lake), and what registers cannot hold is stored and
// loaded. Cores share tasks, and the last turn counts as a whole. Each level of cache passes what the levels inside it
// could not keep: rows again for each tile across unless a tile's operands fit, outputs again for each tile down unless
// they all fit. Vectors run along outputs; along the reduction in AutoTVM's products whose weights are not packed. A
// loop that a schedule does not split runs step by step around its tiles. Computing and moving add up, as in
// `cpu-roofline`.

#include "hardware/views/gpu_view.h"
#include "learning/schedules/tuning_log.h"

#include <optional>

namespace orrery {

struct SchedulePrice {
    double seconds = 0;                          ///< 0: it cannot run: too many threads, too much shared memory
    double compute = 0, memory = 0, inside = 0;  ///< s before they overlap; inside: pipes of a multiprocessor
};

/// A device that schedules run on: a GPU, or a processor as `cpuView()` gives it.
struct ScheduleDevice {
    GpuView view;
    bool gpu = false;
};
/// Fails with `method.not-applicable` for a device that is neither.
Expected<ScheduleDevice> scheduleDevice(const Hardware& hardware);

/// Nothing for an operator that is priced otherwise (depthwise, winograd, transposed), for elements that are not of
/// four bytes (on a GPU: nor of two), for 2⁶² multiply-adds and more, and for a schedule of the other kind of device.
std::optional<SchedulePrice> priceSchedule(const TunedRow& row, const ScheduleDevice& device);

}  // namespace orrery
