#pragma once

// `orrery-cli map --bound-curve`: the least that must move for every size of the buffer, with the drawn levels and a
// mapping on it.

#include "app/cli/command.h"
#include "mapping/mappers/mapper.h"
#include "mapping/timeloop/timeloop.h"
#include "methods/array/loop_nest.h"

namespace orrery::cli {

/// `--bound-curve`, `--bound-tiles`, `--csv`.
const std::vector<Option>& boundOptions();

/// Of the problem of Timeloop's files; the mapping, if there is one, is the point on it.
int boundOfInput(const TimeloopInput& input, const Arguments& arguments, Watch& watch);
/// Of the operators of a workload, or of the one that --operator names, each with the mapping that the search finds.
int boundOfWorkload(const SpatialArrayView& view, const Graph& graph, const LoopNestOptions& options,
                    SearchContext& context, const Arguments& arguments, Watch& watch);

}  // namespace orrery::cli
