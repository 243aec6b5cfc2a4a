#include "simulation/network/message_fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

Expected<MessageFabric> MessageFabric::make(FabricSettings settings, std::vector<std::int32_t> slots) {
    MessageFabric fabric;
    constexpr std::int64_t most = 1 << 24;
    for (const FabricDimension& one : settings.dimensions) {
        const bool shape = one.shape == TopologyShape::Ring || one.shape == TopologyShape::FullyConnected ||
                           one.shape == TopologyShape::Switch;
        const bool numbers = one.size >= 2 && one.bandwidth > 0 && std::isfinite(one.bandwidth) && one.latency >= 0 &&
                             std::isfinite(one.latency);
        if (!shape || !numbers)
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
        fabric.linksOfDevice_ += one.shape == TopologyShape::FullyConnected ? one.size : 2;
        fabric.latency_.push_back(one.latency);
        fabric.rate_.push_back(one.bandwidth / 1e9);
    }
    if (settings.dimensions.empty()) return fail("network.shape", "the network has no dimension", "one or more", {});
    std::int64_t states = fabric.devices_;
    if (!slots.empty()) states = 1 + *std::max_element(slots.begin(), slots.end());
    fabric.slots_ = std::move(slots);
    if (settings.congestion) {
        // 24 bytes each.
        if (states * fabric.linksOfDevice_ > std::int64_t{1} << 26)
            return fail("network.shape", "the network has more than 67 million links", "fewer links",
                        "ask without congestion");
        fabric.free_.assign(static_cast<std::size_t>(states * fabric.linksOfDevice_), 0);
        fabric.use_.assign(fabric.free_.size(), {});
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
        const std::int64_t clockwise = (to - from + one.size) % one.size;
        const std::int64_t hops = one.shape == TopologyShape::Ring ? std::min(clockwise, one.size - clockwise)
                                  : one.shape == TopologyShape::FullyConnected ? 1
                                                                               : 2;
        nanoseconds += static_cast<double>(hops) * latency_[d] + bytes / rate_[d];
    }
    return ticks(nanoseconds);
}

SimTime MessageFabric::carry(std::size_t link, std::size_t dimension, double bytes, SimTime now) {
    const double serial = bytes / rate_[dimension];
    const SimTime start = std::max(now, free_[link]), busy = ticks(serial);
    free_[link] = std::min(start + busy, furthest);
    use_[link].bytes += bytes;
    use_[link].busy = std::min(use_[link].busy + busy, furthest);
    return start + ticks(latency_[dimension] + serial);
}

SimTime MessageFabric::hop(Place& place, double bytes, SimTime now) {
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
    if (one.shape == TopologyShape::Switch) {
        if (place.inSwitch == on_device) {
            place.inSwitch = static_cast<std::uint8_t>(d);
            return carry(link(d, place.at, 0), d, bytes, now);
        }
        place.at = there(to);
        place.inSwitch = on_device;
        return carry(link(d, place.at, 1), d, bytes, now);
    }
    if (one.shape == TopologyShape::FullyConnected) {
        const std::size_t wire = link(d, place.at, to);
        place.at = there(to);
        return carry(wire, d, bytes, now);
    }
    const std::int64_t clockwise = (to - from + one.size) % one.size;
    const bool back = one.size - clockwise < clockwise;
    const std::size_t wire = link(d, place.at, back ? 1 : 0);
    place.at = there((from + (back ? one.size - 1 : 1)) % one.size);
    return carry(wire, d, bytes, now);
}

}  // namespace orrery
