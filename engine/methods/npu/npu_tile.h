#pragma once

// Tile-level simulation of a neural processing unit (the class of ONNXim and PyTorchSim): simulation/npu, kernel by
// kernel.

#include "methods/kernel_method.h"

namespace orrery {

KernelMethod npuTileKernels();

}  // namespace orrery
