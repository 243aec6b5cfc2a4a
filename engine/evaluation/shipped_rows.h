#pragma once

// Whether the rows behind a calibration ship, so that anybody can fit it again: by what the rows say, not by the names
// of their tables.

#include "learning/calibration.h"

#include <string_view>

namespace orrery {

/// Of a source of a section with that split: its hash is that of rows in presets/references, of the tables that it
/// names, chosen as the split says; or of all rows of a published table of steps. False where the source has no hash.
bool rowsShip(const CalibrationSource& source, std::string_view split);

}  // namespace orrery
