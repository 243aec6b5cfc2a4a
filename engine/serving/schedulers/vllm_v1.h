#pragma once

// vLLM's V1 engine (vllm/v1/core/sched/scheduler.py, async_scheduler.py and kv_cache_manager.py as of v0.19): no phases
// of prompt and decode. Every running sequence, in order of admission, gets the tokens that it lacks, out of one budget;
// what is left of the budget goes to waiting ones. A sequence without a block left preempts the newest (or least
// urgent), which starts again; then nothing is admitted in that iteration.
//
// Asynchronous scheduling (the default since v0.14): iteration n + 1 is planned when n begins, as if n had ended, so the
// host's work is hidden and a new request waits for one iteration more. With several pipeline stages iterations are in
// flight anyway.

#include "serving/scheduler.h"

namespace orrery {

SchedulerCard vllmV1();

}  // namespace orrery
