#pragma once

// A recording as tables: spans of warps, busy units and memory over time, instructions.

#include "simulation/gpu/recorder.h"

#include <string>

namespace orrery::gpusim {

std::string warpsCsv(const Recording& recording);
std::string activityCsv(const Recording& recording);
std::string instructionsCsv(const Recording& recording);

}  // namespace orrery::gpusim
