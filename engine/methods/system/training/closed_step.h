#pragma once

// One plan from the pieces of its shard: the sums and maxima of the closed form (step_model.h).

#include "mapping/plan_kinds.h"
#include "methods/system/training/step_figures.h"
#include "methods/system/training/step_pieces.h"
#include "methods/system/training/training_stack.h"

#include <vector>

namespace orrery {

/// What all plans over one shard share.
struct ShardFacts {
    Sides factor;                          ///< from likely computing to its sides
    bool bound = false;                    ///< the method answers bounds: exchanges at their least are the likely ones
    const TrainingStack* stack = nullptr;  ///< what software adds; null: nothing
    std::optional<StackOnGeneration> row;  ///< of it, on this device; there where `stack` is
    StepSpread spread;                     ///< of measured steps, as StackHere has it
    std::string measuredSteps;             ///< of which they are
    double capacity = 0;                   ///< B of a device
    double joulesPerSecond = 0;            ///< of a device that computes
    double tokens = 0;                     ///< of one micro-batch on one device; samples where there are no tokens
    bool counted = true;                   ///< they are tokens
    HostPrices host;                       ///< of plans that offload
    double peakSeconds = 0;                ///< that its FLOPs take at peak; 0: not known
};

/// What a stage computes with, and over what it exchanges.
struct ClosedStage {
    const StepPieces* pieces = nullptr;
    const ShardFacts* facts = nullptr;
    const ExchangeCache* exchanges = nullptr;  ///< of its kind of device
    const StageWays* ways = nullptr;           ///< where stages stand on several kinds; null: as the plan has it
};
struct ClosedStages {
    std::vector<ClosedStage> each;            ///< one holds for all
    const ExchangeCache* between = nullptr;   ///< of all kinds together
    std::vector<const ExchangeCache*> kinds;  ///< as ExchangeWay::network counts them
    /// Over which something goes.
    const ExchangeCache& over(const ExchangeWay& way) const {
        return way.network < kinds.size() ? *kinds[way.network] : *between;
    }
};

/// Of `microbatches` through the stages of `plan`, whose layers suffice for its chunks. Fails as the network does, and
/// with `plan.layers`.
Expected<StepFigures> closedStep(const ClosedStages& stages, const Plan& plan, std::int64_t microbatches,
                                 const std::stop_token& stop);

}  // namespace orrery
