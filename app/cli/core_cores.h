#pragma once

// `orrery-cli core --cores N`: a kernel divided over cores of a drawn CPU, in one clock.

#include "app/cli/command.h"

namespace orrery::cli {

int runCores(const Arguments& arguments, Watch& watch);

}  // namespace orrery::cli
