#pragma once

// How often the experts of a model were chosen, as a table: a column `expert` (0, 1, …) and a column `count`. Rows of
// one expert add up, so that one row per layer and expert is fine too.

#include "base/diagnostic.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// One weight per expert, for ExpertRouting::weights; experts without a row were never chosen. Codes `routing.trace`
/// (unreadable, a column is missing, no such expert, not a number, negative), each with file and line.
Expected<std::vector<double>> readExpertTrace(const std::string& path, std::int32_t experts);
Expected<std::vector<double>> readExpertTraceText(std::string_view text, const std::string& path, std::int32_t experts);

}  // namespace orrery
