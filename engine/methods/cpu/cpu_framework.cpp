#include "methods/cpu/cpu_framework.h"

#include "methods/cpu/cpu_roofline.h"

#include <algorithm>

namespace orrery {

double frameworkSeconds(const FrameworkTimes& times, const GpuView& cpu, const Kernel& kernel) {
    if (kernel.kind == KernelKind::Collective) return 0;
    const double weights = coreWeightBytes(kernel);
    const bool oneRow = kernel.kind == KernelKind::Gemm && kernel.m <= 1;
    // The roofline reads the weights of one row by all cores.
    if (oneRow) return times.call + std::max(0.0, times.row - 1 / cpu.device.main().bandwidth.value) * weights;
    return times.call + times.pack * weights;
}

}  // namespace orrery
