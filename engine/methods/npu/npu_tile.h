#pragma once

// Tile-level simulation of a neural processing unit (the class of ONNXim and PyTorchSim): simulation/npu, kernel by
// kernel.

#include "methods/kernel_method.h"

namespace orrery {

KernelMethod npuTileKernels();

/// `sample=tiles`: of a large product on a machine with accumulators a few output tiles of each shape are simulated,
/// and speak for the others of their shape. Refused with `npu.no-sampling` on other machines.
inline constexpr std::string_view npuSampleKey = "sample", npuSampleTiles = "tiles";
/// What it takes, on the machine of npu-tile's own rates.
inline constexpr CostModel npuSampledCost{.fixed = 3.3e-5, .perOperator = 0, .perKernel = 2e-5, .perCycle = 3e-12};
/// How far, in ln, nine of ten kernels lie from their whole simulation at most: three times what
/// tests/methods/tst_npu_sampling.cpp finds on models of its own. Of some of these, on one array, an earlier sampler's
/// errors were known when this was stated.
inline constexpr double npuSampledError = 0.005;

}  // namespace orrery
