#pragma once

// How long does the best schedule of an operator take? ln(time ÷ FLOPs) of all devices, templates and operators as one
// Gaussian process (Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, chapters 2 and 5), whose
// covariance adds what devices have in common and what is a device's own (the linear model of coregionalisation, as in
// Bonilla, Chai and Williams, "Multi-task Gaussian Process Prediction", NeurIPS 2007): a few rows of a new device tell
// of its other operators because they tell how it differs from the known ones.

#include "learning/schedules/schedule_model.h"

#include <memory>

namespace orrery {

/// A time with the interval that holds 90 % of what was left out of the training.
struct TunedTime {
    double seconds = 0, low = 0, high = 0;
};

class TunedTimes {
public:
    static constexpr std::uint64_t steps = 40;     ///< of one fit, at most
    static constexpr std::size_t mostRows = 3000;  ///< of more, as many are used, spread over the log
    /// Rows that failed are left aside. Lengths and deviations are those of greatest likelihood on 500 rows by seed;
    /// each device has its own noise and width of intervals, from operators left out. Fails with `schedules.few`
    /// below 20 rows, with `study.cancelled`. O(mostRows³).
    static Expected<TunedTimes> fit(std::span<const TunedRow> rows, const ScheduleTraining& options);
    /// Of devices that the rows knew or adapted() added; of another nothing is known: fails with `schedules.device`.
    /// Many together are faster than one by one.
    Expected<std::vector<TunedTime>> times(std::span<const TunedRow* const> rows) const;
    Expected<TunedTime> time(const TunedRow& row) const;
    /// The same with one more device, from a few of its rows. Fails with `schedules.few` below 3 rows.
    Expected<TunedTimes> adapted(std::span<const TunedRow> anchors) const;
    /// Which of a new device's rows tell most about all others, before any is measured (next_samples.h): places in
    /// `rows`, `count` at most; of 400 at most, spread over `rows`.
    std::vector<std::size_t> anchorsOf(std::span<const TunedRow* const> rows, std::size_t count) const;
    bool knows(const std::string& device) const;

private:
    struct Learned;
    struct Added;
    std::shared_ptr<const Learned> learned_;
    std::shared_ptr<const Added> added_;  ///< none: no device was added
};

}  // namespace orrery
