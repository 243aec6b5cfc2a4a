#pragma once

// By what calibrations are known again: a hash of all that they say, whatever file they stand in.

#include "learning/calibration.h"

#include <string>

namespace orrery {

/// 16 digits of writeCalibration() of each, in the order in which they are asked. Each calibration is written once and
/// its hash is kept while it lives. Thread-safe.
std::string calibrationsHash(const CalibrationSet& calibrations);

}  // namespace orrery
