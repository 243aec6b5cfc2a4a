#pragma once

// How one tier is read: the network that is drawn among the endpoints inside one component. For the sources of the
// cluster view only.

#include "base/diagnostic.h"
#include "hardware/component.h"
#include "hardware/views/network_tier.h"

#include <vector>

namespace orrery::detail {

/// Endpoints of one kind inside `parent`: children that hold devices of the group, with copies.
struct Endpoints {
    ComponentPath parent;
    std::vector<ComponentPath> children;  ///< direct children of `parent`
    /// From such a child down to what its own links may stand on (`node` … `die`), children of one another; per child.
    std::vector<std::vector<ComponentPath>> down;
    std::int64_t count = 1;  ///< over all children, copies counted
    std::int64_t inner = 1;  ///< devices behind one
    bool nodes = false;      ///< a node stands at or inside them
};

/// The tiers among them, innermost first: one, or one per dimension of a stacked topology. What is not drawn gives one
/// tier without bandwidth and a warning. Fails as topologySpec() does.
Expected<std::vector<NetworkTier>> tiersAmong(const Component& root, const Endpoints& endpoints, Diagnostics& warnings);

/// What a network that stands on these components (topologies, links, switches) reads of them, and what contains them.
PartsRead readOf(const Component& root, const std::vector<ComponentPath>& parts);
/// `path` is `outer` or lies inside it.
bool standsIn(const ComponentPath& path, const ComponentPath& outer);
/// B/s in one direction of one link or one port, `bandwidth` of the component at `path` with the clock around it; 0
/// where not given.
double linkRate(const Component& root, const ComponentPath& path);
double latencyOf(const Component& root, const ComponentPath& path);

/// Links that leave `part` (a device, a node): children of kind link of which one end or none is given. Sum of their
/// rates in one direction, each at most `port` where that is above 0. Paths of those found are added to `parts`.
double ownLinks(const Component& root, const ComponentPath& part, double port, std::vector<ComponentPath>& parts);

}  // namespace orrery::detail
