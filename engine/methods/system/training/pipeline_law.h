#pragma once

// How long the turns of a pipeline take, as a closed form: the longest of the paths that a schedule has. What
// schedule.cpp orders turn by turn.

#include "mapping/plan.h"
#include "methods/system/training/sides.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace orrery {

/// Seconds by chunk, in the order of the forward pass: chunk c stands on stage c modulo the stages.
struct PipelineTurns {
    std::span<const Sides> forward, backward;                  ///< of one micro-batch, with the exchanges inside layers
    std::span<const Sides> forwardComputed, backwardComputed;  ///< of them; for schedules in which turns hide others'
    std::span<const Sides> weights;  ///< of `backward`: gradients of weights; for schedules that put them off
    /// By chunk, of turns beside each other: by how much a forward one with the backward one of the pair's other chunk
    /// takes longer than what either, all computing, or all exchanges take; empty: no longer.
    std::span<const double> waits;
    /// From each stage to the next; one: all are alike. Only one forward, one backward, GPipe and ZB-H1 take several.
    std::span<const Sides> messages;
    std::int64_t stages = 1, microbatches = 1;
    bool alike = true;  ///< all chunks but the first and the last have as many layers
    const Sides& messageBehind(std::int64_t stage) const {
        return messages[std::min(static_cast<std::size_t>(stage), messages.size() - 1)];
    }
};

/// Computing and then an exchange, of a turn, s.
struct TurnBit {
    double computed = 0, sent = 0;
};
/// Seconds of two turns beside each other: one computation and one exchange at a time, whoever is ready first, and of
/// both the forward one.
double besideSeconds(std::span<const TurnBit> forward, std::span<const TurnBit> backward);

/// From the first turn of the first stage to its last. One forward, one backward: exact for equal stages (fill, then m
/// turns, and a round trip of messages every p micro-batches: Narayanan et al. 2021, section 2.2, with messages); for
/// unequal ones within 1 % of the schedule. Interleaved: within 4 %, with chunks that are not alike 12 %. GPipe: fill,
/// then the slowest stage, both ways (Huang et al. 2019). ZB-H1: (p - 1)(F + B - W) of waiting, where W is put off (Qi
/// et al. 2024, table 2). DualPipe: the busiest device of any pair, filled from both ends (DeepSeek-V3, 2024).
Sides pipelineSeconds(const PipelineTurns& turns, const Plan& plan);

/// Micro-batches times chunks whose activations a stage keeps at most.
std::int64_t mostInFlight(const Plan& plan, std::int64_t stage, std::int64_t microbatches);

}  // namespace orrery
