#pragma once

// Edits of the tree's shape: names, and adding, removing and moving components.

#include "app/document/commands/edit.h"

namespace orrery::app {

/// Fails if the name is empty or a sibling has it.
Expected<Edit> renameComponentEdit(const ProjectState& state, int hardware, const ComponentPath& path,
                                   const QString& name);
/// Appends a copy of `component` to the parent, under a name that no sibling has. Fails if that kind may not stand
/// there.
Expected<Edit> addComponentEdit(const ProjectState& state, int hardware, const ComponentPath& parent,
                                Component component);
/// The root cannot be removed.
Expected<Edit> removeComponentEdit(const ProjectState& state, int hardware, const ComponentPath& path);
/// To position `index` among the children of `parent` (both as before the move). Fails for moves into itself.
Expected<Edit> moveComponentEdit(const ProjectState& state, int hardware, const ComponentPath& path,
                                 const ComponentPath& parent, int index);

}  // namespace orrery::app
