#pragma once

// Designs into the project: from a file, from the catalogue. The first device of a blank sheet takes its place.

#include "hardware/component.h"

#include <QString>

namespace orrery::app {

class Studio;

/// Shows it if the project has it already, else adds it; brings the hardware page to the front.
void addHardware(Studio& studio, Hardware design);
void addCatalogueHardware(Studio& studio, const QString& id);
/// Gives a project without a device or methods the usual ones.
void makeAnswerable(Studio& studio);
std::vector<std::string> usualMethods();

}  // namespace orrery::app
