#include "serving/schedulers/engine_defaults.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace orrery {

namespace {

// vllm/engine/arg_utils.py, EngineArgs.get_batch_defaults, usage context OPENAI_API_SERVER; the same values stand in
// tests/engine/test_arg_utils.py, test_defaults_with_usage_context. The offline class LLM doubles the tokens of the
// first row and takes 8192 in the second.
constexpr std::string_view source = "vLLM V1's server (EngineArgs.get_batch_defaults)";
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

}  // namespace orrery
