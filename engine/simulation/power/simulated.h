#pragma once

// What the cycle simulator counted, as what power is computed from.

#include "simulation/gpu/simulate.h"
#include "simulation/power/gpu_power.h"

namespace orrery {

/// Of one kernel on a machine of `sms`, its launch included, as one stretch.
GpuActivity activityOf(const gpusim::KernelResult& kernel, int sms);

}  // namespace orrery
