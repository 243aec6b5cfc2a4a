#pragma once

// `gpu-cycle` and `gpu-interval`: kernels of a drawn GPU from templates of instructions, cycle by cycle
// (simulation/gpu) or each instruction once (simulation/gpu/interval).

#include "methods/kernel_method.h"

#include <optional>

namespace orrery {

KernelMethod gpuCycleKernels();
KernelMethod gpuIntervalKernels();

/// Least and greatest measured over simulated time of the rows that the card of the method names.
struct SimulatedSpread {
    double low = 1, high = 1;
};
/// Of `gpu-cycle` for such a kernel on a device with so many lanes in a warp; nothing where no such kernel has been
/// measured: of wavefronts of 64 none has.
std::optional<SimulatedSpread> cycleSpreadOf(const Kernel& kernel, int lanes);

}  // namespace orrery
