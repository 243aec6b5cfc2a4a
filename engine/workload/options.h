#pragma once

#include "workload/workload.h"

namespace orrery {

/// Refuses options that no model can mean: a batch below 1 or above 1e5, a sequence above 1e7 tokens, an image above
/// 16,384 pixels, numbers stored as text. Names the option.
Expected<void> checkOptions(const WorkloadOptions& options);

}  // namespace orrery
