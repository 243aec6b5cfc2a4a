#pragma once

#include "hardware/device_view.h"
#include "methods/estimate.h"

namespace orrery {

/// Energy of each operator: work × energy per operation, bytes of each level × its energy per byte, time × idle power.
/// Fills `joules` and the total only if the device states energy per operation and per byte of main memory; says in
/// the assumptions which levels are counted.
void addEnergy(Estimate& answer, const DeviceView& device);

}  // namespace orrery
