#pragma once

// Gradient-boosted trees (Friedman, "Greedy function approximation", Annals of Statistics 29, 2001; XGBoost) over plain
// features: what is usually tried first on tables of measured kernels.

#include "methods/kernel_method.h"

namespace orrery {

KernelMethod boosterKernels();

}  // namespace orrery
