#pragma once

// Tile-level simulation of a neural processing unit (the class of ONNXim and PyTorchSim): simulation/npu over a whole
// graph.

#include "methods/method.h"

namespace orrery {

Method npuTileMethod();

}  // namespace orrery
