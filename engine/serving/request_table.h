#pragma once

// Where every request stands. One table per simulation, as columns; replicas, schedulers and routers read and write the
// rows that are theirs at the time.
//
// Counting, for all engines alike: a request has prompt + generated tokens of text; `computed` of them have keys and
// values in the cache. An iteration computes some of the rest. When nothing is left, it yields one token: `generated`
// grows by one. So the prompt's last iteration yields the first token, a request of D output tokens takes D − 1 further
// iterations, and a preempted request (computed = 0) computes its generated tokens again as if they were prompt.

#include "serving/traffic/request_stream.h"

#include <cstdint>
#include <vector>

namespace orrery {

enum class RequestState : std::uint8_t {
    Future,     ///< has not arrived
    Waiting,    ///< in a queue, nothing computed
    Running,    ///< holds KV blocks
    Preempted,  ///< was running, lost its blocks
    Swapped,    ///< its KV lies in host memory
    Moving,     ///< between a prefill and a decode replica
    Done,
    Rejected  ///< by admission, deadline or because it can never fit: see `reason`
};
enum class RejectReason : std::uint8_t { None, TooLong, QueueFull, DeadlineMissed, PredictedMiss, NoReplica, Failed };
std::string_view toText(RequestState state);
std::string_view toText(RejectReason reason);

struct RequestTable {
    const RequestStream* stream = nullptr;
    /// The stream's, unless a policy reproduces a simulator that cuts prompts when it preempts them.
    std::vector<std::int32_t> prompt, output;
    std::vector<std::int32_t> computed, generated;
    std::vector<std::int32_t> blocks;  ///< KV blocks held
    std::vector<RequestState> state;
    std::vector<RejectReason> reason;
    std::vector<std::int32_t> replica;  ///< −1: none yet
    std::vector<std::int32_t>
        decodeOn;                     ///< where it decodes, if that is decided and elsewhere; −1: where its prompt is
    std::vector<SimTime> arrived;     ///< differs from the stream's where a request waits for another
    std::vector<SimTime> scheduled;   ///< first time in an iteration; −1: never
    std::vector<SimTime> firstToken;  ///< end of the iteration that yielded it; −1: not yet
    std::vector<SimTime> ended;       ///< last token or rejection; −1: not yet
    std::vector<std::uint16_t> restarts, preemptions;
    std::vector<std::uint16_t> stalls;  ///< times that it stood still between two of its iterations, at most 65,535
    std::vector<SimTime> lastToken;     ///< end of the iteration that yielded its newest one
    std::vector<SimTime> lastChunk;     ///< end of its newest iteration that yielded none
    std::vector<std::int32_t> cached;   ///< prompt tokens found in a prefix cache
    std::uint64_t lostTokens = 0;       ///< computed, then thrown away by preemption; all requests together

    void reset(const RequestStream& requests);
    std::size_t size() const { return computed.size(); }
    std::int32_t text(RequestIndex r) const { return prompt[r] + generated[r]; }
    /// Tokens to compute before the next token is yielded; 1 for a sequence that decodes.
    std::int32_t left(RequestIndex r) const { return text(r) - computed[r]; }
    /// Forgets what was computed: the cache is gone.
    void lose(RequestIndex r) {
        lostTokens += static_cast<std::uint64_t>(computed[r]);
        computed[r] = 0;
    }
    bool finished(RequestIndex r) const { return generated[r] >= output[r]; }
    bool decoding(RequestIndex r) const { return generated[r] > 0 && left(r) == 1; }
};

}  // namespace orrery
