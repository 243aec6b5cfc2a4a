#pragma once

// The question that the serving page asks, as part of the project.

#include "app/document/commands/edit.h"

namespace orrery::app {

/// `usual` is what was asked while the project had no question of its own. Named in the undo list by the title of the
/// value that changes (serving/fields): `Requests per second 8 → 12`. Edits of the same thing in one gesture become one
/// entry.
Expected<Edit> setServingEdit(const ProjectState& state, const ServingStudy& study, const ServingStudy& usual = {});

}  // namespace orrery::app
