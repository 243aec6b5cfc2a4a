#pragma once

// `run --why OPERATOR`: the kernels that an operator is launched as, and the terms that make each price.

#include "app/cli/command.h"
#include "learning/calibration.h"
#include "study/study.h"

#include <string>

namespace orrery::cli {

/// Tables on standard output, or JSON to `json` (`-` is standard output) where it is not empty. `name` is an
/// operator's, or a part that only one operator's has. Methods that are not built from kernels are passed over; fails
/// if none is left.
int explain(const Study& study, const std::string& name, const CalibrationSet& calibrations, const std::string& json);

}  // namespace orrery::cli
