#pragma once

// `orrery-cli schedules --search --hardware ID --workload …`: a search over the schedules of a drawn device.

#include "app/cli/command.h"
#include "app/cli/interrupt.h"

namespace orrery::cli {

/// Whether the words ask for it: a search without a log.
bool asksDrawnSearch(const Arguments& arguments);
int runDrawnSearch(const Arguments& arguments, Watch& watch);

}  // namespace orrery::cli
