// One switch, a bus, several switch planes that every endpoint is on, and rails joined by spines.

#include "hardware/network/topology_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery::topology {
namespace {

double across(std::int64_t i, std::int64_t of) {
    return (static_cast<double>(i) + 0.5) / static_cast<double>(std::max<std::int64_t>(of, 1));
}

std::int64_t planesOf(const TopologyDimension& dimension) {
    return dimension.shape == TopologyShape::NvSwitch ? dimension.planes : 1;
}

std::optional<Misfit> switchMisfit(const TopologyDimension& dimension) {
    if (dimension.radix == 0 || dimension.size <= dimension.radix) return std::nullopt;
    return Misfit{"radix", "hardware.topology-radix",
                  fmt::format("{} endpoints do not fit a switch of {} ports", dimension.size, dimension.radix),
                  "at least as many ports as endpoints", "raise `radix`, or choose a fat tree"};
}

// A bus is one shared medium: it is drawn as a hub, and one transfer at a time crosses it wherever it is cut.
OneFacts switchFacts(const TopologyDimension& dimension) {
    const std::int64_t n = dimension.size;
    OneFacts facts;
    facts.switches = planesOf(dimension);
    facts.links = n * facts.switches;
    facts.diameter = n > 1 ? 2 : 0;
    facts.hops = 2 * static_cast<double>(n - 1) / static_cast<double>(n);
    facts.bisection = n / 2 * facts.switches;
    if (dimension.shape == TopologyShape::Bus) facts.bisection = n > 1 ? 1 : 0;
    return facts;
}

void expandSwitch(const TopologyDimension& dimension, OneNetwork& network) {
    const std::int64_t planes = planesOf(dimension);
    for (std::int64_t v = 0; v < dimension.size; ++v) network.place(v, across(v, dimension.size), 0.85);
    for (std::int64_t plane = 0; plane < planes; ++plane) {
        const std::int32_t hub = network.addSwitch(0, across(plane, planes), 0.2);
        for (std::int64_t v = 0; v < dimension.size; ++v) network.link(v, hub);
    }
}

// Links from one rail to one spine.
std::int64_t trunk(const TopologyDimension& dimension) {
    const double up = static_cast<double>(dimension.size / dimension.groups) / dimension.oversubscription;
    return std::max<std::int64_t>(1, std::llround(up / static_cast<double>(dimension.planes)));
}

std::optional<Misfit> railMisfit(const TopologyDimension& dimension) {
    if (dimension.groups < 1) {
        return Misfit{"groups", "hardware.missing-attribute", "a rail-optimised network needs its number of rails",
                      "`groups`: the accelerators of one node", "set it, such as `8`"};
    }
    if (dimension.size % dimension.groups != 0) {
        return Misfit{"groups", "hardware.topology-size",
                      fmt::format("{} endpoints do not fill {} rails evenly", dimension.size, dimension.groups),
                      "a number of endpoints that the number of rails divides",
                      "rails connect accelerators; for whole nodes choose `nvswitch` with planes"};
    }
    const std::int64_t rail = dimension.size / dimension.groups + dimension.planes * trunk(dimension);
    const std::int64_t spine = dimension.groups * trunk(dimension);
    const std::int64_t needed = dimension.groups > 1 ? std::max(rail, spine) : dimension.size;
    if (dimension.radix > 0 && needed > dimension.radix) {
        return Misfit{"radix", "hardware.topology-radix",
                      fmt::format("a switch of {} ports would need {}", dimension.radix, needed),
                      "as many ports as the largest switch has links", "raise `radix`, `planes` or `oversubscription`"};
    }
    return std::nullopt;
}

OneFacts railFacts(const TopologyDimension& dimension) {
    const std::int64_t rails = dimension.groups;
    const std::int64_t nodes = dimension.size / rails;
    const double n = static_cast<double>(dimension.size);
    OneFacts facts;
    facts.switches = rails + (rails > 1 ? dimension.planes : 0);
    facts.links = dimension.size + (rails > 1 ? rails * dimension.planes * trunk(dimension) : 0);
    facts.diameter = rails > 1 ? 4 : nodes > 1 ? 2 : 0;
    // Of the n partners of an endpoint (itself too), its rail holds `nodes`.
    facts.hops = (2 * static_cast<double>(nodes - 1) + 4 * (n - static_cast<double>(nodes))) / n;
    if (nodes > 1) {
        facts.bisection = nodes / 2 * rails;
    } else {
        // One node: its halves meet only over the spines, each endpoint by the one link of its own.
        facts.bisection = rails / 2;
    }
    return facts;
}

void expandRails(const TopologyDimension& dimension, OneNetwork& network) {
    const std::int64_t rails = dimension.groups;
    for (std::int64_t v = 0; v < dimension.size; ++v) network.place(v, across(v, dimension.size), 0.9);
    std::vector<std::int32_t> rail;
    for (std::int64_t r = 0; r < rails; ++r) rail.push_back(network.addSwitch(0, across(r, rails), 0.5));
    for (std::int64_t v = 0; v < dimension.size; ++v) network.link(v, rail[static_cast<std::size_t>(v % rails)]);
    for (std::int64_t s = 0; rails > 1 && s < dimension.planes; ++s) {
        const std::int32_t spine = network.addSwitch(1, across(s, dimension.planes), 0.1);
        for (const std::int32_t r : rail) network.link(r, spine, trunk(dimension));
    }
}

}  // namespace

const Shape switchShape{switchMisfit, switchFacts, expandSwitch};
const Shape railShape{railMisfit, railFacts, expandRails};

}  // namespace orrery::topology
