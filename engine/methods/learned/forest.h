#pragma once

// A random forest (Breiman, "Random forests", Machine Learning 45, 2001) over plain features: deep trees on drawn rows
// and features, averaged. It cannot leave the range of what it has seen.

#include "methods/kernel_method.h"

namespace orrery {

KernelMethod forestKernels();

}  // namespace orrery
