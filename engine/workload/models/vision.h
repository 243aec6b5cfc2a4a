#pragma once

// Image models, as torchvision defines them: batch normalisation stands as an operator of its own, as in its modules.
// (An exported ONNX file has it folded into the convolution before it.)

#include "workload/models/builder.h"

namespace orrery {

Graph buildResNet50(const WorkloadOptions& options);

}  // namespace orrery
