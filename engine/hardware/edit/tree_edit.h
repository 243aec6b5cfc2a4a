#pragma once

// Edits of a design's shape that keep what refers to components right: renaming rewrites the ends of links, removing
// takes the links along, moving re-hosts them. Paths are as before the edit; sets of paths may come in any order, and
// those inside others of the set go with them. Every function either does all of it or fails and leaves `design` as it
// was.

#include "hardware/component.h"
#include "hardware/network/links.h"

#include <functional>
#include <string>
#include <vector>

namespace orrery {

using ComponentPaths = std::vector<ComponentPath>;

/// Where each component of before has gone: empty optional for those removed. Hand placements follow by it.
using PathMap = std::function<std::optional<ComponentPath>(const ComponentPath&)>;

struct TreeEdit {
    Hardware design;
    ComponentPaths made;  ///< new or moved components, as paths in `design`: what should be selected now
    PathMap moved;
};

Expected<TreeEdit> renamed(Hardware design, const ComponentPath& path, std::string_view name);
/// Appends parts under names that no sibling has; ends of links among the parts follow the new names.
Expected<TreeEdit> added(Hardware design, const ComponentPath& parent, std::vector<Component> parts);
Expected<TreeEdit> removed(Hardware design, const ComponentPaths& paths);
/// To `index` among the children of `parent` (as before the move; -1: to the end).
Expected<TreeEdit> reparented(Hardware design, const ComponentPaths& paths, const ComponentPath& parent,
                              int index = -1);
/// Copies beside the originals, links among them too.
Expected<TreeEdit> duplicated(Hardware design, const ComponentPaths& paths);
/// Siblings into a new container of that kind, in their place. Fails if they have different parents or nesting forbids
/// it.
Expected<TreeEdit> grouped(Hardware design, const ComponentPaths& paths, ComponentKind kind, std::string_view name);
/// The children take the container's place; its copies are kept by multiplying them into each child.
Expected<TreeEdit> ungrouped(Hardware design, const ComponentPath& path);
/// Appends the link of makeLink().
Expected<TreeEdit> linked(Hardware design, const ComponentPath& from, const ComponentPath& to,
                          const LinkPorts& ports = {});

/// Copies for the clipboard: the components, and the links whose both ends are among them, in tree order.
std::vector<Component> copied(const Hardware& design, const ComponentPaths& paths);
/// As a YAML list of components; what a person may paste as text into a file or a message.
std::string writeComponents(const std::vector<Component>& parts);
/// Reads such a list, one component, or a whole hardware file (its devices).
Expected<std::vector<Component>> readComponents(std::string_view yaml);

/// `name`, or `name2`, `gpu8` after `gpu7` … whichever no child of `parent` has.
std::string freeChildName(const Component& parent, std::string_view name);

}  // namespace orrery
