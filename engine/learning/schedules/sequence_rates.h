#pragma once

// How fast schedules run, from their primitives in order (TLP class; schedule_tokens.h): a token each is embedded, one
// layer of self-attention with its residual and two residual layers follow, and the mean over tokens is read out. It is
// trained to put schedules of an operator in order (rank_loss.h) and to state their rates.

#include "learning/schedules/schedule_model.h"

namespace orrery {

/// Schedules, those of an operator one after another.
struct RatedSchedules {
    std::vector<const TunedRow*> rows;
    std::vector<double> rates;      ///< 0 to 1, one each
    std::vector<std::size_t> ends;  ///< behind the last row of each operator
};

/// Members of an ensemble are trained from different seeds, each on one thread. Fails with `study.cancelled`.
Expected<RateModelPtr> trainSequence(const RatedSchedules& schedules, const ScheduleTraining& options);

}  // namespace orrery
