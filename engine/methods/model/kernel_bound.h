#pragma once

// The least time that one kernel can take on a device: what no method may beat. Methods that fuse and bounds that do
// not would contradict each other, so the bound of an answer is the sum over the very kernels that it priced.

#include "hardware/views/device_view.h"
#include "methods/model/launches.h"
#include "workload/kernel.h"

namespace orrery {

/// What bounds a kernel, free of its shape.
struct BoundingWork {
    DType type = DType::F16;
    double operations = 0;  ///< that no algorithm avoids and that all go to the unit with the best peak
    double bytes = 0;       ///< of operands, each once
    double weightBytes = 0, passWeightBytes = 0;  ///< as Launch has them
};
/// Nothing for a collective. Convolutions of 3 × 3 with stride 1 may do a quarter of the multiplications (Lavin and
/// Gray: Fast Algorithms for Convolutional Neural Networks, CVPR 2016, F(4×4, 3×3)). Of products and
/// attention the multiplications alone count: bias and softmax may run on other units beside them.
BoundingWork workOf(const Kernel& kernel);
BoundingWork workOf(const Launch& launch);

/// At the best peak that the device has for the type, in seconds; 0 where it has none.
double secondsPerOperation(const DeviceView& device, DType type);

/// max(operations ÷ peak, bytes ÷ bandwidth), in seconds; 0 for a collective and where the device states no rate. The
/// peak is the best that the device has for the kernel's type. Operands that fit into a cache may still be in it, so
/// that their bytes count at the bandwidth of the fastest cache that holds them (at no time where it states none); but
/// of weights that a pass reads once, main memory sends at least what the largest cache does not hold of all of them.
double leastSeconds(const DeviceView& device, const Kernel& kernel);
double leastSeconds(const DeviceView& device, const Launch& launch);
/// The same, `perOperation` looked up before: for many kernels in a row.
double leastSeconds(const DeviceView& device, const BoundingWork& work, double perOperation);

}  // namespace orrery
