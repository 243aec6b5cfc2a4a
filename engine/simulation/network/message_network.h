#pragma once

// Networks in which messages share links: who sends is told by an event when the message has come. Links that store and
// forward need none of this (MessageFabric::hop).

#include "simulation/time_buckets.h"

#include <cstdint>

namespace orrery {

class MessageNetwork {
public:
    /// Codes of the events that belong to it, in the queue that it was given: from here on.
    static constexpr std::uint32_t first_event = 16;

    virtual ~MessageNetwork() = default;
    /// Takes a message now; `there` is scheduled for when all of it has come.
    virtual void send(std::int32_t source, std::int32_t target, double bytes, TimeBuckets::Event there) = 0;
    virtual void handle(TimeBuckets::Event event) = 0;
};

}  // namespace orrery
