#pragma once

// Models into the project: from a file, from those that ship.

#include "store/project/project.h"

#include <QString>

class QWidget;

namespace orrery::app {

class Studio;

/// Adds it, with what it takes to be answered if the project has none; brings the workload page to the front.
void addWorkload(Studio& studio, ProjectWorkload workload);
void addBuiltinWorkload(Studio& studio, const QString& id);
/// Asks for a kernel or a network by its code (code_dialog.h) and adds it.
void addSpelledWorkload(Studio& studio, QWidget* parent);

}  // namespace orrery::app
