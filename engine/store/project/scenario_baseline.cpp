#include "store/project/scenario_baseline.h"

#include <algorithm>

namespace orrery {

// The mark is one of the keys that are kept with a scenario and written as they stand.
bool isBaseline(const ScenarioRef& scenario) {
    return std::any_of(scenario.unknown.begin(), scenario.unknown.end(),
                       [](const UnknownKey& key) { return key.key == "baseline" && key.yaml == "true"; });
}

void markBaseline(ScenarioRef& scenario, bool baseline) {
    std::erase_if(scenario.unknown, [](const UnknownKey& key) { return key.key == "baseline"; });
    if (baseline) scenario.unknown.push_back({"baseline", "true"});
}

std::optional<std::size_t> baselineOf(const std::vector<ScenarioRef>& scenarios) {
    const auto found = std::find_if(scenarios.begin(), scenarios.end(), isBaseline);
    if (found == scenarios.end()) return std::nullopt;
    return static_cast<std::size_t>(found - scenarios.begin());
}

}  // namespace orrery
