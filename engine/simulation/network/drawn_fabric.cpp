#include "simulation/network/drawn_fabric.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

/// One device's part of a link, and what the library adds.
struct LinkTerms {
    double share = 1;  ///< of the bandwidth
    double step = 0;   ///< ns, of a message from a device to the next
};

// Protocols: the bandwidth of the best for long messages, the step of the best for short ones.
LinkTerms termsOf(const NetworkTier& tier, const CollectiveSoftware& software) {
    LinkTerms terms{0, 1e300};
    for (const CollectiveProtocol& p : software.ring) {
        terms.share = std::max(terms.share, tier.betweenNodes ? p.shareBetween : p.shareInside);
        terms.step = std::min(terms.step, 1e9 * (tier.betweenNodes ? p.stepBetween : p.stepInside));
    }
    // As the closed form counts generations of links inside a node.
    double generation = 1;
    for (const LinkGeneration& one : software.links)
        if (!tier.betweenNodes && tier.perDevice().value >= one.bandwidth) generation = one.share;
    terms.share *= generation / static_cast<double>(tier.inner);
    return terms;
}

double nanosecondsOf(Seconds latency) {
    return latency.value * 1e9;
}

FabricDimension regularDimension(TopologyShape shape, std::int64_t size, double bandwidth, double latency) {
    FabricDimension made;
    made.shape = shape;
    made.size = size;
    made.bandwidth = bandwidth;
    made.latency = latency;
    return made;
}

Expected<FabricDimension> graphDimension(FabricGraph graph, double step) {
    // Half of a step where a message leaves a device, half where it comes to one.
    for (FabricGraph::Link& link : graph.links)
        link.latency += step / 2 * ((link.from < graph.endpoints ? 1 : 0) + (link.to < graph.endpoints ? 1 : 0));
    FabricDimension made;
    made.size = graph.endpoints;
    auto routes = FabricRoutes::make(std::move(graph), true);
    if (!routes) return Unexpected(std::move(routes.error()));
    made.routes = std::make_shared<const FabricRoutes>(std::move(*routes));
    return made;
}

Expected<FabricDimension> statedDimension(const NetworkTier& tier, const LinkTerms& terms) {
    using enum TopologyShape;
    const TopologyDimension& stated = *tier.stated;
    const double link = stated.bandwidth.value * terms.share, latency = nanosecondsOf(stated.latency);
    switch (stated.shape) {
        case Switch:
        case Star:
            return regularDimension(Switch, tier.size, link, latency + terms.step / 2);
        case NvSwitch:
            return regularDimension(Switch, tier.size, link * static_cast<double>(stated.planes),
                                    latency + terms.step / 2);
        case FullyConnected:
        case Ring:
            // Between two there is one link, not one each way round.
            if (stated.shape == Ring && tier.size < 3) break;
            return regularDimension(stated.shape, tier.size, link, latency + terms.step);
        default:
            break;
    }
    constexpr std::int64_t most = 1'000'000;
    const auto network = expandTopology({tier.name, {stated}}, most);
    if (!network) return Unexpected(network.error());
    FabricGraph graph{
        static_cast<std::int32_t>(network->endpoints), static_cast<std::int32_t>(network->vertices.size()), {}};
    for (const ExpandedNetwork::Edge& edge : network->edges)
        graph.join(edge.a, edge.b, link * static_cast<double>(edge.parallel), latency);
    return graphDimension(std::move(graph), terms.step);
}

Expected<FabricDimension> dimensionOfTier(const NetworkTier& tier, const CollectiveSoftware& software) {
    if (!tier.drawn())
        return fail("network.not-drawn", fmt::format("`{}` has no bandwidth, so no message passes it", tier.name),
                    "a network with a bandwidth between the devices", "draw a topology or links",
                    Place{{}, 0, 0, tier.path});
    const LinkTerms terms = termsOf(tier, software);
    if (tier.stated) return statedDimension(tier, terms);
    if (tier.links) {
        const LinkGraph& drawn = tier.links->graph;
        FabricGraph graph{drawn.endpoints, drawn.vertices, {}};
        for (const LinkGraph::Edge& edge : drawn.edges)
            graph.join(edge.a, edge.b, edge.bandwidth * terms.share, edge.latency * 1e9);
        return graphDimension(std::move(graph), terms.step);
    }
    return regularDimension(TopologyShape::Switch, tier.size, tier.bandwidth.value * terms.share,
                            (nanosecondsOf(tier.latency) + terms.step) / 2);
}

}  // namespace

Expected<FabricSettings> drawnFabric(const std::vector<NetworkTier>& tiers, const CollectiveSoftware& software) {
    FabricSettings made;
    for (const NetworkTier& tier : tiers) {
        if (tier.size < 2) continue;
        auto dimension = dimensionOfTier(tier, software);
        if (!dimension) return Unexpected(std::move(dimension.error()));
        made.dimensions.push_back(std::move(*dimension));
    }
    return made;
}

}  // namespace orrery
