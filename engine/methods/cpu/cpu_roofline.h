#pragma once

// Computing and moving on a processor's cores, with a constant per call and a stretch of either per kind of kernel,
// fitted to measured kernels: what `orrery-cli measure` and `calibrate` close the loop with on a machine of one's own.

#include "methods/kernel_method.h"

namespace orrery {

/// What bounds a kernel, before anything is fitted.
struct CoresTime {
    double compute = 0, memory = 0;  ///< s
    std::int16_t level = 0;          ///< index of the device's levels that activations come from
    std::int16_t slowest = 0;        ///< the one that takes longest: `level`, or main memory for the weights
};
/// Of one launch. `cpu` as cpuView() gives. Both are 0 for a kernel that does and moves nothing, and for collectives.
CoresTime coresSeconds(const GpuView& cpu, const Kernel& kernel);
/// Weights of a product or convolution as they are stored; 0 for other kernels.
double coreWeightBytes(const Kernel& kernel);

KernelMethod cpuRooflineMethod();

}  // namespace orrery
