#pragma once

// Networks in which messages share links: who sends is told by an event when the message has come. Links that store and
// forward need none of this (MessageFabric::hop).

#include "base/diagnostic.h"
#include "simulation/time_buckets.h"

#include <cstdint>
#include <memory>

namespace orrery {

/// Of a way over one switch: all of it, up to the switch, or down from it.
enum class WayPart : std::uint8_t { Whole, First, Last };

class MessageNetwork {
public:
    /// Codes of the events that belong to it, in the queue that it was given: from here on.
    static constexpr std::uint32_t first_event = 16;

    virtual ~MessageNetwork() = default;
    /// Takes a message now; `there` is scheduled for when all of it has come.
    void send(std::int32_t source, std::int32_t target, double bytes, TimeBuckets::Event there) {
        sendPart(source, target, WayPart::Whole, bytes, there);
    }
    /// The same over the first or the last link of the way alone.
    virtual void sendPart(std::int32_t source, std::int32_t target, WayPart part, double bytes,
                          TimeBuckets::Event there) = 0;
    virtual void handle(TimeBuckets::Event event) = 0;
    /// When nothing is left to do: what went wrong on the way, if anything did.
    virtual Expected<void> finish() { return {}; }
    /// As it is now, on the same fabric and queue: to go back to; null where it cannot be
    /// copied (another process holds its state).
    virtual std::unique_ptr<MessageNetwork> copy() const = 0;
};

}  // namespace orrery
