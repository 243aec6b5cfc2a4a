#include "workload/option_text.h"

#include "base/text/nearest.h"
#include "base/text/words.h"

#include <algorithm>
#include <array>

namespace orrery {

namespace {

constexpr std::array<std::string_view, 8> optionKeys{"batch",   "sequence",    "image", "phase",
                                                     "weights", "activations", "kv",    "flash_attention"};
constexpr std::int64_t largestSize = 1'000'000'000;

std::int64_t WorkloadOptions::*sizeOf(std::string_view key) {
    if (key == "batch") return &WorkloadOptions::batch;
    if (key == "sequence") return &WorkloadOptions::sequence;
    if (key == "image") return &WorkloadOptions::image;
    return nullptr;
}

}  // namespace

std::span<const std::string_view> workloadOptionKeys() {
    return optionKeys;
}

bool isSize(std::string_view optionKey) {
    return sizeOf(optionKey) != nullptr;
}

Expected<WorkloadOptions> withOption(WorkloadOptions options, std::string_view key, std::string_view value) {
    const auto wrong = [&](std::string expected) {
        return fail("recipe.value", fmt::format("`{}` cannot be {}", value, key), std::move(expected));
    };
    if (const auto size = sizeOf(key)) {
        const auto number = wholeIn(value);
        if (!number || *number < 1 || *number > largestSize) {
            return wrong(fmt::format("a whole number from 1 to {}", largestSize));
        }
        options.*size = *number;
    } else if (key == "weights" || key == "activations") {
        const auto format = numberFormat(value);
        if (!format) return wrong("a number format such as bf16, fp8, int4");
        key == "weights" ? options.setWeights(*format) : options.setActivations(*format);
    } else if (key == "kv") {
        const auto type = dtype(value);
        if (!type || *type == DType::String) return wrong("a number format such as bf16, fp8, int8");
        options.kv = *type;
    } else if (key == "phase") {
        const auto found = phase(value);
        if (!found) return wrong("one of forward, prefill, decode, training-forward");
        options.phase = *found;
    } else if (key == "flash_attention") {
        if (value != "true" && value != "false") return wrong("true or false");
        options.flashAttention = value == "true";
    } else {
        const std::vector<std::string> keys(optionKeys.begin(), optionKeys.end());
        return fail("recipe.value", fmt::format("a workload has no option `{}`", key), quotedList(keys, "or"),
                    didYouMean(key, keys));
    }
    return options;
}

std::string optionText(const WorkloadOptions& options, std::string_view key) {
    if (const auto size = sizeOf(key)) return fmt::format("{}", options.*size);
    if (key == "weights") return toText(options.weightFormat());
    if (key == "activations") return toText(options.activationFormat());
    if (key == "kv") return std::string(toText(options.kv));
    if (key == "phase") return std::string(toText(options.phase));
    if (key == "flash_attention") return options.flashAttention ? "true" : "false";
    return {};
}

}  // namespace orrery
