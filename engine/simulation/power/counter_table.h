#pragma once

// Counters of kernels from a table, one kernel per row: under Orrery's names of events, or as AccelWattch publishes
// what it measured (`L1_RH`, `DRAM_Rd`, `Pipeline_Duty`, …).

#include "simulation/power/gpu_power.h"

#include <string>
#include <vector>

namespace orrery {

struct CountedKernel {
    std::string name;
    GpuActivity activity;
    double pipelineBusy = -1;  ///< below 0: instructions were counted instead
};

/// Needs `cycles` (or `Elapsed_Cycles`), and `warp_instructions` or `pipeline_busy` (`Pipeline_Duty`); what else is
/// absent counts as 0, `idle_sms` too. Codes `power.*`, with file and line.
Expected<std::vector<CountedKernel>> readGpuCounters(const std::string& path);
GpuPower gpuPower(const GpuPowerTable& table, const CountedKernel& kernel, GpuOperatingPoint point = {});

}  // namespace orrery
