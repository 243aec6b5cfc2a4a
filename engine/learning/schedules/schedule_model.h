#pragma once

// Two questions about tuned operators, learned from logs: how long does the best schedule of an operator take, and
// which of many schedules is the best?

#include "base/progress.h"
#include "learning/regressor.h"
#include "learning/schedules/anchor_correction.h"
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
    Progress* progress = nullptr;  ///< a step per tree; whoever sets it sets its total
};

/// A time with the interval that holds 90 % of what was left out of the training.
struct TunedTime {
    double seconds = 0, low = 0, high = 0;
};

/// The time of an operator's best schedule on a device: boosted trees of ln(time ÷ FLOPs) over the median of the device
/// and its template, from the operator's extents and which device it is. The answer is the one of least relative error
/// on rows of the device that were left out; their spread is the interval.
class TunedTimes {
public:
    static constexpr std::uint64_t steps = 5400;  ///< trees of one fit: of each fold and of all
    /// Rows that failed are left aside. Fails with `schedules.few` below 20 rows, with `study.cancelled`, and as
    /// train().
    static Expected<TunedTimes> fit(std::span<const TunedRow> rows, const ScheduleTraining& options);
    /// Of a device that the rows knew or adapted() added; of another nothing is known: fails with `schedules.device`.
    Expected<TunedTime> time(const TunedRow& row) const;
    /// The same with one more device, from a few of its rows: the mean of what the known devices' shapes say, each
    /// weighed by how well it follows these rows (1 ÷ variance²), and what the rows say beside it
    /// (anchor_correction.h). Fails with `schedules.few` below 3 rows.
    Expected<TunedTimes> adapted(std::span<const TunedRow> anchors) const;
    bool knows(const std::string& device) const { return mixes_.contains(device) || shifts_.contains(device); }

private:
    struct Spread {
        double low = 0, middle = 0, high = 0;  ///< ln(measured ÷ what the trees say); `middle` is answered
    };
    struct Mix {
        std::vector<double> weights;  ///< of devices_
        AnchorCorrection beside;
        double low = 0, high = 0;  ///< ln, around the answer
    };
    void learnSpreads(const std::map<std::string, std::vector<double>>& left);
    double shape(const TunedRow& row, std::size_t device) const;  ///< over the level
    double level(const TunedRow& row) const;
    double templateShift(const std::string& task) const;
    double asOn(const TunedRow& row, std::size_t device) const;  ///< over the device's median

    RegressorPtr model_;
    std::vector<std::string> devices_, tasks_;
    std::map<std::string, double> levels_, shifts_;  ///< of device and task, of device: ln seconds per FLOP
    std::map<std::string, double> templates_;        ///< of a template, over its devices' medians: the middle one
    std::map<std::string, Mix> mixes_;               ///< adapted devices
    std::map<std::string, Spread> spreads_;          ///< of a device's rows left out
    Spread all_;                                     ///< of all devices'
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
