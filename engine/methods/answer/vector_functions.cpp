#include "methods/answer/vector_functions.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace orrery {

namespace {

constexpr std::array<std::string_view, 14> exponentialFunctions{"Gelu",   "FastGelu", "QuickGelu", "Silu", "Swish",
                                                                "SwiGLU", "GeGLU",    "Sigmoid",   "Tanh", "Exp",
                                                                "Erf",    "Softplus", "Mish",      "Elu"};

}  // namespace

VectorWork vectorWork(const Kernel& kernel) {
    if (kernel.kind == KernelKind::Softmax) return {7, 3};
    if (kernel.kind == KernelKind::Normalization) return {7, 0};
    const auto known = std::find(exponentialFunctions.begin(), exponentialFunctions.end(), kernel.function);
    if (known != exponentialFunctions.end()) return {10, 1};
    const double elements =
        static_cast<double>(kernel.batch) * static_cast<double>(kernel.m) * static_cast<double>(kernel.n);
    return {elements > 0 ? kernel.flops / elements : 0, 0};
}

}  // namespace orrery
