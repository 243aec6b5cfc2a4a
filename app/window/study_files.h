#pragma once

// Studies (`orrery: study/1`) opened as projects.

#include <QString>

namespace orrery::app {

class Studio;

/// Reads the study off the window's thread and puts its scenarios in place of the open project, as one without a file:
/// saving asks for a place, and the study stays as it is. Says what is wrong by itself.
void openStudy(Studio& studio, const QString& path);

}  // namespace orrery::app
