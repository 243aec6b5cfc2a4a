#pragma once

// Runs of published simulators of disaggregated serving for `serve`: --splitwise and --distserve.

#include "app/cli/command.h"

namespace orrery::cli {

int serveSplitwise(const Arguments& arguments, Watch& watch);
int serveDistServe(const Arguments& arguments, Watch& watch);

}  // namespace orrery::cli
