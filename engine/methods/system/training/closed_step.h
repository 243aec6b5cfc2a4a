#pragma once

// One plan from the pieces of its shard: the sums and maxima of the closed form (step_model.h).

#include "methods/system/training/step_figures.h"
#include "methods/system/training/step_pieces.h"
#include "methods/system/training/training_stack.h"

namespace orrery {

/// What all plans over one shard share.
struct ShardFacts {
    Sides factor;                          ///< from likely computing to its sides
    bool bound = false;                    ///< the method answers bounds: exchanges at their least are the likely ones
    const TrainingStack* stack = nullptr;  ///< what software adds; null: nothing
    std::optional<StackOnGeneration> row;  ///< of it, on this device; there where `stack` is
    double spread = 0;                     ///< of measured steps, as StackOnGeneration has it; 0: not known
    double capacity = 0;                   ///< B of a device
    double joulesPerSecond = 0;            ///< of a device that computes
    double tokens = 0;                     ///< of one micro-batch on one device; samples where there are no tokens
    bool counted = true;                   ///< they are tokens
    HostPrices host;                       ///< of plans that offload
    double peakSeconds = 0;                ///< that its FLOPs take at peak; 0: not known
};

/// Of `microbatches` through the stages of `plan`, whose layers suffice for its chunks. Fails as the network does.
Expected<StepFigures> closedStep(const StepPieces& pieces, const ShardFacts& facts, const Plan& plan,
                                 std::int64_t microbatches, const ExchangeCache& exchanges,
                                 const std::stop_token& stop);

}  // namespace orrery
