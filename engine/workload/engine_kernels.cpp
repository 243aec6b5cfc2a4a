#include "workload/engine_kernels.h"

#include "workload/kernel_parts.h"

#include <algorithm>
#include <array>

namespace orrery {

bool decodesByFlash(std::string_view software) {
    constexpr std::array<std::string_view, 4> names{"vllm", "sglang", "flashinfer", "flashattention"};
    const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::ranges::any_of(
        names, [&](std::string_view name) { return !std::ranges::search(software, name, {}, small).empty(); });
}

void setFlashDecoding(Kernel& kernel, bool flash) {
    kernel.flashDecoding = flash && kernel.kind == KernelKind::DecodeAttention && !latentCache(kernel.attention);
}

}  // namespace orrery
