#include "methods/learned/plain_features.h"

#include <array>
#include <cassert>
#include <cmath>
#include <vector>

namespace orrery {

namespace {

double logOf(double value) {
    return value > 0 ? std::log(value) : 0;
}

std::vector<std::string_view> extentNames(KernelKind kind) {
    switch (kind) {
        case KernelKind::Gemm:
            return {"ln batch", "ln m", "ln n", "ln k", "weight bits", "scale block", "bias"};
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention:
            return {"ln batch",    "ln heads",   "ln kv heads", "ln queries", "ln keys",
                    "ln head dim", "cache bits", "causal",      "ln window"};
        case KernelKind::Elementwise:
        case KernelKind::Softmax:
        case KernelKind::Normalization:
            return {"ln m", "ln n", "operands", "flops per element"};
        case KernelKind::Convolution:
            return {"ln batch", "ln in channels", "ln out channels", "ln groups", "ln height",
                    "ln width", "ln kernel",      "ln out height",   "stride"};
        case KernelKind::Collective:
            return {"ln message", "ln ranks", "operation", "own library"};
        default:
            return {};
    }
}

// The extents of a kernel, in the order of their names.
void extents(const Kernel& kernel, double*& out) {
    const auto add = [&](double value) { *out++ = value; };
    const auto log = [&](auto value) { *out++ = logOf(double(value)); };
    switch (kernel.kind) {
        case KernelKind::Gemm:
            log(kernel.batch), log(kernel.m), log(kernel.n), log(kernel.k);
            add(bits(kernel.weightType)), add(kernel.scaleBlock), add(kernel.bias ? 1 : 0);
            break;
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention: {
            const AttentionShape& a = kernel.attention;
            log(a.batch), log(a.heads), log(a.kvHeads), log(a.queries), log(a.keys), log(a.headDim);
            add(bits(kernel.kvType)), add(a.causal ? 1 : 0), log(kernel.window > 0 ? kernel.window : a.keys);
            break;
        }
        case KernelKind::Elementwise:
        case KernelKind::Softmax:
        case KernelKind::Normalization:
            log(kernel.m), log(kernel.n), add(kernel.operands);
            add(kernel.flops / std::max(1.0, double(kernel.m) * double(kernel.n)));
            break;
        case KernelKind::Convolution: {
            const ConvolutionShape& c = kernel.convolution;
            log(c.batch), log(c.inChannels), log(c.outChannels), log(c.groups), log(c.height), log(c.width);
            log(c.kernelHeight * c.kernelWidth), log(c.outHeight), add(double(c.stride));
            break;
        }
        case KernelKind::Collective:
            log(kernel.messageBytes), log(kernel.ranks), add(double(kernel.collective));
            add(kernel.library == CollectiveLibrary::Custom ? 1 : 0);
            break;
        default:
            break;
    }
}

constexpr std::array<std::string_view, 8> common{"ln flops",          "ln bytes", "ln intensity", "ln peak",
                                                 "ln DRAM bandwidth", "ln SMs",   "ln L2 bytes",  "ln link bandwidth"};

}  // namespace

std::span<const std::string_view> plainFeatureNames(KernelKind kind) {
    static const auto all = [] {
        std::array<std::vector<std::string_view>, kernelKindCount> names;
        for (int i = 0; i < kernelKindCount; ++i) {
            names[std::size_t(i)] = extentNames(KernelKind(i));
            names[std::size_t(i)].insert(names[std::size_t(i)].end(), common.begin(), common.end());
        }
        return names;
    }();
    return all[std::size_t(kind)];
}

void plainFeatures(const Kernel& kernel, const GpuView& gpu, std::span<double> out) {
    assert(out.size() >= plainFeatureNames(kernel.kind).size());
    double* next = out.data();
    extents(kernel, next);
    const bool matrix = kernel.kind == KernelKind::Gemm || kernel.kind == KernelKind::Convolution ||
                        kernel.kind == KernelKind::PrefillAttention || kernel.kind == KernelKind::DecodeAttention;
    const double bytes = kernel.kind == KernelKind::Collective ? kernel.messageBytes : kernel.bytes();
    *next++ = logOf(kernel.flops);
    *next++ = logOf(bytes);
    *next++ = logOf(bytes > 0 ? kernel.flops / bytes : 0);
    *next++ = logOf(gpu.peak(matrix, kernel.type));
    *next++ = logOf(gpu.dramBandwidth);
    *next++ = logOf(gpu.sms);
    *next++ = logOf(gpu.l2Bytes);
    *next++ = logOf(gpu.linkBandwidth);
}

}  // namespace orrery
