#pragma once

// `tile-hybrid`: the physical price of `tile-wave` × exp(learned correction). The correction is an ensemble of trees
// over physical features, fitted to ln(measured ÷ physical); physics carries it to shapes and devices that were not
// measured, as in NeuSight (Lee et al., "Forecasting GPU Performance for Deep Learning Training and Inference", ASPLOS
// 2025), where a learned utilisation law is bounded by the roofline.

#include "methods/kernel_method.h"

namespace orrery {

KernelMethod tileHybridKernels();

}  // namespace orrery
