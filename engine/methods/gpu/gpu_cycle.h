#pragma once

// `gpu-cycle`: kernels of a drawn GPU, cycle by cycle, from templates of instructions (simulation/gpu).

#include "methods/kernel_method.h"

namespace orrery {

KernelMethod gpuCycleKernels();

}  // namespace orrery
