#pragma once

// A network model that follows the messages of a call over the drawn links, while the other groups of its dimension
// make the same call.

#include "simulation/network/closed_form.h"
#include "simulation/network/message_fabric.h"

namespace orrery {

/// Messages, or packets, that a run may follow: about as many as take a few seconds.
double mostMessages(LinkCarrying carrying);
/// What a message counts for: 1, or its packets.
double messageWeight(LinkCarrying carrying, double bytes);
/// What a start of NCCL's kernels takes, ns: the least of its protocols.
double libraryStart(const CollectiveSoftware& software);

class FollowedNetwork final : public NetworkModel {
public:
    FollowedNetwork(std::vector<NetworkTier> tiers, LinkCarrying carrying);

    std::string_view id() const override;  ///< `messages`, `fluid`, `packets`, `ns3`
    /// Never below the closed form's `low`; rings, and all-to-alls directly. Broadcasts as the closed form has them.
    /// Fails also with `network.messages` where there are too many to follow, and as drawnFabric() and runCluster().
    Expected<CollectivePrice> price(const CollectiveCall& call, const std::stop_token& stop = {}) const override;

private:
    Expected<double> follow(const CollectiveCall& call, const std::stop_token& stop) const;

    ClosedFormNetwork closed_;
    LinkCarrying carrying_;
    Expected<FabricSettings> fabric_;
};

}  // namespace orrery
