#pragma once

// Sessions and agents: requests that follow each other, whose texts grow from one another.

#include "serving/traffic/arrivals.h"
#include "serving/traffic/lengths.h"

namespace orrery {

/// Appends sessions to a stream, until `spec.requests` are there or arrivals lie beyond `spec.duration`.
class Conversations {
public:
    Conversations(const TrafficSpec& spec, RandomStream random, RequestStream& out);
    /// One session that begins at `start`. Fails with `traffic.too-much` if the shared texts exceed memory.
    Expected<void> add(SimTime start, LengthSource& lengths);
    bool full() const;

private:
    void request(SimTime start, std::int64_t prompt, std::int64_t output, RequestIndex after, double think);
    void describeText(std::int64_t prompt, std::int64_t output, bool keepOutput);
    /// The model's answer to the text so far, `samples` times; what it keeps becomes part of the text.
    bool step(SimTime start, std::int64_t output, std::int32_t samples, double think);

    const TrafficSpec& spec_;
    RandomStream turns_, pauses_, tools_, answers_, people_;
    RequestStream& out_;
    bool hashed_;
    std::uint64_t sessions_ = 0, blocksMade_ = 0;
    std::vector<RequestIndex> lastOfSession_;  ///< closed loop: what the next session of a user waits for

    // Of the session that is being made.
    std::int64_t text_ = 0;              ///< tokens that its next prompt begins with
    std::vector<std::uint64_t> blocks_;  ///< hashes of the text's full blocks
    RequestIndex previous_ = no_request;
    std::int32_t tenant_ = 0;
};

/// Whether the spec asks for more than requests that have nothing to do with each other.
bool hasConversations(const TrafficSpec& spec);

}  // namespace orrery
