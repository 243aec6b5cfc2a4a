#pragma once

#include "hardware/views/device_view.h"
#include "methods/estimate.h"
#include "workload/costs.h"

#include <vector>

namespace orrery {

/// Roofs of the precisions in which the workload computes (matrix products on their unit, other work on the vector
/// units) and of the `levels` outermost memory levels that have a bandwidth; fastest first in each group.
std::vector<Ceiling> ceilingsFor(const DeviceView& device, const CostTable& costs, std::size_t levels);

}  // namespace orrery
