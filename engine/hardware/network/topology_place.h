#pragma once

// Where a topology stands in the tree and what it joins; for the files of topologies and the checks.

#include "hardware/component.h"

namespace orrery {

/// How many endpoints a topology in `parent` joins, copies counted: nodes, packages, dies, clusters, cores and arrays;
/// where there are none of these, compute units.
std::int64_t topologyEndpoints(const Component& parent);
/// Whether `child` of `parent` is one of those.
bool isEndpoint(const Component& parent, const Component& child);
/// The object that a topology inside a stack belongs to; itself where it is not inside one.
ComponentPath outermostTopology(const Component& root, ComponentPath path);
/// The topologies of a stack that have shapes, innermost dimension first; itself where it is no stack.
std::vector<ComponentPath> topologyShapes(const Component& root, const ComponentPath& topology);

}  // namespace orrery
