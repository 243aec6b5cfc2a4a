#pragma once

// `orrery-cli schedules FILE --show LINE`: one schedule of a log as the loops that it makes, its features, and why a
// model that has not seen its operator says what it says.

#include "evaluation/schedules/explore_schedules.h"
#include "learning/schedules/schedule_nest.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <span>
#include <string>

namespace orrery::cli {

struct ShownSchedule {
    const TunedRow* row = nullptr;
    Expected<ScheduleNest> nest;
    std::optional<ExploredOperator> explored;  ///< none where nothing ranks the operator: `why`
    std::optional<Diagnostic> why;
    std::size_t place = 0;  ///< among the operator's
    std::optional<ScheduleReasons> reasons;
};

/// Fails with `schedules.row` where no schedule stands on that line, with `study.cancelled`.
Expected<ShownSchedule> showSchedule(std::span<const TunedRow> rows, int line, const ScheduleTraining& options);
std::string textOf(const ShownSchedule& shown);
nlohmann::ordered_json jsonOf(const ShownSchedule& shown);

}  // namespace orrery::cli
