#pragma once

// From an edit of the component tree (hardware/edit/tree_edit.h) to an edit of the project, placements following.

#include "app/document/commands/edit.h"
#include "widgets/canvas/placements.h"

#include <functional>

namespace orrery::app {

/// Design `hardware` becomes what `change` makes of it. `adjust`, if given, then works on the placements, which have
/// followed already.
Expected<Edit> treeChange(const ProjectState& state, int hardware,
                          const std::function<Expected<TreeEdit>(const Hardware&)>& change,
                          const std::function<void(const TreeEdit&, ui::Placements&)>& adjust = {});

/// `buffer l1`, `3 packages`, `3 components`; fails if a path leads nowhere.
Expected<QString> described(const ProjectState& state, int hardware, const ComponentPaths& paths);
QString described(const std::vector<const Component*>& components);

}  // namespace orrery::app
