#pragma once

// `gpu-cycle` and `gpu-interval`: kernels of a drawn GPU from templates of instructions, cycle by cycle
// (simulation/gpu) or each instruction once (simulation/gpu/interval).

#include "methods/kernel_method.h"

namespace orrery {

KernelMethod gpuCycleKernels();
KernelMethod gpuIntervalKernels();

}  // namespace orrery
