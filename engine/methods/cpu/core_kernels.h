#pragma once

// Kernels of a drawn processor by the instructions that one of its cores runs (simulation/cpu/core): `core-windows` by
// what its resources demand of windows of them, `core-cycle` by units of the simulated pipeline.

#include "methods/kernel_method.h"

namespace orrery {

KernelMethod coreWindowKernels();
KernelMethod coreCycleKernels();

}  // namespace orrery
