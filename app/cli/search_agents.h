#pragma once

// `search --agents LIST FILE...`: agents against one another. For cmd_search.cpp.

#include "app/cli/command.h"
#include "study/distributed/ranks.h"

namespace orrery::cli {

/// On several ranks these share the runs; null on one.
int compareAgents(Ranks* ranks, const Arguments& arguments, Watch& watch);

}  // namespace orrery::cli
