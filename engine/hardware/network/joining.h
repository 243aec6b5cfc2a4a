#pragma once

// The networks of a design, and what joins two places of it: networks and switches that stand beside both or above
// both.

#include "hardware/component.h"

#include <optional>
#include <vector>

namespace orrery {

/// Components of `kind` in every component that contains both places, outermost first, in tree order within one.
std::vector<ComponentPath> joining(const Component& root, const ComponentPath& a, const ComponentPath& b,
                                   ComponentKind kind);
/// The first of `kind` in the innermost such component that has one.
std::optional<ComponentPath> nearestJoining(const Component& root, const ComponentPath& a, const ComponentPath& b,
                                            ComponentKind kind);

/// All networks of a design in tree order: topologies with a parent of another kind (a stack counts once).
std::vector<ComponentPath> topologiesOf(const Component& root);

}  // namespace orrery
