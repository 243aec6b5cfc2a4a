#pragma once

// Intervals of ranked schedules, stated beside what was judged: learning/schedules/share_spread.h over the operators
// that each judged one was told without.

#include "evaluation/schedules/judge_schedules.h"

namespace orrery {

/// Of operators left out one by one: each from the others, by models that saw neither. What was said of other devices'
/// operators counts too.
Expected<void> stateLeftOut(ScheduleJudgement& judged, std::span<const TunedRow> rows, const ScheduleTraining& options);
/// Of operators of another log: from those of the known one. None of a device that it did not know.
Expected<void> stateOther(ScheduleJudgement& judged, std::span<const TunedRow> known, std::span<const TunedRow> asked,
                          const ScheduleTraining& options);

}  // namespace orrery
