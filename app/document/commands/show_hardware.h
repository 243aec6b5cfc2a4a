#pragma once

// Which design the canvas and the live views show.

#include "app/document/commands/edit.h"

namespace orrery::app {

/// The design in the current pair; also in a project without a workload.
Expected<Edit> showHardwareEdit(const ProjectState& state, int index);

}  // namespace orrery::app
