// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

// A network of directed links in ns-3, flows pinned to their ways over it, and messages on the flows. Two transports:
// DCTCP with ECN, one connection of each flow; or datagrams at the pace of the first link, in turns among messages.

#include "pinned_routing.h"

#include <ns3/node-container.h>
#include <ns3/nstime.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/queue-disc.h>
#include <ns3/socket.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

struct Settings {
    bool dctcp = true;
    std::uint32_t payload = 4096, header = 82;  ///< B of a packet
    double markFrom = 32e3, markAll = 128e3;    ///< ns of a queue's link
    double markMost = 0.2;                      ///< chance at `markAll`
    std::uint32_t seed = 1;
};

struct Link {
    std::uint32_t from = 0, to = 0;
    double rate = 0;           ///< B/s
    std::int64_t latency = 0;  ///< ps
    ns3::Ptr<ns3::PointToPointNetDevice> device = nullptr;
    std::uint32_t interface = 0;
    double bytes = 0;  ///< on the wire so far
    struct Busy {
        std::int64_t begin = 0, end = 0;  ///< ps
        double bytes = 0;
    };
    std::vector<Busy> busy;  ///< gaps of less than a microsecond count
};

struct Arrival {
    std::uint32_t message = 0;
    std::int64_t time = 0;  ///< ps
};

class Flows {
public:
    Flows(const Settings& settings, std::uint32_t vertices, std::vector<Link> links);

    /// Number of the flow: from the first link's start to the last one's end; `back` leads the other way.
    std::size_t add(const std::vector<std::uint32_t>& way, const std::vector<std::uint32_t>& back);
    /// Connects what was added; time zero of everything else is when all are.
    void settle();
    void send(std::int64_t time, std::size_t flow, std::uint32_t message, std::uint64_t bytes);
    /// Until something has come, at most until `time`; without one if it is negative. Where it stopped.
    std::int64_t run(std::int64_t time);
    std::vector<Arrival> takeArrivals();

    std::size_t underWay() const { return underWay_; }
    std::uint64_t packets() const { return packets_; }
    std::uint64_t marks() const;
    std::uint64_t drops() const;
    const std::vector<Link>& links() const { return links_; }
    std::int64_t zero() const { return zero_; }  ///< ps of ns-3's clock

private:
    struct Part {
        std::uint32_t message = 0;
        std::uint64_t bytes = 0;  ///< left to send, or to come
    };
    struct Flow {
        std::uint32_t from = 0, to = 0, firstLink = 0;
        std::int64_t roundTrip = 0;  ///< ps
        double rate = 0;             ///< B/s, of the slowest link
        ns3::Ptr<ns3::Socket> socket = nullptr;
        bool connected = false;
        std::deque<Part> toSend, toCome;
    };
    struct Pacer {  ///< of a first link: datagrams of its messages in turns
        std::deque<std::size_t> turns;
        bool busy = false;
    };

    void build(std::uint32_t vertices);
    void connect(std::size_t flow);
    void begin(std::size_t flow, std::uint32_t message, std::uint64_t bytes);
    void fill(std::size_t flow);
    void pace(std::uint32_t link);
    void came(std::size_t flow, std::uint64_t bytes);
    void read(std::size_t flow, ns3::Ptr<ns3::Socket> socket);
    void readDatagrams(std::uint32_t vertex, ns3::Ptr<ns3::Socket> socket);
    void accepted(std::uint32_t vertex, ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
    std::int64_t now() const;

    Settings settings_;
    std::vector<Link> links_;
    ns3::NodeContainer nodes_;
    std::vector<ns3::Ptr<PinnedRouting>> routing_;
    std::vector<ns3::Ptr<ns3::Socket>> listening_;
    std::vector<Flow> flows_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> flowOf_;  ///< by both ends
    std::vector<Pacer> pacers_;                                              ///< by link
    std::vector<Arrival> arrivals_;
    std::vector<ns3::Ptr<ns3::QueueDisc>> queues_;
    std::size_t underWay_ = 0, warm_ = 0;
    std::uint64_t packets_ = 0;
    std::int64_t zero_ = 0, lastEvent_ = 0;
};
