#pragma once

// Which of many schedules is the best? Learned from logs. (How long the best one takes: tuned_times.h.)

#include "base/progress.h"
#include "learning/regressor.h"
#include "learning/schedules/tuning_log.h"

#include <cstdint>
#include <map>
#include <span>
#include <stop_token>
#include <string>

namespace orrery {

/// What ranks schedules: boosted trees over how loops are split and what that asks of the machine, a sequence model
/// over the steps as they are written, or the mean of both.
enum class RankModel : std::uint8_t { Trees, Sequence, Both };

struct ScheduleTraining {
    RankModel ranks = RankModel::Trees;
    std::string device;  ///< schedules of this one alone will be ranked; empty: of any
    std::uint64_t seed = 1;
    int threads = 0;
    std::stop_token stop;
    Progress* progress = nullptr;  ///< a step per tree or turn; whoever sets it sets its total
};

/// What a schedule's share is made of: rate × places, where the rate is `mean` + Σ `features`.
struct ScheduleReasons {
    double rate = 0;    ///< what the trees say: per place that is filled, 1 is the fastest; not cut to 0 … 1
    double mean = 0;    ///< the same of the schedules that it is compared with
    double places = 1;  ///< share of a GPU's places that it fills
    std::vector<double> features;  ///< what each adds (tree_contributions.h), by scheduleFeatureNames()
};

/// How fast a schedule runs per place that it fills, over the fastest of its operator.
class RateModel {
public:
    virtual ~RateModel() = default;
    virtual double rate(const TunedRow& row) const = 0;  ///< about 0 to 1; thread-safe
    /// What each feature adds to the rate of `row`, compared with the mean of `others`, by scheduleFeatureNames();
    /// zeros of a model that has no such features.
    virtual std::vector<double> contributions(const TunedRow& row, std::span<const TunedRow* const> others,
                                              const std::stop_token& stop) const;
};
using RateModelPtr = std::shared_ptr<const RateModel>;

/// How good each schedule of an operator is: best time ÷ its time, 0 where it fails; from 0 to 1. Where the
/// multiprocessors of a GPU are known, models learn the rate per place that a schedule fills, and the share of places
/// is worked out (schedule_loops.h): an operator of few blocks is slow for that alone.
class ScheduleRanks {
public:
    static constexpr std::uint64_t steps = 600;  ///< trees of one device's model
    /// Operators with one schedule teach nothing. Fails with `schedules.few` where no operator has ten, and as train().
    static Expected<ScheduleRanks> fit(std::span<const TunedRow> rows, const ScheduleTraining& options);
    /// By the model of the row's device; of devices that the rows did not have, by that of all. Of
    /// ScheduleTraining::device alone, where one was named.
    double share(const TunedRow& row) const;
    /// Why it says so of `row`, compared with `others` (not empty).
    ScheduleReasons reasons(const TunedRow& row, std::span<const TunedRow* const> others,
                            const std::stop_token& stop = {}) const;

private:
    const RateModel& modelOf(const TunedRow& row) const;

    std::map<std::string, RateModelPtr> models_;
    RateModelPtr all_;
};

/// Rows of one operator on one device: places in `rows`, in order of appearance.
std::vector<std::vector<std::size_t>> operatorsOf(std::span<const TunedRow> rows);

}  // namespace orrery
