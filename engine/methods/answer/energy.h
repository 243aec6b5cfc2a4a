#pragma once

// Energy of each operator, from what the parts of the drawing state: arithmetic × energy per operation, bytes × energy
// per byte of each level and of the links inside, time × static power. What is not stated comes from supply currents and
// the power cap, and the assumptions say which part came from where. No part of it falls when a memory gets faster, but for static power,
// which is drawn for a shorter time.

#include "hardware/views/device_view.h"
#include "methods/answer/compute_rates.h"
#include "methods/estimate.h"

namespace orrery {

/// Only where the device states energy per operation and per byte of main memory: fills `joules` and the total. Bytes
/// of an inner level are those that the method counted; where it counted none, all that cross main memory.
void addEnergy(Estimate& answer, const DeviceView& device);

/// The same with shares of the power cap in place of what is not stated: 40 % of it for the time that the work takes on
/// full units, 30 % always (GenZ, Bambhaniya et al. 2024), and for main memory what the supply currents of its devices
/// say (dram_energy.h), else usualJoulesPerByte(). Without a design there are no currents. Nothing where neither an
/// energy per operation nor a power cap is stated. Returns what it read of the design.
PartsRead addPowerCapEnergy(Estimate& answer, const DeviceView& device, const CostTable& costs,
                            const ComputeRates& rates, const Hardware* design = nullptr);

/// Of a byte of DRAM that states none: 39.2 pJ for stacks (the 20 % of its cap that GenZ gives to memory, of A100's 400
/// W at 2,039 GB/s; HBM2 alone has 31 pJ: O'Connor et al., MICRO 2017), twice that off the package (assumed). It does
/// not hang on the bandwidth. 0 for memories that are no DRAM.
JoulesPerByte usualJoulesPerByte(const MemoryLevel& memory);

}  // namespace orrery
