// When two launches are the same kernel, and the roofline of one.

#include "methods/model/compose.h"

#include <algorithm>
#include <bit>
#include <tuple>

namespace orrery {

namespace {

auto fields(const Kernel& k) {
    const AttentionShape& a = k.attention;
    return std::tuple(k.kind, k.type, k.weightType, k.kvType, k.scaleBlock, k.quantisesInput, k.bias,
                      k.transposedWeight, k.function, k.operands, k.batch, k.m, k.n, k.k, a.batch, a.heads, a.kvHeads,
                      a.queries, a.keys, a.headDim, a.valueDim, a.causal, a.flash, k.window, k.collective, k.library,
                      k.ranks, k.messageBytes, k.flops, k.readBytes, k.writeBytes);
}

}  // namespace

std::uint64_t identity(const Kernel& k) {
    std::uint64_t hash = 0x9E3779B97F4A7C15ULL;
    const auto mix = [&hash](std::uint64_t word) {
        hash = (hash ^ word) * 0xD6E8FEB86659FD93ULL;
        hash ^= hash >> 32;
    };
    mix(static_cast<std::uint64_t>(k.kind) | static_cast<std::uint64_t>(k.type) << 8 |
        static_cast<std::uint64_t>(k.weightType) << 16 | static_cast<std::uint64_t>(k.operands) << 32);
    mix(static_cast<std::uint64_t>(k.batch) << 40 ^ static_cast<std::uint64_t>(k.m));
    mix(static_cast<std::uint64_t>(k.n) << 32 ^ static_cast<std::uint64_t>(k.k));
    mix(std::bit_cast<std::uint64_t>(k.flops));
    mix(std::bit_cast<std::uint64_t>(k.readBytes));
    mix(std::bit_cast<std::uint64_t>(k.writeBytes));
    for (const char c : k.function) mix(static_cast<std::uint64_t>(c));
    return hash;
}

bool sameKernel(const Kernel& a, const Kernel& b) {
    return fields(a) == fields(b) && a.convolution == b.convolution;
}

KernelPrice rooflinePrice(const DeviceView& device, const Kernel& kernel) {
    const bool matrix = kernel.kind == KernelKind::Gemm || kernel.kind == KernelKind::PrefillAttention ||
                        kernel.kind == KernelKind::DecodeAttention || kernel.kind == KernelKind::Convolution;
    const double peak = std::max(device.peak(matrix, kernel.type).value, 0.0);
    const double compute = peak > 0 ? kernel.flops / peak : 0;
    const double bandwidth = device.main().bandwidth.value;
    const double memory = bandwidth > 0 ? kernel.bytes() / bandwidth : 0;
    KernelPrice price;
    price.seconds = price.low = price.high = std::max(compute, memory);
    price.bound =
        compute >= memory ? Bound{compute > 0 ? BoundKind::Compute : BoundKind::None, -1} : Bound{BoundKind::Memory, 0};
    price.priced = false;
    price.domain = DomainVerdict::Outside;
    return price;
}

}  // namespace orrery
