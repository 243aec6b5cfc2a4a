#pragma once

// Does a runtime execute operators that lead nowhere? Told from latencies alone: counts of all operators and counts of
// those whose output is used are two additive models, and the one that foretells rows left out better is the runtime's
// rule. On phones' runtimes dead operators cost nothing, GPU frameworks execute them.

#include "learning/edge/device_prior.h"

#include <span>
#include <string_view>

namespace orrery {

enum class DeadCode { Unclear, Dropped, Executed };
std::string_view toText(DeadCode rule);  ///< `unclear`, `dropped`, `executed`

/// Features of NAS-Bench-201 (`space_features.h`) and a latency per row. Unclear below thirty rows (of ten, verdicts
/// were often wrong), and where neither model has 0.8 of the other's error or less.
DeadCode deadCodeRule(const FeatureRows& networks, std::span<const double> latencies);

}  // namespace orrery
