#pragma once

namespace orrery::app {

class Studio;

/// What ships, in a dock: devices, models and methods, and what is done with them.
void addLibraryDock(Studio& studio);

}  // namespace orrery::app
