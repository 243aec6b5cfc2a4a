#include "workload/engine_kernels.h"

#include <algorithm>
#include <array>

namespace orrery {

bool decodesByFlash(std::string_view software) {
    constexpr std::array<std::string_view, 4> names{"vllm", "sglang", "flashinfer", "flashattention"};
    const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::ranges::any_of(names, [&](std::string_view name) {
        return !std::ranges::search(software, name, {}, small).empty();
    });
}

}  // namespace orrery
