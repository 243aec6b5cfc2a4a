#pragma once

// What a kernel takes on one device against another, by physics that nobody fitted: tiles and waves with nominal
// numbers. Trees know one device's times; this moves them to another (as wave scaling does, Yu et al.: Habitat, USENIX
// ATC 2021, with the whole physical price in the place of clocks and bandwidths).

#include "hardware/views/gpu_view.h"
#include "learning/calibration.h"
#include "workload/kernel.h"

#include <optional>

namespace orrery {

/// The device of the catalogue that a section was learned on; nothing where the catalogue has it no more, or with other
/// numbers (1 %). Read once per name; any thread.
std::optional<GpuView> learnedDevice(const CalibrationSection& section);

/// Nominal price on `here` ÷ that on `there`; nothing for kernels that no family covers.
std::optional<double> physicsRatio(const Kernel& kernel, const GpuView& here, const GpuView& there);

}  // namespace orrery
