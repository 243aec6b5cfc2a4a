#pragma once

// Edits of the tree's shape: names, and adding, removing, moving, copying, grouping and linking components. Links keep
// their ends and hand placements their components (hardware/edit/tree_edit.h, placement_keys.h). Sets of paths may come in
// any order; each edit does all of it or fails.

#include "app/document/commands/edit.h"
#include "widgets/canvas/placements.h"

namespace orrery::app {

/// Fails if the name is empty, holds `/` or `.`, or a sibling has it.
Expected<Edit> renameComponentEdit(const ProjectState& state, int hardware, const ComponentPath& path,
                                   const QString& name);
/// Appends components to the parent, under names that no sibling has. Fails if one may not stand there. `places`, in
/// the order of `parts`, may be shorter; `frozen` are places of components that are there already.
Expected<Edit> addComponentsEdit(const ProjectState& state, int hardware, const ComponentPath& parent,
                                 std::vector<Component> parts, const std::vector<ui::Placement>& places = {},
                                 const std::vector<ui::PlacedAt>& frozen = {});
/// The parts of a device of the library, with the sources that their numbers cite.
Expected<Edit> addDeviceEdit(const ProjectState& state, int hardware, const ComponentPath& parent, Hardware device,
                             const std::vector<ui::Placement>& places = {},
                             const std::vector<ui::PlacedAt>& frozen = {});
Expected<Edit> addComponentEdit(const ProjectState& state, int hardware, const ComponentPath& parent,
                                Component component);
/// The same from YAML text: a list of components, one, or a hardware file.
Expected<Edit> pasteComponentsEdit(const ProjectState& state, int hardware, const ComponentPath& parent,
                                   const QString& text, const std::vector<ui::Placement>& places = {});
/// Links to what is removed go along. The root cannot be removed.
Expected<Edit> removeComponentsEdit(const ProjectState& state, int hardware, const ComponentPaths& paths);
Expected<Edit> removeComponentEdit(const ProjectState& state, int hardware, const ComponentPath& path);
/// To position `index` among the children of `parent` (as before the move; -1: to the end). Fails for moves into
/// itself. `places` are in the order of `paths`; who gets none and changes the parent is laid out by itself.
Expected<Edit> moveComponentsEdit(const ProjectState& state, int hardware, const ComponentPaths& paths,
                                  const ComponentPath& parent, int index = -1,
                                  const std::vector<ui::Placement>& places = {},
                                  const std::vector<ui::PlacedAt>& frozen = {});
Expected<Edit> moveComponentEdit(const ProjectState& state, int hardware, const ComponentPath& path,
                                 const ComponentPath& parent, int index);
/// Copies beside the originals, `dx` and `dy` further in the drawing.
Expected<Edit> duplicateComponentsEdit(const ProjectState& state, int hardware, const ComponentPaths& paths,
                                       double dx = 16, double dy = 16);
/// Siblings into a new container; drawn where they were.
Expected<Edit> groupComponentsEdit(const ProjectState& state, int hardware, const ComponentPaths& paths,
                                   ComponentKind kind, const QString& name = {});
Expected<Edit> ungroupComponentEdit(const ProjectState& state, int hardware, const ComponentPath& path);
Expected<Edit> linkComponentsEdit(const ProjectState& state, int hardware, const ComponentPath& from,
                                  const ComponentPath& to, const LinkPorts& ports = {});
/// A topology's switches and links in its place (orrery::replaceByParts).
Expected<Edit> replaceByPartsEdit(const ProjectState& state, int hardware, const ComponentPath& topology);

}  // namespace orrery::app
