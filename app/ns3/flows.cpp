// SPDX-License-Identifier: GPL-2.0-or-later
#include "flows.h"

#include <ns3/boolean.h>
#include <ns3/config.h>
#include <ns3/double.h>
#include <ns3/drop-tail-queue.h>
#include <ns3/inet-socket-address.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-l3-protocol.h>
#include <ns3/ipv4-packet-filter.h>
#include <ns3/packet.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/red-queue-disc.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/tcp-dctcp.h>
#include <ns3/tcp-socket-factory.h>
#include <ns3/traffic-control-helper.h>
#include <ns3/udp-socket-factory.h>
#include <ns3/uinteger.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

using namespace ns3;

namespace {

constexpr std::uint16_t port = 9;
// Of ns-3's own packets: PPP, IPv4, then UDP, or TCP with time stamps.
constexpr std::uint32_t udp_headers = 2 + 20 + 8, tcp_headers = 2 + 20 + 32;
constexpr std::int64_t microsecond = 1'000'000;
// No link and no timer takes so long.
constexpr std::int64_t longest_silence = 2'000'000'000'000;
constexpr std::uint32_t no_message = ~0U, warm_up = ~0U - 1;

Ipv4Address addressOf(std::uint32_t vertex) {
    return Ipv4Address((10U << 24) + vertex + 1);
}

std::uint32_t vertexOf(const Address& address) {
    return InetSocketAddress::ConvertFrom(address).GetIpv4().Get() - (10U << 24) - 1;
}

void setDefaults(const Settings& settings) {
    RngSeedManager::SetSeed(settings.seed + 1);
    // Nothing is lost, so no timer ever repairs anything; buffers hold more than any way does.
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpDctcp::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(settings.payload));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(32U << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(256U << 20));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MicroSeconds(10)));
    Config::SetDefault("ns3::TcpSocket::TcpNoDelay", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(100)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MicroSeconds(1)));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
}

void began(Link* link, std::uint32_t gap, Ptr<const Packet> packet) {
    const double bytes = packet->GetSize() + gap;
    const std::int64_t begin = Simulator::Now().GetPicoSeconds(),
                       end = begin + static_cast<std::int64_t>(bytes / link->rate * 1e12);
    link->bytes += bytes;
    if (link->busy.empty() || begin > link->busy.back().end + microsecond)
        link->busy.push_back({begin, end, bytes});
    else {
        link->busy.back().end = end;
        link->busy.back().bytes += bytes;
    }
}

}  // namespace

namespace ns3 {

/// Band 0 for what carries no data, 1 for what does.
class OrrerySmallFirst : public Ipv4PacketFilter {
public:
    static TypeId GetTypeId() {
        static TypeId id =
            TypeId("ns3::OrrerySmallFirst").SetParent<Ipv4PacketFilter>().AddConstructor<OrrerySmallFirst>();
        return id;
    }

private:
    std::int32_t DoClassify(Ptr<QueueDiscItem> item) const override {
        return item->GetPacket()->GetSize() <= tcp_headers ? 0 : 1;
    }
};
NS_OBJECT_ENSURE_REGISTERED(OrrerySmallFirst);

}  // namespace ns3

Flows::Flows(const Settings& settings, std::uint32_t vertices, std::vector<Link> links)
    : settings_(settings), links_(std::move(links)), pacers_(links_.size()) {
    setDefaults(settings_);
    build(vertices);
}

