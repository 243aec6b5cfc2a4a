#pragma once

// Messages over a network of dimensions: rings, switches, full connections and drawn graphs, one inside the other, of
// which a device has an index in each (the first one counts fastest). A message passes the dimensions in their order.
// With congestion every link carries one message at a time, in the order of arrival, and stores it whole before it goes
// on; without, nothing waits for anything. Semantics and rounding as in ASTRA-sim's analytical backends where
// `wholeNanoseconds` is set (Won et al., ISPASS 2023); there congestion has one dimension, here any number.

#include "base/diagnostic.h"
#include "hardware/network/topology.h"
#include "simulation/event_kernel.h"
#include "simulation/network/fabric_graph.h"
#include "simulation/network/link_use.h"
#include "simulation/network/packet_settings.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace orrery {

struct FabricDimension {
    TopologyShape shape = TopologyShape::Switch;  ///< Ring, FullyConnected or Switch
    std::int64_t size = 2;
    double bandwidth = 50e9;  ///< B/s of a link, one direction
    double latency = 500;     ///< ns of a link
    /// A graph of any shape instead, of `size` endpoints; each set of devices that differ in this dimension alone has
    /// its own copy.
    std::shared_ptr<const FabricRoutes> routes = {};
};

/// How links that can be busy carry messages.
enum class LinkCarrying : std::uint8_t {
    StoreAndForward,  ///< one message at a time, whole, in the order of arrival
    Fluid,            ///< all at once, max-min fair (fluid_network.h)
    Packets,          ///< packets in finite queues with pauses and rate control (packet_network.h)
    Ns3               ///< packets of the program orrery-ns3 (ns3_network.h)
};
std::string_view toText(LinkCarrying carrying);  ///< `store-and-forward`, `fluid`, `packets`, `ns3`
/// Whether it carries packets, by chance and so for no rank as for its like.
inline bool inPackets(LinkCarrying carrying) {
    return carrying == LinkCarrying::Packets || carrying == LinkCarrying::Ns3;
}

struct FabricSettings {
    std::vector<FabricDimension> dimensions;  ///< innermost first
    bool congestion = true;
    LinkCarrying carrying = LinkCarrying::StoreAndForward;
    PacketSettings packets;
    bool wholeNanoseconds = false;  ///< times are cut to whole nanoseconds
    bool useOverTime = false;       ///< keep how busy each link is over time
};

class MessageFabric {
public:
    static constexpr std::uint8_t on_device = 255;
    /// 26 days: no span is longer, so that the sum of a few never overflows. A run that gets there has failed.
    static constexpr SimTime furthest = SimTime{1} << 61;
    struct Place {
        std::int32_t at = 0;                ///< device; in a switch: the one that it came from
        std::int32_t target = 0;            ///< device
        std::uint8_t inSwitch = on_device;  ///< dimension of the switch
        std::uint8_t hash = 0;              ///< of the pair, where a graph has many ways
        std::uint16_t vertex = 0;           ///< in a switch of a graph
    };
    struct LinkUse {
        double bytes = 0;
        SimTime busy = 0;
    };

    /// Where a message from `source` to `target` begins. Ways through graphs are chosen by the places of both in them,
    /// so that copies of a graph are used alike.
    Place begin(std::int32_t source, std::int32_t target) const {
        Place place{source, target};
        if (!firstOfGraph_.empty() && linksOfGraphs_ > 0) place.hash = hashOf(source, target);
        return place;
    }

    /// Fails with `network.shape` where a dimension has another shape, fewer than two devices, no bandwidth, a negative
    /// latency, another size than its graph, or where there are more than 2^24 devices or, with congestion, 2^26 links.
    /// `slots`: which state stands for a device, from 0 on (equal devices may share one); empty: each has its own.
    static Expected<MessageFabric> make(FabricSettings settings, std::vector<std::int32_t> slots = {});

    std::int64_t devices() const { return devices_; }
    const FabricSettings& settings() const { return settings_; }
    std::int64_t size(std::size_t dimension) const { return settings_.dimensions[dimension].size; }
    std::int64_t stride(std::size_t dimension) const { return strides_[dimension]; }
    std::int64_t indexIn(std::size_t dimension, std::int64_t device) const {
        return device / strides_[dimension] % settings_.dimensions[dimension].size;
    }

