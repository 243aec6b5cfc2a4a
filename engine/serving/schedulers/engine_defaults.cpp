#include "serving/schedulers/engine_defaults.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace orrery {

namespace {

// vllm/engine/arg_utils.py of vLLM 0.27.1, EngineArgs.get_batch_defaults, usage context OPENAI_API_SERVER; the same
// values stand in tests/engine/test_arg_utils.py, test_defaults_with_usage_context. The rule for the A100 is from pull
// request 17885 of the vLLM project. The offline class LLM doubles the tokens of the first row and takes 8192 in the
// second; later versions may take others.
constexpr std::string_view source = "the server of vLLM 0.27.1 (EngineArgs.get_batch_defaults)";
constexpr double largeMemory = 70.0 * (1ull << 30);
constexpr EngineDefaults large{1024, 8192, source}, small{256, 2048, source};

}  // namespace

std::optional<EngineDefaults> engineDefaults(std::string_view scheduler, std::string_view device, double memoryBytes) {
    if (scheduler != "vllm-v1") return std::nullopt;
    std::string name(device);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return memoryBytes >= largeMemory && name.find("a100") == std::string::npos ? large : small;
}

bool setEngineDefaults(SchedulerSpec& scheduler, std::string_view device, double memoryBytes) {
    const auto defaults = engineDefaults(scheduler.id, device, memoryBytes);
    if (!defaults) return false;
    scheduler.maxSequences = defaults->maxSequences;
    scheduler.tokenBudget = defaults->tokenBudget;
    return true;
}

bool hasUnchosenNumbers(const SchedulerSpec& scheduler) {
    const SchedulerSpec plain;
    const auto has = [&](std::int32_t sequences, std::int32_t tokens) {
        return scheduler.maxSequences == sequences && scheduler.tokenBudget == tokens;
    };
    return has(plain.maxSequences, plain.tokenBudget) || has(large.maxSequences, large.tokenBudget) ||
           has(small.maxSequences, small.tokenBudget);
}

}  // namespace orrery
