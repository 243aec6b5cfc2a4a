// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

// Ways that are given, pair by pair, as interfaces to leave by. ns-3's own global routing takes either the first of
// equal ways or another one for each packet; here all packets of a pair keep the way that its hash chose.

#include <ns3/ipv4-routing-protocol.h>
#include <ns3/ipv4.h>

#include <cstdint>
#include <unordered_map>

class PinnedRouting : public ns3::Ipv4RoutingProtocol {
public:
    explicit PinnedRouting(ns3::Ipv4Address own) : own_(own) {}

    void leaveBy(ns3::Ipv4Address source, ns3::Ipv4Address target, std::uint32_t interface) {
        ways_[key(source, target)] = interface;
    }

    ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet> packet, const ns3::Ipv4Header& header,
                                         ns3::Ptr<ns3::NetDevice> device, ns3::Socket::SocketErrno& error) override;
    bool RouteInput(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header& header,
                    ns3::Ptr<const ns3::NetDevice> device, UnicastForwardCallback forward,
                    MulticastForwardCallback multicast, LocalDeliverCallback deliver, ErrorCallback failed) override;
    void NotifyInterfaceUp(std::uint32_t) override {}
    void NotifyInterfaceDown(std::uint32_t) override {}
    void NotifyAddAddress(std::uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void NotifyRemoveAddress(std::uint32_t, ns3::Ipv4InterfaceAddress) override {}
    void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override { ipv4_ = ipv4; }
    void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const override {}

private:
    static std::uint64_t key(ns3::Ipv4Address source, ns3::Ipv4Address target) {
        return std::uint64_t{source.Get()} << 32 | target.Get();
    }
    ns3::Ptr<ns3::Ipv4Route> route(ns3::Ipv4Address source, ns3::Ipv4Address target) const;

    ns3::Ipv4Address own_;
    ns3::Ptr<ns3::Ipv4> ipv4_;
    std::unordered_map<std::uint64_t, std::uint32_t> ways_;
};
