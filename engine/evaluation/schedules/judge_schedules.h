#pragma once

// How good models of tuned operators are on what they have not seen: operators left out, other logs, devices of which a
// few rows are given.

#include "learning/schedules/share_spread.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct RankFigures {
    double spearman = 0;         ///< of those that ran
    double top1 = 0, top10 = 0;  ///< best time ÷ the time of the model's first choice, of the best of its first ten
};
/// What was stated beside an operator's shares, and how far it held.
struct StatedShares {
    double coverage = 0;        ///< share of its schedules inside their intervals
    double chance = 0;          ///< share of an unseen operator's that they are made for: ShareSpread::chance()
    ShareBound first, ten;      ///< what its first choice, and the best of its first ten, reach at least
    std::size_t operators = 0;  ///< left out, from which this is
};
/// One operator whose schedules were ranked by a model that had not seen it.
struct RankedOperator : RankFigures {
    std::string device, task, workload;
    std::size_t schedules = 0, failed = 0;
    double chance10 = 0;                  ///< top10 of ten drawn blindly, expected
    std::string drawn;                    ///< the catalogue's device on which they were priced; empty: none
    std::optional<RankFigures> analytic;  ///< of these prices, which know no log (methods/schedule)
    std::optional<StatedShares> stated;   ///< none: too few other operators
};
/// Times of best schedules on one device.
struct JudgedTimes {
    std::string device;
    std::size_t rows = 0, anchors = 0;
    double mape = 0, median = 0, spearman = 0, coverage = 0;
};
struct ScheduleJudgement {
    std::vector<RankedOperator> operators;
    std::vector<JudgedTimes> devices;
    JudgedTimes all;
    /// Per row of what was judged: seconds, or the share of the best (ranks), with its 90 % interval; NaN where none.
    std::vector<double> said, low, high;
    std::vector<double> analytic;  ///< per row of what was ranked: seconds, 0: cannot run; NaN: not priced
    Diagnostics notes;             ///< devices and operators with too few rows
};

struct JudgeScheduleOptions {
    ScheduleTraining training;
    std::size_t anchors = 10;  ///< rows of a device that is not known, drawn by seed
    bool choose = false;       ///< instead those that say most of the others (tuned_times.h)
    int folds = 5;
    bool intervals = true;  ///< of ranks: learned from models without each two operators, which takes most of the time
    /// Id or file of the drawn device that stands for one of the log: `platinum-8124m` → `core-i9-10940x`. Others are
    /// looked up by their name, as addKnownDevices() does.
    std::map<std::string, std::string> drawn;
};

/// What the catalogue says of rows' GPUs that the log does not: multiprocessors and the warps that each holds. A device
/// is looked up by its name, also without its platform (`cuda v100`); of others nothing is assumed.
void addKnownDevices(std::span<TunedRow> rows);
/// Id of the catalogue's device under a log's name; empty if there is none.
std::string knownDevice(const std::string& name);

/// True where most operators have ten schedules and more: schedules are ranked; else times of the best are asked.
bool isOfTrials(std::span<const TunedRow> rows);
/// How well shares that were said put one operator's schedules (`places` in `rows`) in order; `said` is by row.
RankedOperator rankedOf(std::span<const TunedRow> rows, std::span<const std::size_t> places,
                        std::span<const double> said);
/// All fail with `schedules.few` where nothing is left to judge, and as the models' fit().
/// Trials: each operator of ten schedules and more by a model of all others. Best schedules: each fold of operators by
/// a model of the others.
Expected<ScheduleJudgement> judgeLeftOut(std::span<const TunedRow> rows, const JudgeScheduleOptions& options);
/// Each device by a model of all others and `anchors` rows of its own (best schedules alone).
Expected<ScheduleJudgement> judgeNewDevices(std::span<const TunedRow> rows, const JudgeScheduleOptions& options);
/// Rows of another log by a model of this one; of devices that it did not know, `anchors` of them are given.
Expected<ScheduleJudgement> judgeOther(std::span<const TunedRow> known, std::span<const TunedRow> asked,
                                       const JudgeScheduleOptions& options);

}  // namespace orrery
