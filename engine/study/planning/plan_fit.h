#pragma once

// What would fit, where a plan does not.

#include "study/planning/plan_search.h"

#include <string>

namespace orrery {

/// Where no plan of a search fits `limit` bytes a device: by how much the closest misses, and what would fit.
std::string clusterFit(const StepModel& model, const PlannedPoint& closest, double limit);

}  // namespace orrery
