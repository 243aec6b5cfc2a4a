#include "methods/model/kernel_bound.h"

#include <algorithm>

namespace orrery {

namespace {

constexpr double winograd = 4;

double operations(const Kernel& kernel) {
    const ConvolutionShape& c = kernel.convolution;
    const bool fast = kernel.kind == KernelKind::Convolution && c.kernelHeight == 3 && c.kernelWidth == 3 &&
                      c.stride == 1 && c.dilation == 1;
    return fast ? kernel.flops / winograd : kernel.flops;
}

// The bandwidth that its bytes move at, at most; 0: no limit is known.
double bandwidthFor(const DeviceView& device, double bytes) {
    double bandwidth = device.main().bandwidth.value;
    for (std::size_t l = 1; l < device.levels.size(); ++l) {
        const MemoryLevel& level = device.levels[l];
        if (level.kind != ComponentKind::Cache && level.kind != ComponentKind::Buffer) continue;
        if (level.capacity.value < bytes) break;
        bandwidth = level.bandwidth.value > 0 ? std::max(bandwidth, level.bandwidth.value) : 0;
        if (bandwidth <= 0) break;
    }
    return bandwidth;
}

}  // namespace

double leastSeconds(const DeviceView& device, const Kernel& kernel) {
    if (kernel.kind == KernelKind::Collective) return 0;
    const double peak = std::max(device.peak(true, kernel.type).value, device.peak(false, kernel.type).value);
    const double compute = peak > 0 ? operations(kernel) / peak : 0;
    const double bandwidth = bandwidthFor(device, kernel.bytes());
    return std::max(compute, bandwidth > 0 ? kernel.bytes() / bandwidth : 0);
}

}  // namespace orrery
