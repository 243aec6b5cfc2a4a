#pragma once

// The network that is drawn, as one that messages pass: a dimension for every tier. Of links that devices behind one
// endpoint share, each device has its part to itself, as adapters stand beside devices; what of it is used at the same
// time is told by the collectives.

#include "hardware/views/network_tier.h"
#include "simulation/network/collective_software.h"
#include "simulation/network/message_fabric.h"

namespace orrery {

/// A library takes its share of the links and a step's time per message; a switch of several planes is striped over
/// all. Rings, switches and full connections stay what they are, everything else becomes a graph, topologies with one
/// way per pair of devices among equals. Fails with `network.not-drawn` where a tier has no bandwidth, `network.graph`,
/// and as expandTopology() does.
Expected<FabricSettings> drawnFabric(const std::vector<NetworkTier>& tiers,
                                     const CollectiveSoftware& software = wiresAlone());

}  // namespace orrery