    /// Ticks from `source` to `target` through an empty network.
    SimTime alone(std::int32_t source, std::int32_t target, double bytes) const;
    /// Ticks from a device to its switch, or from the switch to a device, through an empty network.
    SimTime aloneToSwitch(std::size_t dimension, double bytes) const {
        return ticks(latency_[dimension] + bytes / rate_[dimension]);
    }
    /// Appends the links of the way from `source` to `target`, as indices into use(); the sum of their latencies, ns.
    /// Only with congestion.
    double way(std::int32_t source, std::int32_t target, std::vector<std::int32_t>& links) const;
    /// B/ns and ns of every link, by its index.
    struct LinkRate {
        double rate = 0, latency = 0;
        bool toDevice = true;
    };
    std::vector<LinkRate> linkRates() const;
    /// What every link joins, by its index: devices have their numbers, switches those behind them. Where every device
    /// has a slot of its own.
    struct LinkEnds {
        std::int32_t from = 0, to = 0;
    };
    struct Ends {
        std::vector<LinkEnds> links;
        std::int32_t vertices = 0;
    };
    Ends linkEnds() const;
    /// Sends the message over its next link and moves it there; when it arrives. Calls come in the order of time.
    SimTime hop(Place& place, double bytes, SimTime now);
    static bool arrived(const Place& place) { return place.at == place.target && place.inSwitch == on_device; }

    /// Nanoseconds as ticks, rounded as the settings say; what is no number or too long is the furthest.
    SimTime ticks(double nanoseconds) const {
        if (!(nanoseconds < static_cast<double>(furthest / 1000))) return furthest;
        if (nanoseconds < 0) return 0;
        return settings_.wholeNanoseconds ? static_cast<SimTime>(nanoseconds) * 1000
                                          : static_cast<SimTime>(nanoseconds * 1000 + 0.5);
    }
    /// By link; of a slot's links: the dimensions after each other, two of a ring or switch, `size` of a full
    /// connection. Behind those of all slots: graphs by dimension, copy by copy, in the order of their links.
    const std::vector<LinkUse>& use() const { return use_; }
    std::vector<LinkUse>& use() { return use_; }
    SimTime busyUntil(std::size_t link) const { return free_[link]; }  ///< of links that store and forward
    LinkUseOverTime& useOverTime() { return overTime_; }
    /// Index of the first link of a dimension's graph, in the copy of a device.
    std::size_t graphLinks(std::size_t dimension, std::int64_t device) const {
        const FabricDimension& one = settings_.dimensions[dimension];
        const std::int64_t stride = strides_[dimension], copy = device / (stride * one.size) * stride + device % stride;
        return firstOfGraph_[dimension] + static_cast<std::size_t>(copy) * one.routes->graph().links.size();
    }

private:
    MessageFabric() = default;
    std::size_t link(std::size_t dimension, std::int64_t device, std::int64_t which) const {
        const std::int64_t slot = slots_.empty() ? device : slots_[static_cast<std::size_t>(device)];
        return static_cast<std::size_t>(slot * linksOfDevice_ + firstLink_[dimension] + which);
    }
    struct Next {
        std::size_t link;
        double rate, latency;
    };
    std::uint8_t hashOf(std::int32_t source, std::int32_t target) const;
    Next step(Place& place) const;
    SimTime carry(const Next& next, double bytes, SimTime now);

    FabricSettings settings_;
    std::int64_t devices_ = 1, linksOfDevice_ = 0;
    std::vector<std::int64_t> strides_, firstLink_;
    std::vector<double> latency_, rate_;  ///< ns, B/ns
    std::vector<std::int32_t> slots_;
    std::vector<std::size_t> firstOfGraph_;
    std::int64_t linksOfGraphs_ = 0;
    std::vector<SimTime> free_;
    std::vector<LinkUse> use_;
    LinkUseOverTime overTime_;
};

}  // namespace orrery
