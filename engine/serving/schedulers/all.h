#pragma once

// One function per policy; the list is in schedulers.cpp.

#include "serving/schedulers/scheduler.h"

namespace orrery {

SchedulerCard vllmV0();
SchedulerCard sarathi();
SchedulerCard lightLlm();
SchedulerCard orca();
SchedulerCard staticBatch();
SchedulerCard vllmV1();
SchedulerCard sgLang();
SchedulerCard splitwise();
SchedulerCard distserve();

/// What only one policy knows: its value in `more`, or the card's.
double numberOf(const SchedulerSpec& spec, std::string_view key, double fallback);

}  // namespace orrery
