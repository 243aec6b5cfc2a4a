#include "simulation/network/message_fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

std::string_view toText(LinkCarrying carrying) {
    switch (carrying) {
        case LinkCarrying::StoreAndForward:
            return "store-and-forward";
        case LinkCarrying::Fluid:
            return "fluid";
        case LinkCarrying::Packets:
            return "packets";
        case LinkCarrying::Ns3:
            return "ns3";
    }
    return "";
}

Expected<MessageFabric> MessageFabric::make(FabricSettings settings, std::vector<std::int32_t> slots) {
    MessageFabric fabric;
    constexpr std::int64_t most = 1 << 24;
    for (const FabricDimension& one : settings.dimensions) {
        if (one.routes && one.routes->size() != one.size)
            return fail("network.shape",
                        fmt::format("a dimension of {} devices has a graph of {}", one.size, one.routes->size()),
                        "one endpoint for every device of the dimension", {});
        const bool shape = one.shape == TopologyShape::Ring || one.shape == TopologyShape::FullyConnected ||
                           one.shape == TopologyShape::Switch;
        const bool numbers = one.size >= 2 && one.bandwidth > 0 && std::isfinite(one.bandwidth) && one.latency >= 0 &&
                             std::isfinite(one.latency);
        if (!one.routes && (!shape || !numbers))
            return fail(
                "network.shape",
                fmt::format("a {} of {} at {} B/s cannot carry messages", label(one.shape), one.size, one.bandwidth),
                "a ring, a switch or a fully connected network of two or more, with a bandwidth",
                "state the dimension's size, bandwidth and latency");
        if (one.size > most / fabric.devices_)
            return fail("network.shape", "the network has more than 16 million devices", "fewer", {});
        fabric.strides_.push_back(fabric.devices_);
        fabric.devices_ *= one.size;
        fabric.firstLink_.push_back(fabric.linksOfDevice_);
        if (!one.routes) fabric.linksOfDevice_ += one.shape == TopologyShape::FullyConnected ? one.size : 2;
        fabric.latency_.push_back(one.latency);
        fabric.rate_.push_back(one.bandwidth / 1e9);
    }
    if (settings.dimensions.empty()) return fail("network.shape", "the network has no dimension", "one or more", {});
    std::int64_t states = fabric.devices_;
    if (!slots.empty()) states = 1 + *std::max_element(slots.begin(), slots.end());
    fabric.slots_ = std::move(slots);
    if (settings.congestion) {
        std::int64_t links = states * fabric.linksOfDevice_;
        for (const FabricDimension& one : settings.dimensions) {
            fabric.firstOfGraph_.push_back(static_cast<std::size_t>(links));
            if (!one.routes) continue;
            const auto its = static_cast<std::int64_t>(one.routes->graph().links.size());
            links += fabric.devices_ / one.size * its;
            fabric.linksOfGraphs_ += fabric.devices_ / one.size * its;
        }
        // 24 bytes each.
        if (links > std::int64_t{1} << 26)
            return fail("network.shape", "the network has more than 67 million links", "fewer links",
                        "ask without congestion");
        fabric.free_.assign(static_cast<std::size_t>(links), 0);
        fabric.use_.assign(fabric.free_.size(), {});
        // 512 bytes each.
        if (settings.useOverTime && links <= std::int64_t{1} << 17)
            fabric.overTime_ = LinkUseOverTime(static_cast<std::size_t>(links));
    }
    fabric.settings_ = std::move(settings);
    return fabric;
}

