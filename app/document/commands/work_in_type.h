#pragma once

#include "app/document/commands/project_edits.h"

namespace orrery::app {

/// What the loaded workload does in a type is done in another: by the options of a model that Orrery builds, by a
/// change of each kind of product of a graph that was read.
Expected<Edit> workInTypeEdit(const ProjectState& state, int index, const Workload& loaded, DType from, DType to);

}  // namespace orrery::app
