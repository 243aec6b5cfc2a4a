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

/// The GPC of an SM; those of one GPC lie side by side. Where the table has a mean that is no whole number, GPCs hold
/// whole pairs (TPCs).
int gpcOf(const Machine& machine, int sm);
/// Blocks that the machine puts into one cluster at most; below 2: it has none.
int mostOfCluster(const Machine& machine);
/// Blocks of the kernel that are placed together: 1 on machines without clusters, or without room for these.
int clusterOf(const Machine& machine, const KernelHeader& kernel);
/// SMs that whole clusters of `members` blocks can stand on at the same time, a block on each.
int smsOfClusters(const Machine& machine, int members);

Occupancy occupancy(const Machine& machine, const KernelHeader& kernel);

/// `gpu.kernel`: what to say where `fits` is 0.
Unexpected doesNotFit(const Machine& machine, const std::string& kernel, const std::string& file);

}  // namespace orrery::gpusim
