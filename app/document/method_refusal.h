#pragma once

// Why a method would refuse a question, found without asking it: its card, and a view of the device.

#include "learning/calibration.h"
#include "methods/method.h"

#include <optional>

namespace orrery::app {

/// Nothing: it may answer. Takes microseconds to a few milliseconds, whatever the answer would take.
std::optional<Diagnostic> refusalUnasked(const Method& method, const Scenario& scenario,
                                         const CalibrationSet& calibrations);

}  // namespace orrery::app
