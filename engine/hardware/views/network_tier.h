#pragma once

// One level of the network among devices that are alike: what the cluster view answers, and what reads it.

#include "base/quantity.h"
#include "hardware/network/link_graph.h"
#include "hardware/network/topology.h"
#include "hardware/views/parts_read.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// What a tier was read from.
enum class TierSource : std::uint8_t {
    Topology,  ///< a topology object
    Links,     ///< links drawn between the parts, with the switches that they meet in
    OwnLinks,  ///< links that leave each part (`nvlink` in a die, `infiniband` in a node), and the switch beside it
    NotDrawn,  ///< nothing: its bandwidth is 0
};
std::string_view toText(TierSource source);

/// One level of the network: joins `size` endpoints, each of which holds `inner` devices.
struct NetworkTier {
    std::string name;  ///< of the topology, the switch or the links: `nvlink`
    TierSource source = TierSource::NotDrawn;
    /// FullyConnected for a drawn graph in which every pair has a link of its own, Switch where all meet in switches.
    TopologyShape shape = TopologyShape::Switch;
    bool irregular = false;           ///< a drawn graph of no named shape; its bandwidths come from its cuts
    std::int64_t size = 1;            ///< endpoints
    std::int64_t inner = 1;           ///< devices behind one endpoint
    std::vector<std::int64_t> sides;  ///< of a mesh or torus
    BytesPerSecond bandwidth;         ///< that one endpoint can send, over all its links; one direction
    /// That one endpoint can send while all send the same to all others (bound by the narrowest cut).
    BytesPerSecond allToAll;
    Seconds latency;  ///< between neighbours, over switches between them; 0 where not given
    /// Of a byte that one endpoint sends to another: of all links on the way, and of switches that state one; 0 where a
    /// link states none.
    JoulesPerByte energy;
    bool betweenNodes = false;  ///< it leaves the node (or is outside of all)
    std::string path;           ///< of what it was read from: `system/node/nvlink`
    /// A topology as it is stated; its bandwidth is that of the links of all devices behind an endpoint that have a
    /// network of their own in it. Nothing where only some of its endpoints are devices of this kind.
    std::optional<TopologyDimension> stated;
    /// What is drawn link by link; its endpoints are the tier's, in order.
    struct Drawn {
        LinkGraph graph;
        std::vector<std::string> paths;  ///< of the link of every edge
    };
    std::shared_ptr<const Drawn> links;
    PartsRead read;  ///< what was read for it

    /// One device's share of `bandwidth`, when all devices behind the endpoint send at once.
    BytesPerSecond perDevice() const { return bandwidth / static_cast<double>(inner); }
    bool drawn() const { return bandwidth.value > 0; }
};

}  // namespace orrery
