#pragma once

// A question over compilers' tuning logs, as `schedules`, `evaluate` and `references` ask it.

#include "evaluation/schedules/judge_schedules.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::cli {

/// Rows of logs, one after another, with what the catalogue says of their devices; what was skipped is reported.
Expected<std::vector<TunedRow>> readLogs(const std::vector<std::string>& paths);

/// Figures of what was judged as a table.
std::string schedulesText(const ScheduleJudgement& judged);
/// As resources/schema/schedules.schema.json says; `rows`: those that were judged.
std::string schedulesJson(const ScheduleJudgement& judged, std::span<const TunedRow> rows, std::string_view split);
/// Every judged row with what was said of it and its interval.
std::string schedulesCsv(const ScheduleJudgement& judged, std::span<const TunedRow> rows);
/// What a log holds: schedules, operators and devices.
std::string logText(std::string_view path, std::span<const TunedRow> rows);

}  // namespace orrery::cli