// A channel for every directed link, of which the other direction stays empty.
void Flows::build(std::uint32_t vertices) {
    nodes_.Create(vertices);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes_);
    for (std::uint32_t v = 0; v < vertices; ++v) {
        routing_.push_back(CreateObject<PinnedRouting>(addressOf(v)));
        Ptr<Ipv4> ipv4 = nodes_.Get(v)->GetObject<Ipv4>();
        ipv4->SetRoutingProtocol(routing_.back());
        ipv4->AddAddress(0, Ipv4InterfaceAddress(addressOf(v), Ipv4Mask("255.255.255.255")));
    }
    const std::uint32_t own = settings_.dctcp ? tcp_headers : udp_headers;
    const std::uint32_t gap = settings_.header > own ? settings_.header - own : 0;
    for (Link& link : links_) {
        PointToPointHelper helper;
        helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(settings_.dctcp ? "2p" : "1000000000p"));
        helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<std::uint64_t>(link.rate * 8 + 0.5))));
        helper.SetDeviceAttribute("Mtu", UintegerValue(std::min<std::uint32_t>(65535, settings_.payload + 128)));
        // What Ethernet has around a packet, beside the headers that ns-3 sends.
        helper.SetDeviceAttribute("InterframeGap", TimeValue(PicoSeconds(std::llround(gap / link.rate * 1e12))));
        helper.SetChannelAttribute("Delay", TimeValue(PicoSeconds(link.latency)));
        NetDeviceContainer both = helper.Install(nodes_.Get(link.from), nodes_.Get(link.to));
        link.device = DynamicCast<PointToPointNetDevice>(both.Get(0));
        link.device->TraceConnectWithoutContext("PhyTxBegin", MakeBoundCallback(&began, &link, gap));
        for (std::uint32_t end = 0; end < 2; ++end) {
            Ptr<Ipv4> ipv4 = both.Get(end)->GetNode()->GetObject<Ipv4>();
            const std::uint32_t interface = ipv4->AddInterface(both.Get(end));
            ipv4->SetUp(interface);
            if (end == 0) link.interface = interface;
        }
        if (!settings_.dctcp) continue;
        // RED of the queue as it is now: DCQCN's marks. Acknowledgements go first, as adapters send them.
        const double perNanosecond = link.rate / 1e9;
        TrafficControlHelper control;
        const std::uint16_t root = control.SetRootQueueDisc("ns3::PrioQueueDisc");
        control.AddPacketFilter(root, "ns3::OrrerySmallFirst");
        const auto classes = control.AddQueueDiscClasses(root, 2, "ns3::QueueDiscClass");
        control.AddChildQueueDiscs(
            root, classes, "ns3::RedQueueDisc", "MaxSize", StringValue("4000000000B"), "MinTh",
            DoubleValue(settings_.markFrom * perNanosecond), "MaxTh", DoubleValue(settings_.markAll * perNanosecond),
            "LInterm", DoubleValue(1 / settings_.markMost), "QW", DoubleValue(1), "UseEcn", BooleanValue(true),
            "UseHardDrop", BooleanValue(false), "Gentle", BooleanValue(false), "Wait", BooleanValue(false),
            "MeanPktSize", UintegerValue(settings_.payload + tcp_headers), "LinkBandwidth",
            DataRateValue(DataRate(static_cast<std::uint64_t>(link.rate * 8 + 0.5))));
        Ptr<QueueDisc> made = control.Install(link.device).Get(0);
        for (std::size_t band = 0; band < 2; ++band) queues_.push_back(made->GetQueueDiscClass(band)->GetQueueDisc());
    }
    for (std::uint32_t v = 0; v < vertices; ++v) {
        Ptr<Socket> socket = Socket::CreateSocket(
            nodes_.Get(v), settings_.dctcp ? TcpSocketFactory::GetTypeId() : UdpSocketFactory::GetTypeId());
        socket->Bind(InetSocketAddress(addressOf(v), port));
        if (settings_.dctcp) {
            socket->Listen();
            socket->SetAcceptCallback([](Ptr<Socket>, const Address&) { return true; },
                                      [this, v](Ptr<Socket> made, const Address& from) { accepted(v, made, from); });
        } else {
            socket->SetRecvCallback([this, v](Ptr<Socket> its) { readDatagrams(v, its); });
        }
        listening_.push_back(socket);
    }
}

