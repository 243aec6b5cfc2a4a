#pragma once

// Messages as packets: each takes the way of its pair, waits in the queues of ports, and is stored at every hop. A
// switch in which too much waits of what came over a link pauses that link; queues mark packets, and who sends marked
// ones slows down and recovers. Devices that forward have room enough. Lossless: nothing is sent twice.

#include "base/random.h"
#include "simulation/network/message_fabric.h"
#include "simulation/network/message_network.h"

#include <deque>
#include <vector>

namespace orrery {

class PacketNetwork final : public MessageNetwork {
public:
    /// Both outlive it; the fabric has congestion. Its links' use counts headers.
    PacketNetwork(MessageFabric& fabric, TimeBuckets& queue, std::uint64_t seed);

    void sendPart(std::int32_t source, std::int32_t target, WayPart part, double bytes,
                  TimeBuckets::Event there) override;
    void handle(TimeBuckets::Event event) override;
    std::unique_ptr<MessageNetwork> copy() const override { return std::make_unique<PacketNetwork>(*this); }

    std::uint64_t packets() const { return packets_; }
    std::uint64_t pauses() const { return pauses_; }
    std::uint64_t slowDowns() const { return slowDowns_; }
    double longestQueue() const { return longestQueue_; }  ///< B

private:
    enum Event : std::uint32_t { PortFree = first_event, PacketCame, Paused, Resumed, SlowDown, Recover, PortWake };
    static constexpr std::int32_t nowhere = -1;

    struct Packet {
        std::uint32_t message = 0;
        std::int32_t cameOver = nowhere;
        float bytes = 0;  ///< on the wire
        std::uint16_t hop = 0;
        bool marked = false;
    };
    struct Message {
        std::vector<std::int32_t> path;
        double latency = 0;  ///< ns of the way
        double left = 0, toCome = 0;
        SimTime mayGo = 0, lastMark = -1;
        // Of its rate, B/ns: now, what it recovers to, and the estimate of congestion.
        double rate = 0, target = 0, alpha = 1;
        int recoveries = 0;
        bool slowed = false, recovers = false;
        TimeBuckets::Event there;
    };
    struct Port {
        double rate = 0, latency = 0;
        bool toDevice = true, busy = false, paused = false, pauseSent = false;
        std::deque<Packet> queue, flying;
        std::deque<std::uint32_t> messages;  ///< that begin here, in turns
        double queued = 0;                   ///< B
        double held = 0;                     ///< B that came over this link and wait in the switch behind it
        SimTime wakes = -1;
    };
    void start(std::int32_t port);
    bool nextPacket(Port& port, Packet& packet);
    void came(std::int32_t port);
    void delivered(const Packet& packet);
    void leftSwitch(const Packet& packet);
    void slowDown(std::uint32_t message);
    void recover(std::uint32_t message);
    void finish(std::uint32_t message);
    SimTime after(double nanoseconds) const { return queue_.now() + fabric_.ticks(nanoseconds); }

    MessageFabric& fabric_;
    TimeBuckets& queue_;
    PacketSettings settings_;
    RandomStream random_;
    std::vector<Port> ports_;
    std::vector<Message> messages_;
    std::vector<std::uint32_t> free_;
    std::uint64_t packets_ = 0, pauses_ = 0, slowDowns_ = 0;
    double longestQueue_ = 0;
};

}  // namespace orrery
