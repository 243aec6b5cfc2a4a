#include "workload/kernel.h"

#include "workload/costs.h"
#include "workload/kernel_parts.h"
#include "workload/operator_types.h"

#include <algorithm>
#include <array>

namespace orrery {

namespace {

constexpr std::array<std::string_view, kernelKindCount> kindNames{
    "gemm",        "prefill-attention", "decode-attention", "elementwise", "softmax", "normalization",
    "convolution", "collective",        "movement",         "other",       "experts"};
constexpr std::array<std::string_view, 6> collectiveNames{"all-reduce", "all-gather", "reduce-scatter",
                                                          "all-to-all", "broadcast",  "send-receive"};

constexpr std::int32_t microscaledBlock = 32;  // of 8-bit types: OCP MX

double count(std::int64_t value) {
    return static_cast<double>(value);
}

double sizeOf(DType type) {
    return bits(type) / 8.0;
}

void countGemm(Kernel& kernel) {
    const double batch = count(kernel.batch);
    const double m = count(kernel.m), n = count(kernel.n), k = count(kernel.k);
    const double input = kernel.quantisesInput ? sizeOf(wideType(kernel.type)) : sizeOf(kernel.type);
    kernel.flops = 2 * batch * m * n * k + (kernel.bias ? batch * m * n : 0);
    kernel.readBytes = batch * (m * k * input + k * n * weightBytesPerElement(kernel.weightType, kernel.scaleBlock));
    if (kernel.bias) kernel.readBytes += n * sizeOf(wideType(kernel.type));
    kernel.writeBytes = batch * m * n * sizeOf(wideType(kernel.type));
}

void countAttention(Kernel& kernel) {
    const AttentionShape seen = windowed(kernel);
    const AttentionShape& whole = kernel.attention;
    const double element = sizeOf(kernel.type);
    const double scores = count(seen.batch) * count(seen.heads) * attentionPairs(seen);
    kernel.flops = scores * (2 * count(seen.headDim + seen.valueDim) + 5);
    const double queries = count(whole.batch) * count(whole.queries) * count(whole.heads);
    // Latent attention keeps one vector per token, whose first part serves as the values.
    const double perToken = count(whole.batch) * count(whole.kvHeads) *
                            count(latentCache(whole) ? whole.headDim : whole.headDim + whole.valueDim);
    kernel.readBytes = queries * count(whole.headDim) * element;
    kernel.writeBytes = queries * count(whole.valueDim) * element;
    if (kernel.kind == KernelKind::DecodeAttention) {
        kernel.readBytes += perToken * (element + count(seen.keys - 1) * sizeOf(kernel.kvType));
        kernel.writeBytes += perToken * sizeOf(kernel.kvType);
    } else {
        kernel.readBytes += perToken * count(whole.keys) * element;
    }
    if (!seen.flash) {
        kernel.readBytes += 2 * scores * element;
        kernel.writeBytes += 2 * scores * element;
    }
}

void countRows(Kernel& kernel) {
    const double elements = count(kernel.m) * count(kernel.n);
    const OperatorType* type = operatorType(vectorFunction(kernel));
    const double perElement = type ? type->flopsPerElement : 1;
    kernel.flops = perElement * elements;
    kernel.readBytes = count(kernel.operands) * elements * sizeOf(kernel.type);
    kernel.writeBytes = elements * sizeOf(kernel.type);
    if (kernel.kind == KernelKind::Normalization) {
        kernel.readBytes += normalizationVectors(kernel.function) * count(kernel.n) * sizeOf(kernel.type);
    }
}

void countConvolution(Kernel& kernel) {
    const ConvolutionShape& c = kernel.convolution;
    const double output = count(c.batch) * count(c.outChannels) * count(c.outHeight) * count(c.outWidth);
    const double weights = count(c.outChannels) * count(c.inChannels) / count(std::max<std::int64_t>(c.groups, 1)) *
                           count(c.kernelHeight) * count(c.kernelWidth);
    kernel.flops = 2 * output * (c.outChannels > 0 ? weights / count(c.outChannels) : 0) + (kernel.bias ? output : 0);
    kernel.readBytes = count(c.batch) * count(c.inChannels) * count(c.height) * count(c.width) * sizeOf(kernel.type) +
                       weights * weightBytesPerElement(kernel.weightType, kernel.scaleBlock);
    if (kernel.bias) kernel.readBytes += count(c.outChannels) * sizeOf(wideType(kernel.type));
    kernel.writeBytes = output * sizeOf(wideType(kernel.type));
}

// What one rank reads and writes at least; how often the links are crossed is the pricer's to say.
void countCollective(Kernel& kernel) {
    kernel.readBytes = kernel.writeBytes = kernel.messageBytes;
    if (kernel.collective == CollectiveOp::AllReduce || kernel.collective == CollectiveOp::ReduceScatter) {
        kernel.flops = kernel.messageBytes / std::max(sizeOf(kernel.type), 1.0 / 8);
    }
    const double ranks = std::max(1.0, count(kernel.ranks));
    if (kernel.collective == CollectiveOp::AllGather) kernel.readBytes /= ranks;
    if (kernel.collective == CollectiveOp::ReduceScatter) kernel.writeBytes /= ranks;
}

void countExperts(Kernel& kernel) {
    const ExpertShape& e = kernel.experts;
    const double rows = count(e.rows), hidden = count(e.hidden), inner = count(e.inner);
    const double matrices = e.gated ? 3 : 2;
    const double wide = sizeOf(wideType(kernel.type));
    kernel.flops = 2 * matrices * rows * hidden * inner + 5 * rows * inner;
    kernel.readBytes =
        count(e.touched) * matrices * hidden * inner * weightBytesPerElement(kernel.weightType, kernel.scaleBlock) +
        count(std::min(e.tokens, e.rows)) * hidden * wide;
    kernel.writeBytes = count(std::min(e.tokens, e.rows)) * hidden * wide;
}

template <class Enum, std::size_t N>
std::optional<Enum> named(const std::array<std::string_view, N>& names, std::string_view text) {
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view toText(KernelKind kind) {
    return kindNames[static_cast<std::size_t>(kind)];
}

std::optional<KernelKind> kernelKind(std::string_view text) {
    return named<KernelKind>(kindNames, text);
}

std::string_view toText(CollectiveOp op) {
    return collectiveNames[static_cast<std::size_t>(op)];
}

std::optional<CollectiveOp> collectiveOp(std::string_view text) {
    return named<CollectiveOp>(collectiveNames, text);
}

DType wideType(DType type) {
    return bits(type) >= 16 ? type : DType::BF16;
}

double weightBytesPerElement(DType type, std::int32_t scaleBlock) {
    const double block = scaleBlock > 0 ? static_cast<double>(scaleBlock) : 0;
    const double own = bits(type);
    if (block <= 0) return own / 8;
    switch (type) {
        case DType::I4:
            return (own + (16 + 4) / block) / 8;
        case DType::FP4:
        case DType::FP6:
            return (own + 8 / block) / 8;
        case DType::FP8:
        case DType::I8:
            if (scaleBlock == microscaledBlock) return (own + 8 / block) / 8;
            return (own + 32 / (block * block)) / 8;
        default:
            return own / 8;
    }
}

AttentionShape windowed(const Kernel& kernel) {
    AttentionShape shape = kernel.attention;
    if (kernel.window > 0) shape.keys = std::min(shape.keys, kernel.window);
    return shape;
}

bool latentCache(const AttentionShape& shape) {
    if (shape.kvHeads != 1 || shape.headDim <= shape.valueDim) return false;
    // One head alone: expanded keys carry a position half as long as their value, the latent vector one far shorter.
    return shape.heads > 1 || 4 * (shape.headDim - shape.valueDim) <= shape.valueDim;
}

bool latentAttention(const AttentionShape& shape) {
    return latentCache(shape) || (shape.kvHeads == shape.heads && shape.headDim > shape.valueDim);
}

std::string_view vectorFunction(const Kernel& kernel) {
    if (!kernel.function.empty()) return kernel.function;
    return kernel.kind == KernelKind::Softmax         ? "Softmax"
           : kernel.kind == KernelKind::Normalization ? "LayerNormalization"
                                                      : "Add";
}

double normalizationVectors(std::string_view function) {
    if (function == "BatchNormalization") return 4;
    if (function.find("RMS") != std::string_view::npos || function.find("Simplified") != std::string_view::npos) {
        return 1;
    }
    return function == "LpNormalization" || function == "LRN" ? 0 : 2;
}

void countWork(Kernel& kernel) {
    switch (kernel.kind) {
        case KernelKind::Gemm:
            return countGemm(kernel);
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention:
            return countAttention(kernel);
        case KernelKind::Elementwise:
        case KernelKind::Softmax:
        case KernelKind::Normalization:
            return countRows(kernel);
        case KernelKind::Convolution:
            return countConvolution(kernel);
        case KernelKind::Collective:
            return countCollective(kernel);
        case KernelKind::Experts:
            return countExperts(kernel);
        case KernelKind::Movement:
        case KernelKind::Other:
            return;
    }
}

}  // namespace orrery
