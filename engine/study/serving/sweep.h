#pragma once

// Configurations side by side: model × hardware × parallelism × scheduler × chunk × ratio …, each a whole simulation
// (or a search for its capacity), on all cores.

#include "base/executor.h"
#include "methods/system/planned_fleet.h"
#include "serving/fields/field.h"
#include "study/serving/capacity.h"

#include <functional>
#include <optional>
#include <span>
#include <string>

namespace orrery {

struct SweepKey {
    std::string key, meaning;
};
/// What a sweep can change: short keys first (`tensor`), then every number, word and switch of a question by its path
/// (`pools/plan/tensor`, of one pool `pools[2]/plan/tensor`). Beside them, every number of a policy by its name
/// (`longPrompt`).
std::span<const SweepKey> sweepKeys();
/// The path of the field that a key sets; the key itself where it is none, empty where it sets more than one.
std::string_view sweepPath(std::string_view key);
/// The field that a key sets; null where it sets more than one, or a number of a policy by its name.
const FieldSpec* sweepField(std::string_view key);
/// Changes it in every pool. Fails with `sweep.key` or `sweep.value`.
Expected<void> setSweepValue(ServingStudy& study, std::string_view key, std::string_view value);
/// False for a number of policies that none of the study's own reads, and for a value that does not matter beside the
/// others (a burst's length where arrivals are Poisson): setting it changes nothing.
bool sweepReads(const ServingStudy& study, std::string_view key);
/// All values of one configuration, the policy first and without the numbers that it does not read.
Expected<void> setSweepValues(ServingStudy& study, std::span<const SweepAxis> axes,
                              std::span<const std::string> values);

struct SweepAnswer {
    std::vector<std::string> values;  ///< one per axis
    std::optional<Diagnostic> failure;
    ServingMetrics metrics;  ///< at the study's own rate, or at the capacity
    double capacity = -1;    ///< requests per second under the promises; below 0: not asked
    int devices = 0;
    /// An earlier point that differs only in numbers that this one's policy does not read: it has that one's answer.
    /// −1: answered itself.
    std::int64_t sameAs = -1;
    /// Per million output tokens; 0: no price.
    double dollars = 0;
    bool pareto = false;  ///< one of the best: markBest()
};
/// Whether it meets the SLO for the share of requests that the study's `capacity` asks for.
bool meetsSlo(const ServingStudy& study, const SweepAnswer& point);
/// Sets `pareto` of each: it meets the SLO, and no other one that does has at most its cost (else devices ÷ output
/// tokens per second), p99 of TTFT and p99 of TPOT, and less of one. Where the axes change the load, among those of its
/// load. Points that have failed, or have no answer yet, are never among them.
void markBest(const ServingStudy& study, std::vector<SweepAnswer>& points);
struct SweepOptions {
    Executor* executor = nullptr;  ///< null: one thread
    std::stop_token stop;
    Progress* progress = nullptr;             ///< one step per configuration
    std::shared_ptr<const Hardware> drawing;  ///< null: the study's `hardware`, from the catalogue or a file
    bool capacity = false;                    ///< search each one's
    std::function<void(std::size_t, const SweepAnswer&)> onPoint;  ///< as each comes, from workers, one call at a time
    const CalibrationSet* calibrations = nullptr;
    IterationTimes* cache = nullptr;  ///< null: one of its own
};

/// More than this are refused.
inline constexpr std::size_t mostSweepPoints = 20'000;

/// Every combination of the study's axes, the last one fastest; a study without axes is one point. Points that cannot
/// run keep why. Fails on axes that make no sense.
Expected<std::vector<SweepAnswer>> runSweep(const ServingStudy& study, const SweepOptions& options);

/// The drawing that a study of its own names (catalogue id or file).
Expected<std::shared_ptr<const Hardware>> hardwareOf(const ServingStudy& study);

}  // namespace orrery
