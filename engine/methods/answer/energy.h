#pragma once

#include "hardware/views/device_view.h"
#include "methods/answer/compute_rates.h"
#include "methods/estimate.h"

namespace orrery {

/// Energy of each operator: work × energy per operation, bytes of each level × its energy per byte, time × idle power.
/// Fills `joules` and the total only if the device states energy per operation and per byte of main memory; says in
/// the assumptions which levels are counted.
void addEnergy(Estimate& answer, const DeviceView& device);

/// For a device that states a power cap but no energy per operation: a share of the cap, 30 % always, 40 % for the time
/// that the work takes on full units, 20 % for the time that its bytes take at full bandwidth (the split of GenZ,
/// Bambhaniya et al. 2024, whose last 10 % belong to the network). Nothing without a power cap.
void addPowerCapEnergy(Estimate& answer, const DeviceView& device, const CostTable& costs, const ComputeRates& rates);

}  // namespace orrery
