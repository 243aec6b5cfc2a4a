#pragma once

// What a model is worth to a search: trials until 95 % of the best, and the best after each trial, on recorded
// schedules of operators that the model had not seen.

#include "evaluation/schedules/judge_schedules.h"

#include <string>
#include <vector>

namespace orrery {

struct SearchCurve {
    std::string device, task, workload;
    std::size_t schedules = 0, good = 0;  ///< recorded; of them within 95 % of the best
    double guided = 0;  ///< trials to the first of those; where none was met, blind ones are expected after
    double ranked = 0;  ///< the same in the model's own order, nothing learned on the way
    double chance = 0;  ///< the same drawn blindly, expected
    std::vector<double> best, bestByChance;  ///< share of the best after 1, 2, … trials
};

struct SearchJudgement {
    std::vector<SearchCurve> operators;
    double guided = 0, ranked = 0, chance = 0;  ///< geometric means of trials over operators
    double fewer = 0;                           ///< chance ÷ guided
};

/// Each operator of ten recorded schedules and more is searched with a model of all others. Fails with
/// `schedules.few` where there is none, with `study.cancelled`.
Expected<SearchJudgement> judgeSearch(std::span<const TunedRow> rows, const ScheduleTraining& options,
                                      std::size_t trials = 200);
/// Operators of another log, with a model of the operators of `known` that the other log has not.
Expected<SearchJudgement> judgeSearchOther(std::span<const TunedRow> known, std::span<const TunedRow> asked,
                                           const ScheduleTraining& options, std::size_t trials = 200);

}  // namespace orrery
