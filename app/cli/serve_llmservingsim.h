#pragma once

// `serve --llmservingsim DIR (--tables DIR | --hardware ID [--method ID]) [--model FILE] [--json]`: a recorded run of
// vLLM, simulated and compared request by request.

#include "app/cli/command.h"
#include "app/cli/interrupt.h"

namespace orrery::cli {

int serveLlmServingSim(const Arguments& arguments, Watch& watch);

}  // namespace orrery::cli
