#pragma once

// What methods would know had nobody measured a device.

#include "learning/calibration.h"

#include <string>

namespace orrery {

/// Whether rows of `device` (an id of the catalogue) stand behind the section.
bool learnedFrom(const CalibrationSection& section, const std::string& device);

/// The sections that were learned without any row of `device` (an id of the catalogue); files without one left are not
/// in the set.
CalibrationSet withoutDevice(const CalibrationSet& calibrations, const std::string& device);

}  // namespace orrery
