#pragma once

// Processors of unlike cores: what is left of their peak when a library deals equal work to all and waits for the last.

#include "hardware/views/device_ref.h"

namespace orrery {

/// Cores × the slowest core's vector rate ÷ the sum of all in fp32;
/// 1 where all cores are alike or none states a rate.
double evenShare(const DeviceRef& device);

}  // namespace orrery
