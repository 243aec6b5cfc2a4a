#pragma once

// How many blocks of a kernel an SM holds, and what is left of its memory for L1.

#include "simulation/gpu/trace.h"

#include <string>

namespace orrery::gpusim {

struct Occupancy {
    int fits = 0;           ///< 0: not even one
    int used = 0;           ///< also at most what an even share of the grid needs
    std::string limitedBy;  ///< "threads", "shared+registers" and the like
    int l1Bytes = 0;
    int carvedBytes = 0;  ///< of the unified memory, what is not L1
    int registers = 0;    ///< of a block, as they are given out
    int sharedBytes = 0;  ///< likewise
    bool changesL1 = false;
};

Occupancy occupancy(const Machine& machine, const KernelHeader& kernel);

/// `gpu.kernel`: what to say where `fits` is 0.
Unexpected doesNotFit(const Machine& machine, const std::string& kernel, const std::string& file);

}  // namespace orrery::gpusim
