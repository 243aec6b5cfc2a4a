#pragma once

// A training step run, event by event: as it is likely, and at the sides of its prices.

#include "methods/estimate.h"
#include "methods/system/training/figure_intervals.h"
#include "methods/system/training/plan_prices.h"
#include "methods/system/training/training_program.h"
#include "simulation/cluster/cluster_run.h"

#include <cstdint>
#include <stop_token>
#include <vector>

namespace orrery {

class StepNetwork;
struct EstimateContext;

/// What copies do: alike ones have one program. Where stages or copies stand on several kinds of device, a program for
/// every class of copies, and whose seconds are whose.
struct StepPrograms {
    std::vector<TrainingProgram> classes;
    std::vector<std::int32_t> classOf;      ///< of a copy; empty: all are of the first class
    std::vector<std::int32_t> kindOfLayer;  ///< of each of a program's layers; empty: one kind of device
    /// By stage and in it by class, as slots of the job stand.
    std::vector<std::int32_t> kindOfSlot;

    const TrainingProgram& front() const { return classes.front(); }
    std::int32_t kindOf(std::size_t slot) const { return slot < kindOfSlot.size() ? kindOfSlot[slot] : 0; }
    std::size_t slotCount() const { return static_cast<std::size_t>(front().plan.pipeline) * classes.size(); }
    double devicesOf(std::size_t slot) const;  ///< that a slot stands for
    Expected<ClusterJob> job(std::int64_t drawn = 0) const;
};

/// Computing at the sides of its interval, over what is likely, of one kind of device. `least` 0: no bound is known.
struct KindSides {
    double low = 1, high = 1, least = 0;
};

struct StepRun {
    double seconds = 0;
    ClusterOutcome outcome;
};
Expected<StepRun> runStep(const StepPrograms& programs, const ExchangePrices& prices, bool spans,
                          const std::stop_token& stop);

struct StepRuns {
    StepRun likely;
    double floor = 0;  ///< s
    StepSide best, worst;
};
/// Of the mean device.
StepSide sideOf(const StepRun& run, const StepPrograms& programs);

/// Kernels and exchanges as they are likely, both at their low side, both at their high side, both at their least;
/// beside each other on the executor. Where messages are followed, the likely and the high run are theirs, and neither
/// is below what the wires alone take. `kinds`: by kind of device; `bound`: likely prices are the least ones.
Expected<StepRuns> runSides(const StepPrograms& programs, const PlanPrices& prices, const StepNetwork* network,
                            const std::vector<KindSides>& kinds, bool bound, const EstimateContext& context);

}  // namespace orrery