std::size_t Flows::add(const std::vector<std::uint32_t>& way, const std::vector<std::uint32_t>& back) {
    Flow flow;
    flow.firstLink = way.front();
    flow.from = links_[way.front()].from;
    flow.to = links_[way.back()].to;
    flow.rate = links_[way.front()].rate;
    for (const auto* one : {&way, &back}) {
        const bool there = one == &way;
        for (const std::uint32_t at : *one) {
            const Link& link = links_[at];
            routing_[link.from]->leaveBy(addressOf(there ? flow.from : flow.to), addressOf(there ? flow.to : flow.from),
                                         link.interface);
            flow.roundTrip += link.latency;
            flow.roundTrip +=
                static_cast<std::int64_t>((there ? settings_.payload + settings_.header : 84) / link.rate * 1e12);
            if (there) flow.rate = std::min(flow.rate, link.rate);
        }
    }
    if (!flowOf_.emplace(std::pair{flow.from, flow.to}, flows_.size()).second)
        throw std::runtime_error("two flows between the same ends");
    flows_.push_back(std::move(flow));
    // As an event: nodes are ready from the first one on.
    if (settings_.dctcp) Simulator::ScheduleNow(&Flows::connect, this, flows_.size() - 1);
    return flows_.size() - 1;
}

void Flows::connect(std::size_t at) {
    Flow& flow = flows_[at];
    flow.socket = Socket::CreateSocket(nodes_.Get(flow.from), TcpSocketFactory::GetTypeId());
    // As adapters with remote memory access do, it starts at the rate of its link: a window of what is under way then.
    const double window = 2 * flow.rate * static_cast<double>(flow.roundTrip) * 1e-12 / settings_.payload;
    flow.socket->SetAttribute("InitialCwnd", UintegerValue(static_cast<std::uint32_t>(std::max(10.0, window + 1))));
    flow.socket->Bind(InetSocketAddress(addressOf(flow.from), static_cast<std::uint16_t>(1024 + at % 60000)));
    flow.socket->SetConnectCallback(
        [this, at](Ptr<Socket>) {
            flows_[at].connected = true;
            // The first answer tells how wide the other one's window is; before it, TCP takes 64 KB for it.
            flows_[at].toSend.push_front({warm_up, 1});
            flows_[at].toCome.push_front({warm_up, 1});
            fill(at);
        },
        [](Ptr<Socket>) { throw std::runtime_error("a connection failed"); });
    flow.socket->SetSendCallback([this, at](Ptr<Socket>, std::uint32_t) { fill(at); });
    flow.socket->Connect(InetSocketAddress(addressOf(flow.to), port));
}

void Flows::accepted(std::uint32_t vertex, Ptr<Socket> socket, const Address& from) {
    const std::size_t flow = flowOf_.at({vertexOf(from), vertex});
    socket->SetRecvCallback([this, flow](Ptr<Socket> its) { read(flow, its); });
}

void Flows::settle() {
    while (settings_.dctcp && warm_ < flows_.size()) {
        Simulator::Stop(MilliSeconds(1));
        Simulator::Run();
        if (Simulator::Now() > Seconds(10)) throw std::runtime_error("connections do not come");
    }
    zero_ = Simulator::Now().GetPicoSeconds();
    for (Link& link : links_) {
        link.bytes = 0;
        link.busy.clear();
    }
}

std::int64_t Flows::now() const {
    return Simulator::Now().GetPicoSeconds() - zero_;
}

void Flows::send(std::int64_t time, std::size_t flow, std::uint32_t message, std::uint64_t bytes) {
    ++underWay_;
    Simulator::Schedule(PicoSeconds(std::max<std::int64_t>(0, time - now())),
                        [this, flow, message, bytes] { begin(flow, message, bytes); });
}

void Flows::begin(std::size_t at, std::uint32_t message, std::uint64_t bytes) {
    Flow& flow = flows_[at];
    packets_ += (bytes + settings_.payload - 1) / settings_.payload;
    flow.toSend.push_back({message, bytes});
    if (settings_.dctcp) {
        flow.toCome.push_back({message, bytes});
        fill(at);
        return;
    }
    pacers_[flow.firstLink].turns.push_back(at);
    pace(flow.firstLink);
}

