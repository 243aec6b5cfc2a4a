#pragma once

// One operator's schedules as a person looks through them: what a model that has not seen them says of each, and why.

#include "evaluation/schedules/judge_schedules.h"

#include <memory>
#include <string>
#include <vector>

namespace orrery {

/// The schedules of one operator on one device; or, where an operator has a few only, all such of a device together.
struct ScheduleGroup {
    std::string device, task, workload;  ///< of a mixed group the device alone
    bool mixed = false;                  ///< of several operators: their times say nothing of each other
    std::vector<std::size_t> rows;       ///< places in the log's rows
    std::size_t failed = 0;
};
/// Operators with most schedules first, then what is mixed. Each row is in one of them.
std::vector<ScheduleGroup> groupsOf(std::span<const TunedRow> rows);

struct ExploredOperator {
    ScheduleGroup group;
    /// One each, as in group.rows: best time ÷ time, 0 where it failed, and the same as the model says.
    std::vector<double> share, told;
    std::vector<std::size_t> rank, toldRank;  ///< 1 is the best; failed ones are last
    RankedOperator judged;
    /// The model learned from so many other operators of the device, of which a schedule ran; 0: from four fifths of
    /// the operator's own schedules, each time without those that it was asked about.
    std::size_t operators = 0;
    std::size_t learnedFrom = 0;  ///< schedules, of one model
    std::vector<double> looksAt;  ///< mean size of what each feature adds, by scheduleFeatureNames()
    std::vector<std::shared_ptr<const ScheduleRanks>> models;
    std::vector<std::size_t> modelOf;  ///< which of them was asked about each schedule
    std::vector<ShareRange> ranges;    ///< of each `told`, 90 % intervals; empty until withIntervals()
};

/// A schedule is judged by a model of the device's other operators, the same as judgeLeftOut()'s; where the device has
/// no other with ten schedules of which one ran, by a model of the other four fifths of its own. Fails with
/// `schedules.few` where there are neither, none of its own ran, or the group is mixed; with `study.cancelled`. Sets
/// the progress' total.
Expected<ExploredOperator> exploreOperator(std::span<const TunedRow> rows, const ScheduleGroup& group,
                                           const ScheduleTraining& options);

/// The same with intervals, as judgeLeftOut() states them: from operators that models had not seen, of the device and
/// of others. Where the model learned from the operator itself, from its other fifths. Without intervals where there
/// are too few. `judged.stated` says how far they held; its bounds mean something where its operators are more than
/// none. Takes a fit per operator, eight at most of a device; fails with `study.cancelled`. Sets the progress' total.
Expected<ExploredOperator> withIntervals(std::span<const TunedRow> rows, ExploredOperator explored,
                                         const ScheduleTraining& options);

/// Times of the schedules that are in mixed groups, each fifth of their operators by a model of the others, as
/// judgeLeftOut() says them; `said`, `low` and `high` are by row of the log, NaN for all other rows. Fails with
/// `schedules.few`, with `study.cancelled`. Sets the progress' total.
Expected<ScheduleJudgement> exploreTimes(std::span<const TunedRow> rows, const ScheduleTraining& options);

/// Why the model says so of a schedule (a place in group.rows), compared with the operator's others.
ScheduleReasons reasonsOf(std::span<const TunedRow> rows, const ExploredOperator& explored, std::size_t place,
                          const std::stop_token& stop = {});

/// One line per schedule: its line in the log, time, ranks, shares with their intervals, knobs.
std::string exploredCsv(std::span<const TunedRow> rows, const ExploredOperator& explored);
/// The knobs as AutoTVM's tables write them: `tile_x=-1,4;unroll=0`. Of Ansor the knobs that its steps amount to.
std::string knobsText(const TunedRow& row);

}  // namespace orrery
