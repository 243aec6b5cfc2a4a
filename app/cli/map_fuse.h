#pragma once

// `orrery-cli map --fuse`: which operators of a workload to run together on an array, and what that saves.

#include "app/cli/command.h"
#include "hardware/views/spatial_array_view.h"
#include "workload/graph.h"

namespace orrery::cli {

/// `--fuse`, `--operators`.
const std::vector<Option>& fuseOptions();

int fuseWorkload(const SpatialArrayView& view, const Graph& graph, const Arguments& arguments, Watch& watch);

}  // namespace orrery::cli
