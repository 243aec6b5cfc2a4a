#pragma once

// Models into the project: from a file, from those that ship.

#include "store/project/project.h"

#include <QString>

namespace orrery::app {

class Studio;

/// Adds it, with what it takes to be answered if the project has none; brings the workload page to the front.
void addWorkload(Studio& studio, ProjectWorkload workload);
void addBuiltinWorkload(Studio& studio, const QString& id);

}  // namespace orrery::app
