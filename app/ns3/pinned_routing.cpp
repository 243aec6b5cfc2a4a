// SPDX-License-Identifier: GPL-2.0-or-later
#include "pinned_routing.h"

#include <ns3/ipv4-route.h>

using namespace ns3;

Ptr<Ipv4Route> PinnedRouting::route(Ipv4Address source, Ipv4Address target) const {
    const auto found = ways_.find(key(source, target));
    if (found == ways_.end()) return nullptr;
    Ptr<Ipv4Route> made = Create<Ipv4Route>();
    made->SetSource(source);
    made->SetDestination(target);
    made->SetGateway(target);
    made->SetOutputDevice(ipv4_->GetNetDevice(found->second));
    return made;
}

Ptr<Ipv4Route> PinnedRouting::RouteOutput(Ptr<Packet>, const Ipv4Header& header, Ptr<NetDevice>,
                                          Socket::SocketErrno& error) {
    Ptr<Ipv4Route> found = route(own_, header.GetDestination());
    error = found ? Socket::ERROR_NOTERROR : Socket::ERROR_NOROUTETOHOST;
    return found;
}

bool PinnedRouting::RouteInput(Ptr<const Packet> packet, const Ipv4Header& header, Ptr<const NetDevice> device,
                               UnicastForwardCallback forward, MulticastForwardCallback, LocalDeliverCallback deliver,
                               ErrorCallback failed) {
    if (header.GetDestination() == own_) {
        deliver(packet, header, ipv4_->GetInterfaceForDevice(device));
        return true;
    }
    if (Ptr<Ipv4Route> onward = route(header.GetSource(), header.GetDestination())) {
        forward(onward, packet, header);
        return true;
    }
    failed(packet, header, Socket::ERROR_NOROUTETOHOST);
    return false;
}
