#pragma once

// Going through a design from outside this folder: what stands in a component, and every component with its path. What
// methods need of a device is in views/; edits are in edit/tree_edit.h.

#include "hardware/component.h"

#include <span>
#include <utility>
#include <vector>

namespace orrery {

/// What stands directly in a component, in tree order; its index is the next step of a ComponentPath.
inline std::span<const Component> partsIn(const Component& component) {
    return component.children;
}
/// The same, taken out of a component that is no longer needed.
inline std::vector<Component> takeParts(Component&& component) {
    return std::move(component.children);
}

/// Appends a part to a component that is being made; designs that are drawn change by edit/tree_edit.h.
inline void addPart(Component& component, Component part) {
    component.children.push_back(std::move(part));
}

namespace detail {
template <class Visit>
void walkBelow(const Component& component, ComponentPath& path, Visit& visit) {
    for (std::size_t i = 0; i < component.children.size(); ++i) {
        path.push_back(static_cast<int>(i));
        if (visit(component.children[i], std::as_const(path))) walkBelow(component.children[i], path, visit);
        path.pop_back();
    }
}
template <class Change>
void changeBelow(Component& component, Change& change) {
    for (Component& child : component.children) {
        change(child);
        changeBelow(child, change);
    }
}
}  // namespace detail

/// Calls visit(component, path) for every component below `root` in tree order, containers before what is in them;
/// where it returns false, what is inside is left out.
template <class Visit>
void walk(const Component& root, Visit&& visit) {
    ComponentPath path;
    detail::walkBelow(root, path, visit);
}
/// Calls change(component) for every component below `root`; it must not change the shape of the tree.
template <class Change>
void changeAll(Component& root, Change&& change) {
    detail::changeBelow(root, change);
}
/// All components of a kind below `root`, in tree order; those inside others of the kind are left out.
std::vector<ComponentPath> outermost(const Component& root, ComponentKind kind);

}  // namespace orrery
