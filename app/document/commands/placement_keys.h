#pragma once

// Placements by path instead of by name: edits of the tree speak of paths, files of names.

#include "hardware/edit/tree_edit.h"
#include "widgets/canvas/placements.h"

#include <map>

namespace orrery::app {

/// The paths sorted in tree order, each once, without those inside others of them.
ComponentPaths topmost(ComponentPaths paths);
bool isInside(const ComponentPath& path, const ComponentPath& outer);  ///< or the same

/// Keys of many components at once (ui::placementKey of each), in their order. Linear in the families that they stand
/// in. Empty for a path that leads nowhere.
std::vector<std::string> placementKeys(const Component& root, const ComponentPaths& paths);

using PlacesByPath = std::map<ComponentPath, ui::Placement>;
/// The placements of components that are there; walks only where some are.
PlacesByPath placesByPath(const Component& root, const ui::Placements& placements);
/// What the placements of `before` become when the components go where `moved` says; those of removed components are
/// dropped, lines that mean no component are kept.
ui::Placements followed(const ui::Placements& placements, const Component& before, const TreeEdit& edit);
/// Sets many; one that says nothing (not placed, no size, not folded, not expanded) is removed.
void place(ui::Placements& placements, const Component& root, const std::vector<ui::PlacedAt>& places);

}  // namespace orrery::app
