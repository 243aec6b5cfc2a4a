#pragma once

// The machine scheduler of Splitwise's simulator (Patel et al., ISCA 2024; Mutinifni/splitwise-sim instance.py, class
// SplitwiseInstance, MIT). A request is two tasks, its prompt and its decode; prompts go first, decoding requests that
// do not fit beside them are set aside with their memory kept, and one that was passed over `maxPreemptions` times goes
// before every prompt. A batch that only decodes runs on unchanged until one of it ends or something arrives that fits.
//
// As there, a decode asks for all memory of its output at its start: output lengths are known to it.

#include "serving/scheduler.h"

namespace orrery {

const SchedulerCard& splitwiseCard();

}  // namespace orrery
