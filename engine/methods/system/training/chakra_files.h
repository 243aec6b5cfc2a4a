#pragma once

// A training step as the files that ASTRA-sim 2 runs: et/NAME.RANK.et, et/NAME.json, system.json, network.yml,
// memory.json.

#include "methods/system/training/estimate_training.h"

#include <string>
#include <vector>

namespace orrery {

struct ChakraFile {
    std::string name;  ///< in its folder: `et/step.0.et`
    std::string text;
};
/// The network has as many devices as the plan: of the tiers, innermost first, as much as divides it. Durations are
/// whole microseconds, as the format has them.
std::vector<ChakraFile> chakraFiles(const StepTraces& traces, const std::string& name);

}  // namespace orrery
