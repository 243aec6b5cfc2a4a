#pragma once

// Edits of where components stand on the canvas. They keep the design itself, so nothing is evaluated or checked again.

#include "app/document/commands/edit.h"
#include "widgets/canvas/placements.h"

namespace orrery::app {

/// Puts components where `places` says, under these words (`Move 3 components`, `Align left`). Edits of one gesture
/// with the same words merge. Fails if a path leads nowhere or a number is not finite.
Expected<Edit> arrangeEdit(const ProjectState& state, int hardware, const QString& words,
                           const std::vector<ui::PlacedAt>& places);
/// Forgets the places of everything inside `parent`; what is folded or expanded stays so.
Expected<Edit> arrangeAutomaticallyEdit(const ProjectState& state, int hardware, const ComponentPath& parent);

/// The edit of `before`, with room made in its design for those of `paths` whose cards it lets grow: what they and what
/// holds them would come to cover is pushed aside, as by a drop. Takes two scenes of the design for each that grows.
Edit withRoom(const ProjectState& before, int hardware, const ComponentPaths& paths, Edit edit);

}  // namespace orrery::app
