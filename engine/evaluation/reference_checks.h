#pragma once

// Which device a name means, and which rows cannot be true.

#include "evaluation/reference_table.h"
#include "hardware/component.h"

#include <memory>
#include <string>
#include <string_view>

namespace orrery {

/// Id of the catalogue's device of that id or name, however it is spelt (`h200_sxm`, `NVIDIA L4`), or of what its
/// driver calls it (`NVIDIA H100 80GB HBM3`); empty if there is none.
std::string catalogueId(std::string_view name);
/// A device of the catalogue, loaded once; null if it cannot be.
std::shared_ptr<const Hardware> catalogueHardware(const std::string& id);

/// A hundredth of the time that the device's peak rate or its memory's bandwidth allow: nothing true is below it, warm
/// caches included. 0 for a device that the catalogue lacks, and for collectives.
inline constexpr double absurdlyFast = 100;
/// Drops rows that are absurdlyFast, or slower than 1000 times the roofline plus 10 s, with a warning that names the
/// first. Warns with `reference.unit` where more than half of the rows are ten times off what the device can do. Fails
/// with `reference.unit` where they are more than half of the rows: then the unit is wrong.
Expected<void> leaveOutAbsurd(ReferenceTable& table);

}  // namespace orrery
