#pragma once

// A mapping as a person reads it: indented loops under each level, with the tiles that the level keeps.

#include "mapping/nest_evaluator.h"

#include <string>

namespace orrery {

/// Outermost level first:
///     DRAM [Weights 884736, Inputs 57600]
///     | for K in [0:3)
///     |   for Q in [0:13) (spatial X)
/// Tiles are of `counts` where it is given, else left out.
std::string nestText(const NestProblem& problem, const NestHardware& hardware, const NestMapping& mapping,
                     const NestCounts* counts = nullptr);

}  // namespace orrery
