#pragma once

// Numbers of a policy by the keys on its card: what forms, files and command lines set.

#include "serving/schedulers/scheduler.h"

#include <string>

namespace orrery {

/// As files spell it: `tokenBudget` is `token_budget`.
std::string schedulerKey(std::string_view option);
/// A field of SchedulerSpec by its name (`tokenBudget`; switches are 0 or 1), else an entry of `more`, else NaN.
double schedulerNumber(const SchedulerSpec& spec, std::string_view key);
/// Sets the field of that name, else the entry of `more`. Whole-numbered fields are rounded.
void setSchedulerNumber(SchedulerSpec& spec, std::string_view key, double value);
/// Its value in `spec`, or what the card states.
double optionValue(const SchedulerSpec& spec, const SchedulerOption& option);
/// True for keys whose field is a switch.
bool isSwitch(std::string_view key);

}  // namespace orrery
