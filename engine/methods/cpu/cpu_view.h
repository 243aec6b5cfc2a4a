#pragma once

// A processor in the terms in which calibrations know devices, so that fits, sections and their distances are the same
// for all.

#include "hardware/views/gpu_view.h"

namespace orrery {

/// Of a device with `platform: cpu`: `sms` are its cores, `l2Bytes` the cache next to memory, `subCores` 1; what a
/// processor has not stays 0. Fails with `method.not-applicable` for another platform, else as deviceView().
Expected<GpuView> cpuView(const DeviceRef& device);
Expected<GpuView> cpuView(const Hardware& hardware);

}  // namespace orrery
