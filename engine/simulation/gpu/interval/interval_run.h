#pragma once

// Kernels of a list by the interval model: every instruction and every hop of a sector once, at the time that servers
// with queues allow, instead of every cycle of every part.

#include "simulation/gpu/cycle_stack.h"
#include "simulation/gpu/simulate.h"

namespace orrery::gpusim {

struct IntervalResult : KernelResult {
    CycleStack stack;                ///< of `cycles`, by cause, along the path of the warp that ends last
    std::uint64_t intervals = 0;     ///< on that path: stretches without a wait
    std::uint64_t instructions = 0;  ///< on that path
    double readSeconds = 0;          ///< of the host: reading the trace
};

/// Fails as `simulate` does.
Expected<std::vector<IntervalResult>> simulateIntervals(const Machine& machine,
                                                        const std::vector<TraceCommand>& commands,
                                                        const SimulateOptions& options = {});

/// One kernel on a machine whose caches are empty.
Expected<IntervalResult> simulateIntervals(const Machine& machine, KernelSource& kernel,
                                           const SimulateOptions& options = {});

}  // namespace orrery::gpusim