SimTime MessageFabric::alone(std::int32_t source, std::int32_t target, double bytes) const {
    double nanoseconds = 0;
    for (std::size_t d = 0; d < strides_.size(); ++d) {
        const FabricDimension& one = settings_.dimensions[d];
        const std::int64_t from = indexIn(d, source), to = indexIn(d, target);
        if (from == to) continue;
        if (one.routes) {
            const std::uint8_t hash = hashOf(source, target);
            double narrowest = 0;
            for (auto at = static_cast<std::int32_t>(from); at != to;) {
                const std::int32_t next = one.routes->next(at, static_cast<std::int32_t>(to), hash);
                const FabricGraph::Link& link = one.routes->graph().links[static_cast<std::size_t>(next)];
                nanoseconds += link.latency;
                narrowest = std::max(narrowest, bytes / (link.bandwidth / 1e9));
                at = link.to;
            }
            nanoseconds += narrowest;
            continue;
        }
        const std::int64_t clockwise = (to - from + one.size) % one.size;
        const std::int64_t hops = one.shape == TopologyShape::Ring ? std::min(clockwise, one.size - clockwise)
                                  : one.shape == TopologyShape::FullyConnected ? 1
                                                                               : 2;
        nanoseconds += static_cast<double>(hops) * latency_[d] + bytes / rate_[d];
    }
    return ticks(nanoseconds);
}

std::uint8_t MessageFabric::hashOf(std::int32_t source, std::int32_t target) const {
    std::uint8_t hash = 0;
    for (std::size_t d = 0; d < strides_.size(); ++d) {
        if (!settings_.dimensions[d].routes) continue;
        const std::uint8_t its = FabricRoutes::hashOf(static_cast<std::int32_t>(indexIn(d, source)),
                                                      static_cast<std::int32_t>(indexIn(d, target)));
        hash = static_cast<std::uint8_t>(hash * 31 + its);
    }
    return hash;
}

double MessageFabric::way(std::int32_t source, std::int32_t target, std::vector<std::int32_t>& links) const {
    double latency = 0;
    for (Place place = begin(source, target); !arrived(place);) {
        const Next next = step(place);
        links.push_back(static_cast<std::int32_t>(next.link));
        latency += next.latency;
    }
    return latency;
}

std::vector<MessageFabric::LinkRate> MessageFabric::linkRates() const {
    std::vector<LinkRate> rates(use_.size());
    const std::size_t perSlot = static_cast<std::size_t>(linksOfDevice_);
    for (std::size_t d = 0; d < strides_.size(); ++d) {
        const FabricDimension& one = settings_.dimensions[d];
        if (one.routes) {
            const auto& links = one.routes->graph().links;
            const auto copies = static_cast<std::size_t>(devices_ / one.size);
            for (std::size_t l = 0; l < copies * links.size(); ++l) {
                const FabricGraph::Link& its = links[l % links.size()];
                rates[firstOfGraph_[d] + l] = {its.bandwidth / 1e9, its.latency, its.to < one.size};
            }
            continue;
        }
        const auto count = static_cast<std::size_t>(one.shape == TopologyShape::FullyConnected ? one.size : 2);
        for (std::size_t slot = 0; slot < firstOfGraph_.front(); slot += perSlot)
            for (std::size_t l = 0; l < count; ++l)
                rates[slot + static_cast<std::size_t>(firstLink_[d]) + l] = {
                    rate_[d], latency_[d], one.shape != TopologyShape::Switch || l == 1};
    }
    return rates;
}

