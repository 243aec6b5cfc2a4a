#pragma once

// Devices and kernels made by hand for tests of the tile families.

#include "hardware/views/gpu_view.h"
#include "methods/tile/tile_family.h"

namespace orrery::fixture {

/// 100 multiprocessors at 1 GHz: 1 PFLOP/s bf16 (2 fp8), 25 TFLOP/s fp32 on vectors, 2 TB/s, 40 MB, links of 300 GB/s.
inline GpuView handmadeGpu() {
    GpuView gpu;
    gpu.sms = 100;
    gpu.subCores = 4;
    gpu.clock = 1e9;
    gpu.l2Bytes = 40e6;
    gpu.dramBytes = 80e9;
    gpu.dramBandwidth = 2e12;
    gpu.linkBandwidth = 300e9;
    const auto set = [&](UnitKind unit, DType type, double rate) {
        gpu.device.peaks[static_cast<std::size_t>(unit)][static_cast<std::size_t>(type)] = FlopsPerSecond(rate);
    };
    set(UnitKind::Tensor, DType::BF16, 1e15);
    set(UnitKind::Tensor, DType::F16, 1e15);
    set(UnitKind::Tensor, DType::FP8, 2e15);
    set(UnitKind::Vector, DType::F32, 25e12);
    set(UnitKind::Vector, DType::BF16, 25e12);
    return gpu;
}

inline Kernel attention(KernelKind kind, std::int64_t batch, std::int64_t heads, std::int64_t kvHeads,
                        std::int64_t length, std::int64_t headDim, DType type = DType::BF16) {
    Kernel kernel;
    kernel.kind = kind;
    kernel.type = kernel.weightType = kernel.kvType = type;
    const bool prefill = kind == KernelKind::PrefillAttention;
    kernel.attention = {batch, heads, kvHeads, prefill ? length : 1, length, headDim, headDim, prefill, true};
    return kernel;
}

inline Kernel collective(CollectiveOp op, std::int64_t ranks, double bytes,
                         CollectiveLibrary library = CollectiveLibrary::Nccl) {
    Kernel kernel;
    kernel.kind = KernelKind::Collective;
    kernel.collective = op;
    kernel.ranks = ranks;
    kernel.messageBytes = bytes;
    kernel.library = library;
    return kernel;
}

inline double nominalSeconds(const TileFamily& family, const Kernel& kernel, const GpuView& gpu) {
    return family.physics(kernel, gpu, nominalParameters(family)).seconds;
}

}  // namespace orrery::fixture
