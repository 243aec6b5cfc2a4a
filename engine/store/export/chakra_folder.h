#pragma once

// A training step as a folder that ASTRA-sim 2 runs: et/NAME.RANK.et, et/NAME.json, system.json, network.yml,
// memory.json.

#include "methods/system/training/estimate_training.h"

#include <cstddef>
#include <string>

namespace orrery {

/// Makes the folder where it is not there. The network has as many devices as the plan: of the tiers, innermost first,
/// as much as divides it. Durations are whole microseconds, as the format has them. Returns how many traces were
/// written. Fails with `export.unwritable`.
Expected<std::size_t> writeChakraFolder(const StepTraces& traces, const std::string& name, const std::string& folder);

}  // namespace orrery
