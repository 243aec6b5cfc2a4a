#pragma once

// What wave scaling keeps of the device that was measured, as parameters of its section (`origin sms`, …), so that a
// calibration needs no other file.

#include "hardware/views/gpu_view.h"
#include "learning/calibration.h"

namespace orrery {

void keepOrigin(CalibrationSection& section, const GpuView& gpu);

/// Fails with `calibration.no-origin` naming the parameter that is missing or not positive.
Expected<GpuView> originOf(const CalibrationSection& section);

}  // namespace orrery
