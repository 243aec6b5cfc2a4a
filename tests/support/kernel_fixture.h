#pragma once

// Catalogue devices and kernels for tests of methods that price kernel by kernel.

#include "hardware/files/catalogue.h"
#include "hardware/views/gpu_view.h"
#include "workload/kernel.h"

namespace orrery::fixture {

inline GpuView gpu(const char* id) {
    const auto loaded = loadHardware(id);
    if (!loaded) return {};
    return gpuView(loaded->hardware).value_or(GpuView{});
}
inline Kernel product(std::int64_t m, std::int64_t n, std::int64_t k, DType type) {
    Kernel kernel;
    kernel.kind = KernelKind::Gemm;
    kernel.type = kernel.weightType = type;
    kernel.m = m;
    kernel.n = n;
    kernel.k = k;
    countWork(kernel);
    return kernel;
}
/// Of a vector operator: m rows of n elements.
inline Kernel rows(KernelKind kind, std::int64_t m, std::int64_t n, DType type) {
    Kernel kernel;
    kernel.kind = kind;
    kernel.type = kernel.weightType = type;
    kernel.m = m;
    kernel.n = n;
    if (kind == KernelKind::Elementwise) kernel.function = "Gelu";
    countWork(kernel);
    return kernel;
}

}  // namespace orrery::fixture
