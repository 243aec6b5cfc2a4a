#pragma once

// The engine of DistServe (Zhong et al., OSDI 2024; LLMServe/DistServe simdistserve/base/worker.py, Apache-2.0):
// prompts first come, first served, never split, as many at once as the token budget holds; decodes of all who are
// there, in the order in which they last ran. One replica may do both; then prompts go first unless the decoding
// requests hold more context than the back-pressure allows (its `vllm` backend).
//
// With `compatibility` `distserve` KV memory is not looked at, as there. Otherwise prompts wait for blocks, and when a
// decode finds none the newest request starts again.

#include "serving/scheduler.h"

namespace orrery {

const SchedulerCard& distserveCard();

}  // namespace orrery
