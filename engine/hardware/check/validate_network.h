#pragma once

// The checks of validate() that look at links, switches and networks. Linear in the tree but for names of ports.

#include "hardware/component.h"

#include <vector>

namespace orrery {

/// Appends what is wrong with links (dangling ends, loops, ports used twice), switches (more links than ports),
/// memories left unlinked among linked parts, parts that no link reaches, and topologies that do not fit.
void checkNetworks(const Component& root, Diagnostics& out);

/// The parts inside `parent` that its links and topologies should join, in groups that they do join, the largest first;
/// children by index. Empty where there is no network, and so nothing to reach.
std::vector<std::vector<int>> joinedParts(const Component& root, const ComponentPath& parent);

}  // namespace orrery