MessageFabric::Ends MessageFabric::linkEnds() const {
    Ends made{std::vector<LinkEnds>(use_.size()), static_cast<std::int32_t>(devices_)};
    const auto vertex = [](std::int64_t one) { return static_cast<std::int32_t>(one); };
    for (std::size_t d = 0; d < strides_.size(); ++d) {
        const FabricDimension& one = settings_.dimensions[d];
        const std::int64_t sets = devices_ / one.size, block = strides_[d] * one.size;
        const auto device = [&](std::int64_t set, std::int64_t index) {
            return set / strides_[d] * block + index * strides_[d] + set % strides_[d];
        };
        if (one.routes) {
            const FabricGraph& graph = one.routes->graph();
            const std::int64_t switches = graph.vertices - one.size;
            for (std::int64_t set = 0; set < sets; ++set) {
                const auto end = [&](std::int64_t v) {
                    return vertex(v < one.size ? device(set, v) : made.vertices + set * switches + v - one.size);
                };
                const std::size_t first = firstOfGraph_[d] + static_cast<std::size_t>(set) * graph.links.size();
                for (std::size_t l = 0; l < graph.links.size(); ++l)
                    made.links[first + l] = {end(graph.links[l].from), end(graph.links[l].to)};
            }
            made.vertices += vertex(sets * switches);
            continue;
        }
        for (std::int64_t set = 0; set < sets; ++set) {
            for (std::int64_t i = 0; i < one.size; ++i) {
                const std::int64_t own = device(set, i);
                const auto join = [&](std::int64_t which, LinkEnds ends) { made.links[link(d, own, which)] = ends; };
                if (one.shape == TopologyShape::FullyConnected) {
                    for (std::int64_t j = 0; j < one.size; ++j) join(j, {vertex(own), vertex(device(set, j))});
                } else if (one.shape == TopologyShape::Switch) {
                    join(0, {vertex(own), vertex(made.vertices + set)});
                    join(1, {vertex(made.vertices + set), vertex(own)});
                } else {
                    join(0, {vertex(own), vertex(device(set, (i + 1) % one.size))});
                    join(1, {vertex(own), vertex(device(set, (i + one.size - 1) % one.size))});
                }
            }
        }
        if (one.shape == TopologyShape::Switch) made.vertices += vertex(sets);
    }
    return made;
}

SimTime MessageFabric::carry(const Next& next, double bytes, SimTime now) {
    const double serial = bytes / next.rate;
    const SimTime start = std::max(now, free_[next.link]), busy = ticks(serial);
    free_[next.link] = std::min(start + busy, furthest);
    use_[next.link].bytes += bytes;
    use_[next.link].busy = std::min(use_[next.link].busy + busy, furthest);
    if (overTime_.wanted()) overTime_.add(next.link, start, free_[next.link]);
    return start + ticks(next.latency + serial);
}

SimTime MessageFabric::hop(Place& place, double bytes, SimTime now) {
    const Next next = step(place);
    return carry(next, bytes, now);
}

MessageFabric::Next MessageFabric::step(Place& place) const {
    std::size_t d = place.inSwitch;
    if (place.inSwitch == on_device) {
        d = 0;
        while (indexIn(d, place.at) == indexIn(d, place.target)) ++d;
    }
    const FabricDimension& one = settings_.dimensions[d];
    const std::int64_t from = indexIn(d, place.at), to = indexIn(d, place.target);
    const auto there = [&](std::int64_t index) {
        return static_cast<std::int32_t>(place.at + (index - from) * strides_[d]);
    };
    if (one.routes) {
        const auto vertex = place.inSwitch == on_device ? static_cast<std::int32_t>(from) : std::int32_t{place.vertex};
        const std::int32_t wire = one.routes->next(vertex, static_cast<std::int32_t>(to), place.hash);
        const FabricGraph::Link& link = one.routes->graph().links[static_cast<std::size_t>(wire)];
        const Next next{graphLinks(d, place.at) + static_cast<std::size_t>(wire), link.bandwidth / 1e9, link.latency};
        const bool device = link.to < one.size;
        place.inSwitch = device ? on_device : static_cast<std::uint8_t>(d);
        if (device)
            place.at = there(link.to);
        else
            place.vertex = static_cast<std::uint16_t>(link.to);
        return next;
    }
    const auto over = [&](std::size_t wire) { return Next{wire, rate_[d], latency_[d]}; };
    if (one.shape == TopologyShape::Switch) {
        if (place.inSwitch == on_device) {
            place.inSwitch = static_cast<std::uint8_t>(d);
            return over(link(d, place.at, 0));
        }
        place.at = there(to);
        place.inSwitch = on_device;
        return over(link(d, place.at, 1));
    }
    if (one.shape == TopologyShape::FullyConnected) {
        const std::size_t wire = link(d, place.at, to);
        place.at = there(to);
        return over(wire);
    }
    const std::int64_t clockwise = (to - from + one.size) % one.size;
    const bool back = one.size - clockwise < clockwise;
    const std::size_t wire = link(d, place.at, back ? 1 : 0);
    place.at = there((from + (back ? one.size - 1 : 1)) % one.size);
    return over(wire);
}

}  // namespace orrery
