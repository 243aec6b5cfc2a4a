#include "methods/model/kernel_bound.h"

#include "workload/costs.h"

#include <algorithm>

namespace orrery {

namespace {

constexpr double winograd = 4;

double operationsOf(const Kernel& kernel) {
    switch (kernel.kind) {
        case KernelKind::Gemm: {
            const double products = 2.0 * static_cast<double>(kernel.batch) * static_cast<double>(kernel.m) *
                                    static_cast<double>(kernel.n) * static_cast<double>(kernel.k);
            return std::min(products, kernel.flops);
        }
        case KernelKind::Convolution: {
            const ConvolutionShape& c = kernel.convolution;
            const bool fast = c.kernelHeight == 3 && c.kernelWidth == 3 && c.stride == 1 && c.dilation == 1;
            return fast ? kernel.flops / winograd : kernel.flops;
        }
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention: {
            const AttentionShape& a = kernel.attention;
            const double products = 2 * static_cast<double>(a.batch) * static_cast<double>(a.heads) *
                                    attentionPairs(a) * static_cast<double>(a.headDim + a.valueDim);
            return products > 0 ? std::min(products, kernel.flops) : kernel.flops;
        }
        default:
            return kernel.flops;
    }
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

// Weights of one launch that come from main memory whatever caches keep from one pass to the next.
double streamedBytes(const DeviceView& device, const BoundingWork& work) {
    if (work.weightBytes <= 0 || work.passWeightBytes <= 0) return 0;
    double kept = 0;
    for (std::size_t l = 1; l < device.levels.size(); ++l) kept = std::max(kept, device.levels[l].capacity.value);
    return work.weightBytes * std::max(0.0, 1 - kept / work.passWeightBytes);
}

}  // namespace

BoundingWork workOf(const Launch& launch) {
    BoundingWork work = workOf(launch.kernel);
    work.weightBytes = launch.weightBytes, work.passWeightBytes = launch.passWeightBytes;
    return work;
}

BoundingWork workOf(const Kernel& kernel) {
    if (kernel.kind == KernelKind::Collective) return {kernel.type, 0, 0};
    return {kernel.type, operationsOf(kernel), kernel.bytes()};
}

double secondsPerOperation(const DeviceView& device, DType type) {
    const double peak = std::max(device.peak(true, type).value, device.peak(false, type).value);
    return peak > 0 ? 1 / peak : 0;
}

double leastSeconds(const DeviceView& device, const BoundingWork& work, double perOperation) {
    const double bandwidth = bandwidthFor(device, work.bytes);
    const double main = device.main().bandwidth.value;
    const double streamed = main > 0 ? streamedBytes(device, work) / main : 0;
    return std::max({work.operations * perOperation, bandwidth > 0 ? work.bytes / bandwidth : 0, streamed});
}

double leastSeconds(const DeviceView& device, const Launch& launch) {
    const BoundingWork work = workOf(launch);
    return leastSeconds(device, work, secondsPerOperation(device, work.type));
}

double leastSeconds(const DeviceView& device, const Kernel& kernel) {
    const BoundingWork work = workOf(kernel);
    return leastSeconds(device, work, secondsPerOperation(device, work.type));
}

}  // namespace orrery
