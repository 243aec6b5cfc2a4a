#include "measurement/measure.h"

#include <utility>

namespace orrery {

namespace {

Kernel typed(KernelKind kind, DType type) {
    Kernel kernel;
    kernel.kind = kind;
    kernel.type = kernel.weightType = kernel.kvType = type;
    return kernel;
}

// Output and reduction of a linear layer: small networks to a layer of a small language model.
constexpr std::pair<std::int64_t, std::int64_t> layers[] = {
    {64, 64},     {128, 512},  {512, 128},  {384, 384},   {768, 768},   {1024, 256},  {1000, 1280},
    {1024, 1024}, {3072, 768}, {768, 3072}, {2048, 2048}, {4096, 1024}, {1024, 4096}, {11008, 512}};
constexpr std::int64_t tokens[] = {1, 4, 16, 48, 128, 512};

void addProducts(std::vector<Kernel>& all, DType type) {
    for (const auto& [n, k] : layers) {
        for (const std::int64_t m : tokens) {
            if (m * n * k > 1'200'000'000) continue;
            Kernel kernel = typed(KernelKind::Gemm, type);
            kernel.m = m, kernel.n = n, kernel.k = k;
            kernel.transposedWeight = true;
            all.push_back(kernel);
        }
    }
}

void addAttention(std::vector<Kernel>& all, KernelKind kind, DType type) {
    for (const std::int64_t heads : {4, 12, 16}) {
        for (const std::int64_t keys : {32, 128, 256, 512, 1024}) {
            Kernel kernel = typed(kind, type);
            auto& shape = kernel.attention;
            shape.heads = shape.kvHeads = heads;
            shape.keys = keys;
            shape.queries = kind == KernelKind::DecodeAttention ? 1 : keys;
            all.push_back(kernel);
        }
    }
}

void addRows(std::vector<Kernel>& all, KernelKind kind, DType type) {
    constexpr std::pair<std::string_view, int> functions[] = {{"Add", 2}, {"Relu", 1}, {"Gelu", 1}};
    for (const std::int64_t m : {1, 16, 128, 512, 2048}) {
        for (const std::int64_t n : {128, 768, 1024, 3072, 4096}) {
            Kernel kernel = typed(kind, type);
            kernel.m = m, kernel.n = n;
            if (kind == KernelKind::Elementwise) {
                for (const auto& [name, operands] : functions) {
                    kernel.function = name;
                    kernel.operands = operands;
                    all.push_back(kernel);
                }
                continue;
            }
            kernel.function = kind == KernelKind::Softmax ? "Softmax" : "LayerNormalization";
            all.push_back(kernel);
        }
    }
}

void addConvolutions(std::vector<Kernel>& all, DType type) {
    constexpr std::pair<std::int64_t, std::int64_t> stages[] = {{64, 56}, {128, 28}, {256, 14}, {512, 7}, {32, 112}};
    for (const std::int64_t batch : {1, 4}) {
        for (const auto& [channels, extent] : stages) {
            for (const std::int64_t taps : {1, 3}) {
                for (const std::int64_t stride : {1, 2}) {
                    Kernel kernel = typed(KernelKind::Convolution, type);
                    auto& shape = kernel.convolution;
                    shape.batch = batch;
                    shape.inChannels = shape.outChannels = channels;
                    shape.height = shape.width = extent;
                    shape.kernelHeight = shape.kernelWidth = taps;
                    shape.stride = stride;
                    shape.outHeight = shape.outWidth = (extent + stride - 1) / stride;
                    all.push_back(kernel);
                }
            }
        }
    }
}

}  // namespace

std::vector<Kernel> usualShapes(std::span<const KernelKind> kinds, std::span<const DType> types) {
    std::vector<Kernel> all;
    for (const DType type : types) {
        for (const KernelKind kind : kinds) {
            switch (kind) {
                case KernelKind::Gemm:
                    addProducts(all, type);
                    break;
                case KernelKind::PrefillAttention:
                case KernelKind::DecodeAttention:
                    addAttention(all, kind, type);
                    break;
                case KernelKind::Elementwise:
                case KernelKind::Softmax:
                case KernelKind::Normalization:
                    addRows(all, kind, type);
                    break;
                case KernelKind::Convolution:
                    addConvolutions(all, type);
                    break;
                default:
                    break;
            }
        }
    }
    for (Kernel& kernel : all) countWork(kernel);
    return all;
}

std::vector<Kernel> usualGpuShapes(std::span<const DType> types) {
    // Layers of Llama's models and square ones.
    constexpr std::pair<std::int64_t, std::int64_t> large[] = {
        {1024, 1024},  {2048, 2048},  {4096, 4096},  {8192, 8192},  {1024, 4096},  {6144, 4096},
        {28672, 4096}, {4096, 14336}, {10240, 8192}, {57344, 8192}, {8192, 28672}, {4096, 1024}};
    std::vector<Kernel> all;
    for (const DType type : types) {
        for (const auto& [n, k] : large) {
            for (const std::int64_t m : {1, 8, 32, 128, 512, 2048, 8192}) {
                Kernel kernel = typed(KernelKind::Gemm, type);
                kernel.m = m, kernel.n = n, kernel.k = k;
                kernel.transposedWeight = true;
                countWork(kernel);
                all.push_back(kernel);
            }
        }
    }
    return all;
}

}  // namespace orrery
