#include "store/project/scenario_baseline.h"

#include "base/text/yaml_node.h"

#include <fmt/format.h>

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

// Kept as the mark is, on one line.
std::optional<KeptBreakEven> breakEvenOf(const ScenarioRef& scenario) {
    for (const UnknownKey& key : scenario.unknown) {
        if (key.key != "break_even") continue;
        const auto node = parseYaml(key.yaml);
        if (!node || !node->isMap()) continue;
        const auto text = [&](const char* name) {
            const YamlNode* item = node->find(name);
            return item && item->isScalar() ? item->scalar : std::string();
        };
        KeptBreakEven kept{text("attribute"), text("quantity"), text("of") == "baseline", text("found")};
        if (kept.quantity.empty()) kept.quantity = "time";
        if (!kept.attribute.empty()) return kept;
    }
    return std::nullopt;
}

void keepBreakEven(ScenarioRef& scenario, const std::optional<KeptBreakEven>& kept) {
    std::erase_if(scenario.unknown, [](const UnknownKey& key) { return key.key == "break_even"; });
    if (!kept) return;
    std::string yaml = fmt::format("{{attribute: {}, of: {}, quantity: {}", yamlScalar(kept->attribute),
                                   kept->ofBaseline ? "baseline" : "other", yamlScalar(kept->quantity));
    if (!kept->found.empty()) yaml += ", found: " + yamlScalar(kept->found);
    scenario.unknown.push_back({"break_even", yaml + "}"});
}

}  // namespace orrery
