#pragma once

// Messages over a network of dimensions: rings, switches and full connections, one inside the other, of which a device
// has an index in each (the first one counts fastest). A message passes the dimensions in their order. With congestion
// every link carries one message at a time, in the order of arrival, and stores it whole before it goes on; without,
// nothing waits for anything. Semantics and rounding as in ASTRA-sim's analytical backends where `wholeNanoseconds` is
// set (Won et al., ISPASS 2023); there congestion has one dimension, here any number.

#include "base/diagnostic.h"
#include "hardware/network/topology.h"
#include "simulation/event_kernel.h"

#include <cstdint>
#include <vector>

namespace orrery {

struct FabricDimension {
    TopologyShape shape = TopologyShape::Switch;  ///< Ring, FullyConnected or Switch
    std::int64_t size = 2;
    double bandwidth = 50e9;  ///< B/s of a link, one direction
    double latency = 500;     ///< ns of a link
};

struct FabricSettings {
    std::vector<FabricDimension> dimensions;  ///< innermost first
    bool congestion = true;
    bool wholeNanoseconds = false;  ///< times are cut to whole nanoseconds
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
    };
    struct LinkUse {
        double bytes = 0;
        SimTime busy = 0;
    };

    /// Fails with `network.shape` where a dimension has another shape, fewer than two devices, no bandwidth, a negative
    /// latency, or where there are more than 2^24 devices or, with congestion, 2^26 links. `slots`: which state stands
    /// for a device, from 0 on (equal devices may share one); empty: each has its own.
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
    /// connection.
    const std::vector<LinkUse>& use() const { return use_; }

private:
    MessageFabric() = default;
    std::size_t link(std::size_t dimension, std::int64_t device, std::int64_t which) const {
        const std::int64_t slot = slots_.empty() ? device : slots_[static_cast<std::size_t>(device)];
        return static_cast<std::size_t>(slot * linksOfDevice_ + firstLink_[dimension] + which);
    }
    SimTime carry(std::size_t link, std::size_t dimension, double bytes, SimTime now);

    FabricSettings settings_;
    std::int64_t devices_ = 1, linksOfDevice_ = 0;
    std::vector<std::int64_t> strides_, firstLink_;
    std::vector<double> latency_, rate_;  ///< ns, B/ns
    std::vector<std::int32_t> slots_;
    std::vector<SimTime> free_;
    std::vector<LinkUse> use_;
};

}  // namespace orrery
