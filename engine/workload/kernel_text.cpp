#include "workload/kernel.h"

#include <fmt/format.h>

namespace orrery {

namespace {

std::string types(const Kernel& kernel) {
    std::string text(toText(kernel.type));
    if (kernel.weightType != kernel.type) text.append(", ").append(toText(kernel.weightType)).append(" weights");
    if (kernel.scaleBlock > 0) text += fmt::format(", scales per {}", kernel.scaleBlock);
    return text;
}

std::string attention(const Kernel& kernel) {
    const AttentionShape& a = kernel.attention;
    std::string text = fmt::format("{} {}×{} queries, {} keys, {}/{} heads of {} {}", toText(kernel.kind), a.batch,
                                   a.queries, a.keys, a.heads, a.kvHeads, a.headDim, toText(kernel.type));
    if (kernel.kvType != kernel.type) text.append(", ").append(toText(kernel.kvType)).append(" cache");
    if (kernel.window > 0) text += fmt::format(", window {}", kernel.window);
    if (kernel.flashDecoding) text += ", flash decoding";
    return a.flash ? text : text + ", not fused";
}

}  // namespace

std::string toText(const Kernel& kernel) {
    const ConvolutionShape& c = kernel.convolution;
    switch (kernel.kind) {
        case KernelKind::Gemm:
            return fmt::format("gemm {}{}×{}×{} {}", kernel.batch > 1 ? fmt::format("{}×", kernel.batch) : "", kernel.m,
                               kernel.n, kernel.k, types(kernel));
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention:
            return attention(kernel);
        case KernelKind::Elementwise:
        case KernelKind::Softmax:
        case KernelKind::Normalization:
            return fmt::format("{} {}×{} {}", kernel.function.empty() ? toText(kernel.kind) : kernel.function, kernel.m,
                               kernel.n, toText(kernel.type));
        case KernelKind::Convolution:
            return fmt::format("convolution {}×{}×{}×{}, {}×{} to {} channels, stride {} {}", c.batch, c.inChannels,
                               c.height, c.width, c.kernelHeight, c.kernelWidth, c.outChannels, c.stride,
                               types(kernel));
        case KernelKind::Collective:
            return fmt::format("{} of {:.0f} bytes over {} ranks {}", toText(kernel.collective), kernel.messageBytes,
                               kernel.ranks, toText(kernel.type));
        case KernelKind::Experts: {
            const ExpertShape& e = kernel.experts;
            return fmt::format("experts {} rows on {} of {}, {}×{}{} {}{}", e.rows, e.touched, e.held, e.hidden,
                               e.inner, e.gated ? " gated" : "", types(kernel),
                               e.skew > 0 ? fmt::format(", power law {}", e.skew) : "");
        }
        case KernelKind::Movement:
        case KernelKind::Other:
            break;
    }
    if (kernel.kind == KernelKind::Other && !kernel.function.empty() && kernel.bytes() == 0)
        return std::string(kernel.function);  // a row of references that is a whole model
    return fmt::format("{} {:.0f} bytes", kernel.function.empty() ? toText(kernel.kind) : kernel.function,
                       kernel.bytes());
}

}  // namespace orrery
