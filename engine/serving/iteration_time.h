#pragma once

// The slot between serving and prediction: how long one iteration of an inference engine takes on one replica. Profile
// tables (methods/trace/), fitted laws and any kernel method fill it. A scheduler decides what is in an iteration; it
// never knows who prices it.

#include "learning/domain.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// Prompt tokens of one sequence in one iteration, after `context` tokens that are in the KV cache already.
struct PromptChunk {
    std::int32_t tokens = 0;
    std::int32_t context = 0;
};

/// One iteration of one replica.
struct IterationWork {
    std::span<const PromptChunk> prompts;
    std::span<const std::int32_t> decodes;  ///< per decoding sequence: tokens in the KV cache before this iteration
    std::int64_t decodeContext = 0;         ///< sum of `decodes`
    std::int32_t tokensPerDecode = 1;       ///< 1, or 1 + draft tokens that are verified with it
    std::int32_t tokens = 0;                ///< all: chunks + decodes × tokensPerDecode
    std::int32_t sampled = 0;               ///< sequences that yield a token: the rows of the output head
    std::int32_t adapters = 0;              ///< different LoRA adapters of its sequences …
    std::int32_t adapterTokens = 0;         ///< … and the tokens that pass through one
};

struct IterationPrice {
    double seconds = 0;      ///< on every pipeline stage but the last, hand-over to the next stage included
    double lastSeconds = 0;  ///< on the last stage; of one stage: the whole iteration
    double host = 0;         ///< seconds on the host before the first stage, hidden by nothing (included nowhere else)
    double low = 1, high = 1;  ///< 90 % of measured values lie between seconds × low and seconds × high
    DomainVerdict domain = DomainVerdict::Inside;
    double watts = 0;  ///< of all the replica's devices while it runs; 0: not known (then ReplicaPower says)
};

/// Immutable and thread-safe; price() does not allocate.
class IterationTime {
public:
    virtual ~IterationTime() = default;
    virtual IterationPrice price(const IterationWork& work) const = 0;
    virtual int stages() const { return 1; }
    /// Sentences that hold for all its prices, with the source of what was measured.
    virtual std::vector<std::string> assumptions() const { return {}; }
};
using IterationTimePtr = std::shared_ptr<const IterationTime>;

}  // namespace orrery
