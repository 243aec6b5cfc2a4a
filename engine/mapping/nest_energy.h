#pragma once

// From counts to time and energy.

#include "mapping/nest_evaluator.h"

namespace orrery::nest {

/// Cycles of every level under its bandwidths, and their maximum with the latency of all networks. `cycles` is the
/// number of iterations of the busiest arithmetic unit.
void countCycles(const NestHardware& hardware, double cycles, NestCounts& counts);

/// Accesses in whole blocks times energy per block, over all instances; an instance in a cluster shares its vectors
/// with its neighbours.
void countEnergy(const NestHardware& hardware, NestCounts& counts);

}  // namespace orrery::nest
