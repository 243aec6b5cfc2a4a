#pragma once

// Messages as fluids over the links of a fabric: all that are under way share each link max-min fairly (Bertsekas &
// Gallager, Data Networks, 6.5.2), and a message comes the latencies of its way after its last byte has left. Rates
// change only where a flow begins or ends, once for all that do so at the same tick, and only among flows that share
// links with those. A flow ends at the first whole picosecond by which its last byte has left.

#include "simulation/network/message_fabric.h"
#include "simulation/network/message_network.h"

#include <array>
#include <unordered_map>
#include <vector>

namespace orrery {

class FluidNetwork final : public MessageNetwork {
public:
    /// Both outlive it; the fabric has congestion. What its links carry is counted there.
    FluidNetwork(MessageFabric& fabric, TimeBuckets& queue);

    void sendPart(std::int32_t source, std::int32_t target, WayPart part, double bytes,
                  TimeBuckets::Event there) override;
    void handle(TimeBuckets::Event event) override;
    std::unique_ptr<MessageNetwork> copy() const override { return std::make_unique<FluidNetwork>(*this); }

    std::uint64_t reshared() const { return reshared_; }  ///< flows that were given a rate, for its cost

private:
    enum Event : std::uint32_t { FlowEnds = first_event, Reshare };
    struct Path {
        std::uint32_t first = 0, count = 0;  ///< in pathLinks_
        double latency = 0;                  ///< ns
    };
    struct Flow {
        double left = 0, rate = 0;  ///< B, B/ns
        double bytes = 0;
        SimTime since = 0, ends = -1;
        std::uint32_t path = 0;
        TimeBuckets::Event there;
        bool active = false, touched = false;
        double next = 0;  ///< rate that it gets; below 0: none yet
    };
    struct Link {
        double rate = 0;
        std::vector<std::uint32_t> flows;  ///< once for every time that their ways pass it
        double spare = 0;
        std::uint32_t users = 0;
        bool touched = false, dirty = false;
    };
    std::uint32_t pathOf(std::int32_t source, std::int32_t target, WayPart part);
    void markDirty(const Path& path);
    void ended(std::uint32_t flow);
    void reshare();
    void collect();
    void fill();
    void settle(Flow& flow, double rate);

    MessageFabric& fabric_;
    TimeBuckets& queue_;
    std::vector<Link> links_;
    std::vector<Path> paths_;
    std::vector<std::int32_t> pathLinks_;
    std::array<std::unordered_map<std::uint64_t, std::uint32_t>, 3> pathOfPair_;  ///< by part
    std::vector<Flow> flows_;
    std::vector<std::uint32_t> freeFlows_;
    std::vector<std::int32_t> dirty_;
    std::vector<std::int32_t> someLinks_;  ///< of the reshared
    std::vector<std::uint32_t> someFlows_;
    bool planned_ = false;
    std::uint64_t reshared_ = 0;
};

}  // namespace orrery
