#pragma once

// `search --agents LIST FILE...`: agents against one another. For cmd_search.cpp.

#include "app/cli/command.h"

namespace orrery::cli {

int compareAgents(const Arguments& arguments, Watch& watch);

}  // namespace orrery::cli
