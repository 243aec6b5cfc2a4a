#pragma once

// The least time that one kernel can take on a device: what no method may beat. Methods that fuse and bounds that do not
// would contradict each other, so the bound of an answer is the sum over the very kernels that it priced.

#include "hardware/views/device_view.h"
#include "workload/kernel.h"

namespace orrery {

/// max(operations ÷ peak, bytes ÷ bandwidth), in seconds; 0 for a collective and where the device states no rate. The
/// peak is the best that the device has for the kernel's type. Operands that fit into a cache may still be in it, so
/// that their bytes count at the bandwidth of the outermost cache that holds them (at no time where it states none).
/// Convolutions of 3 × 3 with stride 1 may do a quarter of the multiplications (Lavin and Gray: Fast Algorithms for
/// Convolutional Neural Networks, CVPR 2016, F(4×4, 3×3)).
double leastSeconds(const DeviceView& device, const Kernel& kernel);

}  // namespace orrery
