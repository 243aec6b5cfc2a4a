#pragma once

// Kernels on a systolic array: simulation/systolic over every product of matrices and convolution, everything else by
// its roofline.

#include "methods/kernel_method.h"

namespace orrery {

KernelMethod systolicCycleKernels();
KernelMethod systolicClosedFormKernels();

}  // namespace orrery
