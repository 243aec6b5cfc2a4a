#pragma once

// How many of a component there are: a number, or a grid in its place.

#include "hardware/component.h"

namespace orrery {

/// Whether its copies are given as a grid in place of a number. The mesh of an array is the array itself, and a mesh
/// beside a number of copies is what each copy holds.
inline bool isGridOfCopies(const Component& component) {
    return component.kind != ComponentKind::Array && component.count == 1 && !component.mesh.empty();
}

/// `count` copies, in place of the number or the grid of before.
inline void setCopies(Component& component, std::int64_t count) {
    if (isGridOfCopies(component)) component.mesh.clear();
    component.count = count;
}

}  // namespace orrery
