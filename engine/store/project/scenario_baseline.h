#pragma once

// What a project keeps of its comparison with its scenarios: `baseline: true` on the one that the others are held
// against, `break_even: {…}` on one whose break-even with it somebody kept.

#include "store/project/project.h"

#include <optional>
#include <string>
#include <vector>

namespace orrery {

bool isBaseline(const ScenarioRef& scenario);
void markBaseline(ScenarioRef& scenario, bool baseline);
/// The first that is marked.
std::optional<std::size_t> baselineOf(const std::vector<ScenarioRef>& scenarios);

/// `break_even: {attribute: hbm3.bandwidth, of: baseline, quantity: time, found: …}`.
struct KeptBreakEven {
    std::string attribute;          ///< `hbm3.bandwidth`, `batch`
    std::string quantity = "time";  ///< a column of the comparison
    bool ofBaseline = false;        ///< whose attribute moves; else the scenario's own
    std::string found;              ///< the answer in words, as it was when it was kept
    bool operator==(const KeptBreakEven&) const = default;
};
std::optional<KeptBreakEven> breakEvenOf(const ScenarioRef& scenario);
void keepBreakEven(ScenarioRef& scenario, const std::optional<KeptBreakEven>& kept);

}  // namespace orrery
