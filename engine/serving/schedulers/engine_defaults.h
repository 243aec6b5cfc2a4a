#pragma once

#include "serving/schedulers/scheduler.h"

#include <optional>
#include <string_view>

namespace orrery {

/// The numbers that the engine itself begins with on a device, where its people say none.
struct EngineDefaults {
    std::int32_t maxSequences = 0, tokenBudget = 0;
    std::string_view source;
};

/// Of `vllm-v1`: vLLM looks at the device's memory and name. `device`: any of its names. Nothing for other policies.
std::optional<EngineDefaults> engineDefaults(std::string_view scheduler, std::string_view device, double memoryBytes);
/// Whether its sequences and tokens are the plain ones, or an engine's own on any device: numbers that nobody chose.
bool hasUnchosenNumbers(const SchedulerSpec& scheduler);
/// Sets them; whether there are any.
bool setEngineDefaults(SchedulerSpec& scheduler, std::string_view device, double memoryBytes);

}  // namespace orrery
