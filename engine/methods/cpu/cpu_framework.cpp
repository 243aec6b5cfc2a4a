#include "methods/cpu/cpu_framework.h"

#include "methods/cpu/cpu_roofline.h"

#include <algorithm>
#include <cmath>

namespace orrery {

double freshPageSeconds(const FrameworkTimes& times, const Kernel& kernel) {
    constexpr double reused = 32.0 * 1024 * 1024, page = 4096;
    const double weights = kernel.kind == KernelKind::Convolution ? coreWeightBytes(kernel) : 0;
    return weights > reused ? times.page * std::ceil(weights / page) : 0;
}

double frameworkSeconds(const FrameworkTimes& times, const GpuView& cpu, const Kernel& kernel) {
    if (kernel.kind == KernelKind::Collective) return 0;
    const double weights = coreWeightBytes(kernel);
    const bool oneRow = kernel.kind == KernelKind::Gemm && kernel.m <= 1;
    // The roofline reads the weights of one row by all cores.
    if (oneRow) return times.call + std::max(0.0, times.row - 1 / cpu.dramBandwidth) * weights;
    return times.call + times.pack * weights + freshPageSeconds(times, kernel);
}

}  // namespace orrery
