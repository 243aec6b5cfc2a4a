#include "hardware/network/topology.h"
#include "hardware/network/topology_shapes.h"

namespace orrery {

// A stack is a product of networks: every dimension is repeated once for each place in the others, and a way through
// it is one way through each.
Expected<TopologyFacts> topologyFacts(const TopologySpec& spec) {
    TopologyFacts facts;
    facts.endpoints = spec.endpoints();
    double hops = 0;
    for (const TopologyDimension& dimension : spec.dimensions) {
        const topology::Shape& shape = topology::shapeOf(dimension.shape);
        if (const auto misfit = shape.misfit(dimension))
            return fail(misfit->code, misfit->message, misfit->expected, misfit->hint);
        const topology::OneFacts one = shape.facts(dimension);
        const std::int64_t copies = facts.endpoints / dimension.size;
        facts.switches += copies * one.switches;
        facts.links += copies * one.links;
        facts.diameter += one.diameter;
        hops += one.hops;
        if (dimension.size > 1) {
            facts.bisectionLinks = copies * one.bisection;
            facts.bisection = dimension.bandwidth * static_cast<double>(facts.bisectionLinks);
        }
    }
    const double n = static_cast<double>(facts.endpoints);
    if (facts.endpoints > 1) facts.meanHops = hops * n / (n - 1);
    return facts;
}

}  // namespace orrery
