#pragma once

// The question that the serving page asks, as part of the project.

#include "app/document/commands/edit.h"

namespace orrery::app {

/// Named in the undo list by the first thing that changes: `Requests per second 8 → 12`. Edits of the same thing in one
/// gesture become one entry.
Expected<Edit> setServingEdit(const ProjectState& state, const ServingStudy& study);

}  // namespace orrery::app
