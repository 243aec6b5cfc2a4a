#pragma once

// Which scenario of a project the others are held against: `baseline: true` on it.

#include "store/project/project.h"

#include <optional>
#include <vector>

namespace orrery {

bool isBaseline(const ScenarioRef& scenario);
void markBaseline(ScenarioRef& scenario, bool baseline);
/// The first that is marked.
std::optional<std::size_t> baselineOf(const std::vector<ScenarioRef>& scenarios);

}  // namespace orrery
