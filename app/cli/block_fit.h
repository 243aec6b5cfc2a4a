#pragma once

// `orrery-cli block --fit`: a correction of the bounds from a table of measured blocks.

#include "app/cli/command.h"
#include "simulation/cpu/block/core.h"

#include <memory>

namespace orrery::cli {

int fitBlocks(const std::shared_ptr<const block::Core>& core, const Arguments& arguments, Watch& watch);

}  // namespace orrery::cli
