#pragma once

// Which plan trains a model on a drawn cluster best: every plan of a space by the closed form, exactly, by branch and
// bound, and the best run again event by event (the planner of Sailor, SOSP 2025, asks the same of a heuristic search).

#include "base/executor.h"
#include "base/progress.h"
#include "methods/system/training/step_model.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

enum class PlanObjective : std::uint8_t { Time, Devices, Energy, Cost };
std::string_view toText(PlanObjective objective);  ///< `time`, `devices`, `energy`, `cost`
std::optional<PlanObjective> planObjective(std::string_view word);

/// What may be chosen. An empty list: all that divides. Tensor parallelism divides heads, widths and the devices of a
/// node; stages divide the layers, or are a power of two; copies and micro-batches divide the batch, micro-batches of
/// 32 samples at most; the sequence is split down to 4,096 positions; experts stand over up to 64 devices.
struct PlanSpace {
    std::vector<std::int64_t> tensor, pipeline, interleave, context, expert, data;
    std::vector<std::int64_t> microbatchSize;  ///< samples of a copy in one micro-batch
    std::vector<std::int64_t> zero = {0, 1, 2, 3}, sequence = {0, 1};
    /// Copies that share by `zero`, 0: all. Empty: all, and those of a node.
    std::vector<std::int64_t> shard;
    std::vector<Recompute> recompute = {Recompute::None, Recompute::Selective, Recompute::Full};
    std::vector<PipelineSchedule> schedule = {PipelineSchedule::OneForwardOneBackward, PipelineSchedule::ZeroBubble};
    bool tensorInsideNode = true;                    ///< tensor parallelism stays inside the innermost tier
    std::int64_t leastDevices = 1, mostDevices = 0;  ///< 0: all that are drawn
    std::vector<std::string> groups;                 ///< kinds of device by name; empty: every kind that is drawn
    /// Where there are several kinds: plans on two of them at once too. The first stages stand on one and the others on
    /// the other, or whole copies do; layers are dealt by speed, and 1, 2, 4 and 8 moved over the border, either way.
    bool mixed = true;
};

struct PlanSearchRequest {
    Scenario scenario;  ///< hardware, workload with the global batch, TrainingStep; its plan is not read
    std::string method = "tile-hybrid";  ///< a MethodChoice, which prices kernels
    PlanSpace space;
    PlanObjective objective = PlanObjective::Time;
    DevicePrices prices;       ///< none: costs are device-hours
    std::size_t top = 10;      ///< best plans that are kept
    std::size_t rerun = 3;     ///< of these, run event by event
    double memoryShare = 1.0;  ///< of a device's memory, as much as a plan may fill
    bool prune = true;         ///< false: every plan is priced
};

struct PlannedPoint {
    StepPlan plan;
    StepFigures figures;
    std::size_t rank = 0;              ///< 1: best by the objective, 2 …; 0: beyond `top`
    bool onFront = false;              ///< no plan is as good in time, devices, energy and cost and better in one
    std::optional<double> ranSeconds;  ///< of the run, where it was run again
    std::optional<double> ranLow, ranHigh;
    std::optional<Diagnostic> ranFailure;
};

struct PlanSearchResult {
    /// The best by the objective, in order; then the rest of the front and others for a picture (the best of their tp,
    /// pp, dp, cp), by the objective. Empty where no plan fits.
    std::vector<PlannedPoint> points;
    bool proven = false;                  ///< nothing in the space is better than the first; false where stopped
    std::uint64_t plans = 0;              ///< in the space
    std::uint64_t priced = 0;             ///< by the closed form
    std::uint64_t nodes = 0;              ///< of the tree: shards, then stages and copies
    std::uint64_t pruned = 0;             ///< by a bound, unpriced
    std::uint64_t shards = 0;             ///< distinct ones that a method priced
    std::uint64_t tooLarge = 0;           ///< priced, and beyond the memory
    double seconds = 0;                   ///< wall time of the search, without the runs
    std::optional<PlannedPoint> closest;  ///< where no plan fits: that which misses least
    std::string advice;                   ///< then: by how much, and what would fit; else empty
    Diagnostics warnings;
};

struct PlanSearchContext {
    Executor& executor;
    std::stop_token stop = {};
    Progress* progress = nullptr;  ///< in shards
    const CalibrationSet* calibrations = nullptr;
    std::uint64_t seed = 0;
};

/// The same result at any thread count, but for `seconds`. Fails with `plan.space` where no plan is possible (nothing
/// divides, too few devices), as StepModel::make() does, and with `study.cancelled` where it is stopped before the
/// first plan is priced; stopped later it gives what it has, unproven.
Expected<PlanSearchResult> searchPlans(const PlanSearchRequest& request, const PlanSearchContext& context);

/// For a plan that does not fit: by how much, and the least change that would (a larger `zero`, recomputation, smaller
/// micro-batches, more tensor or pipeline parallelism, more devices). Empty for one that fits.
std::string planFit(const StepModel& model, const StepPlan& plan, const StepFigures& figures);

}  // namespace orrery
