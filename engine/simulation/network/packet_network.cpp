#include "simulation/network/packet_network.h"

#include <algorithm>

namespace orrery {

namespace {

// DCQCN's own constants; its steps of increase, 40 Mbit/s of 40 Gbit/s, scaled to the link.
constexpr double gain = 1.0 / 256, mark_interval = 50e3, recover_interval = 55e3, additive = 1e-3, least_rate = 1e-3;
constexpr int fast_recoveries = 5;

std::size_t portAt(std::int32_t port) {
    return static_cast<std::size_t>(port);
}

}  // namespace

PacketNetwork::PacketNetwork(MessageFabric& fabric, TimeBuckets& queue, std::uint64_t seed)
    : fabric_(fabric), queue_(queue), settings_(fabric.settings().packets), random_(seed) {
    for (const MessageFabric::LinkRate& one : fabric.linkRates()) {
        Port& port = ports_.emplace_back();
        port.rate = one.rate;
        port.latency = one.latency;
        port.toDevice = one.toDevice;
    }
}

void PacketNetwork::sendPart(std::int32_t source, std::int32_t target, WayPart part, double bytes,
                             TimeBuckets::Event there) {
    std::uint32_t at = 0;
    if (free_.empty()) {
        at = static_cast<std::uint32_t>(messages_.size());
        messages_.emplace_back();
    } else {
        at = free_.back();
        free_.pop_back();
    }
    Message& made = messages_[at];
    made = {};
    made.latency = fabric_.way(source, target, made.path);
    if (part != WayPart::Whole) {
        made.path = {part == WayPart::First ? made.path.front() : made.path.back()};
        made.latency /= 2;
    }
    // Something is sent even of nothing.
    made.left = made.toCome = std::max(bytes, 1.0);
    made.there = there;
    made.rate = made.target = ports_[portAt(made.path.front())].rate;
    ports_[portAt(made.path.front())].messages.push_back(at);
    start(made.path.front());
}

void PacketNetwork::handle(TimeBuckets::Event event) {
    const auto port = static_cast<std::int32_t>(event.subject);
    switch (event.code) {
        case PortFree:
            ports_[portAt(port)].busy = false;
            start(port);
            break;
        case PortWake:
            ports_[portAt(port)].wakes = -1;
            start(port);
            break;
        case PacketCame:
            came(port);
            break;
        case Paused:
            ports_[portAt(port)].paused = true;
            break;
        case Resumed:
            ports_[portAt(port)].paused = false;
            start(port);
            break;
        case SlowDown:
            slowDown(event.subject);
            break;
        case Recover:
            recover(event.subject);
            break;
        default:
            break;
    }
}

// What passes goes first; then the messages that begin here, packet by packet in turns, as their rates let them.
bool PacketNetwork::nextPacket(Port& port, Packet& packet) {
    if (!port.queue.empty()) {
        packet = port.queue.front();
        port.queue.pop_front();
        port.queued -= packet.bytes;
        leftSwitch(packet);
        return true;
    }
    const SimTime now = queue_.now();
    SimTime next = -1;
    for (std::size_t turn = 0; turn < port.messages.size(); ++turn) {
        const std::uint32_t at = port.messages.front();
        port.messages.pop_front();
        Message& its = messages_[at];
        if (its.mayGo > now) {
            next = next < 0 ? its.mayGo : std::min(next, its.mayGo);
            port.messages.push_back(at);
            continue;
        }
        const double payload = std::min(its.left, settings_.payload);
        packet = {at, nowhere, static_cast<float>(payload + settings_.header), 0, false};
        its.left -= payload;
        its.mayGo = now + fabric_.ticks(packet.bytes / its.rate);
        ++packets_;
        if (its.left > 0) port.messages.push_back(at);
        return true;
    }
    if (next >= 0 && (port.wakes < 0 || next < port.wakes)) {
        port.wakes = next;
        queue_.schedule(next, PortWake, static_cast<std::uint32_t>(&port - ports_.data()));
    }
    return false;
}

void PacketNetwork::start(std::int32_t at) {
    Port& port = ports_[portAt(at)];
    Packet packet;
    if (port.busy || port.paused || !nextPacket(port, packet)) return;
    port.busy = true;
    const double serial = packet.bytes / port.rate;
    const SimTime now = queue_.now(), ends = after(serial);
    port.flying.push_back(packet);
    queue_.schedule(ends, PortFree, static_cast<std::uint32_t>(at));
    queue_.schedule(after(serial + port.latency), PacketCame, static_cast<std::uint32_t>(at));
    MessageFabric::LinkUse& use = fabric_.use()[portAt(at)];
    use.bytes += packet.bytes;
    use.busy = std::min(use.busy + (ends - now), MessageFabric::furthest);
    if (LinkUseOverTime& time = fabric_.useOverTime(); time.wanted()) time.add(portAt(at), now, ends);
}

void PacketNetwork::leftSwitch(const Packet& packet) {
    if (packet.cameOver == nowhere) return;
    Port& over = ports_[portAt(packet.cameOver)];
    if (over.toDevice) return;
    over.held -= packet.bytes;
    if (!over.pauseSent || over.held > settings_.resumeAt * over.rate) return;
    over.pauseSent = false;
    queue_.schedule(after(over.latency), Resumed, static_cast<std::uint32_t>(packet.cameOver));
}

void PacketNetwork::came(std::int32_t at) {
    Port& over = ports_[portAt(at)];
    Packet packet = over.flying.front();
    over.flying.pop_front();
    const std::vector<std::int32_t>& path = messages_[packet.message].path;
    if (packet.hop + 1U == path.size()) return delivered(packet);
    ++packet.hop;
    packet.cameOver = at;
    const std::int32_t onward = path[packet.hop];
    Port& next = ports_[portAt(onward)];
    if (settings_.rateControl) {
        const double waits = next.queued / next.rate, span = settings_.markAll - settings_.markFrom;
        if (waits > settings_.markAll || (waits > settings_.markFrom &&
                                          random_.uniform() < settings_.markMost * (waits - settings_.markFrom) / span))
            packet.marked = true;
    }
    next.queue.push_back(packet);
    next.queued += packet.bytes;
    longestQueue_ = std::max(longestQueue_, next.queued);
    if (!over.toDevice) {
        over.held += packet.bytes;
        if (settings_.pauses && !over.pauseSent && over.held > settings_.pauseAt * over.rate) {
            over.pauseSent = true;
            ++pauses_;
            queue_.schedule(after(over.latency), Paused, static_cast<std::uint32_t>(at));
        }
    }
    start(onward);
}

void PacketNetwork::delivered(const Packet& packet) {
    Message& its = messages_[packet.message];
    its.toCome -= packet.bytes - settings_.header;
    const SimTime now = queue_.now();
    // Headers are no round floats: the last packet is the one after which nothing is left to send or to come.
    if (its.left <= 0 && its.toCome < 0.5) {
        queue_.schedule(now, its.there.code, its.there.subject);
        its.toCome = 0;
        if (!its.recovers && !its.slowed) return finish(packet.message);
        return;
    }
    if (!packet.marked || its.slowed || (its.lastMark >= 0 && now - its.lastMark < fabric_.ticks(mark_interval)))
        return;
    its.lastMark = now;
    its.slowed = true;
    queue_.schedule(after(its.latency), SlowDown, packet.message);
}

void PacketNetwork::finish(std::uint32_t message) {
    messages_[message].path.clear();
    free_.push_back(message);
}

// A notice of congestion has come back to who sends.
void PacketNetwork::slowDown(std::uint32_t message) {
    Message& its = messages_[message];
    its.slowed = false;
    if (its.left > 0) {
        ++slowDowns_;
        const double line = ports_[portAt(its.path.front())].rate;
        its.target = its.rate;
        its.rate = std::max(line * least_rate, its.rate * (1 - its.alpha / 2));
        its.alpha = (1 - gain) * its.alpha + gain;
        its.recoveries = 0;
        if (!its.recovers) {
            its.recovers = true;
            queue_.schedule(after(recover_interval), Recover, message);
        }
    }
    if (its.toCome <= 0 && !its.recovers) finish(message);
}

// Half of the way back, five times; then the target rises too.
void PacketNetwork::recover(std::uint32_t message) {
    Message& its = messages_[message];
    if (its.left > 0) {
        const double line = ports_[portAt(its.path.front())].rate;
        its.alpha *= 1 - gain;
        if (++its.recoveries > fast_recoveries)
            its.target = std::min(line, its.target + line * additive * (its.recoveries > 2 * fast_recoveries ? 10 : 1));
        its.rate = std::min(line, (its.rate + its.target) / 2);
        if (its.rate < line * 0.999) {
            queue_.schedule(after(recover_interval), Recover, message);
            return;
        }
        its.rate = line;
    }
    its.recovers = false;
    if (its.toCome <= 0 && !its.slowed) finish(message);
}

}  // namespace orrery