// Into the socket, as far as there is room.
void Flows::fill(std::size_t at) {
    Flow& flow = flows_[at];
    while (flow.connected && !flow.toSend.empty()) {
        Part& part = flow.toSend.front();
        const std::uint64_t bytes = std::min<std::uint64_t>({part.bytes, flow.socket->GetTxAvailable(), 1U << 20});
        if (bytes == 0) return;
        const int taken = flow.socket->Send(Create<Packet>(static_cast<std::uint32_t>(bytes)));
        if (taken <= 0) return;
        part.bytes -= static_cast<std::uint64_t>(taken);
        if (part.bytes == 0) flow.toSend.pop_front();
    }
}

// A datagram of the next message whose turn it is, and the next one when its link is free.
void Flows::pace(std::uint32_t link) {
    Pacer& pacer = pacers_[link];
    if (pacer.busy || pacer.turns.empty()) return;
    const std::size_t at = pacer.turns.front();
    pacer.turns.pop_front();
    Flow& flow = flows_[at];
    Part part = flow.toSend.front();
    flow.toSend.pop_front();
    const std::uint64_t bytes = std::min<std::uint64_t>(part.bytes, settings_.payload);
    part.bytes -= bytes;
    // The last one of a message says so: in the order in which they come there is one mark for each message.
    flow.toCome.push_back({part.bytes == 0 ? part.message : no_message, bytes});
    listening_[flow.from]->SendTo(Create<Packet>(static_cast<std::uint32_t>(bytes)), 0,
                                  InetSocketAddress(addressOf(flow.to), port));
    if (part.bytes > 0) {
        flow.toSend.push_back(part);
        pacer.turns.push_back(at);
    }
    pacer.busy = true;
    const double wire = static_cast<double>(bytes) + std::max(settings_.header, udp_headers);
    Simulator::Schedule(PicoSeconds(std::llround(wire / links_[link].rate * 1e12)), [this, link] {
        pacers_[link].busy = false;
        pace(link);
    });
}

void Flows::came(std::size_t at, std::uint64_t bytes) {
    std::deque<Part>& parts = flows_[at].toCome;
    while (bytes > 0 && !parts.empty()) {
        const std::uint64_t taken = std::min(bytes, parts.front().bytes);
        bytes -= taken;
        parts.front().bytes -= taken;
        if (parts.front().bytes > 0) return;
        if (parts.front().message == warm_up) {
            ++warm_;
        } else if (parts.front().message != no_message) {
            arrivals_.push_back({parts.front().message, now()});
            --underWay_;
            Simulator::Stop();
        }
        parts.pop_front();
    }
}

void Flows::read(std::size_t flow, Ptr<Socket> socket) {
    while (Ptr<Packet> packet = socket->Recv()) came(flow, packet->GetSize());
}

void Flows::readDatagrams(std::uint32_t vertex, Ptr<Socket> socket) {
    Address from;
    while (Ptr<Packet> packet = socket->RecvFrom(from)) came(flowOf_.at({vertexOf(from), vertex}), packet->GetSize());
}

std::int64_t Flows::run(std::int64_t time) {
    if (!arrivals_.empty() || (time >= 0 && time <= now())) return now();
    EventId stop;
    if (time >= 0) stop = Simulator::Schedule(PicoSeconds(time - now()), [] { Simulator::Stop(); });
    const std::uint64_t before = Simulator::GetEventCount();
    Simulator::Run();
    stop.Cancel();
    if (Simulator::GetEventCount() > before + 1 || underWay_ == 0) lastEvent_ = now();
    if (now() > lastEvent_ + longest_silence || (arrivals_.empty() && time < 0))
        throw std::runtime_error("messages wait for ever");
    return now();
}

std::vector<Arrival> Flows::takeArrivals() {
    return std::exchange(arrivals_, {});
}

std::uint64_t Flows::marks() const {
    std::uint64_t sum = 0;
    for (const Ptr<QueueDisc>& one : queues_) sum += one->GetStats().nTotalMarkedPackets;
    return sum;
}

std::uint64_t Flows::drops() const {
    std::uint64_t sum = 0;
    for (const Ptr<QueueDisc>& one : queues_) sum += one->GetStats().nTotalDroppedPackets;
    return sum;
}
