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
/// Of `gpu-cycle` for such a kernel; nothing where no such kernel has been measured.
std::optional<SimulatedSpread> cycleSpreadOf(const Kernel& kernel);

}  // namespace orrery
