#pragma once

// Reuse between layers: an activation that the next operator alone reads may stay in the largest level on the chip, and
// then crosses main memory neither on its way out nor on its way in.

#include "methods/analytical/loop_nest.h"

namespace orrery {

struct FusedOperator {
    double cycles = 0;      ///< of one execution
    double energy = 0;      ///< joules
    double savedBytes = 0;  ///< that no longer cross main memory
    bool inputOnChip = false, outputOnChip = false;
};

/// One entry per operator of the graph, zeros for the unmapped. An activation stays where (1) one mapped operator
/// writes it and the next mapped one is its only reader, (2) both run equally often, and (3) it fits, whole, into the
/// outermost level inside main memory beside the tiles that either operator holds there. Cycles are then those of the
/// slowest level with main memory relieved; computing is never faster.
std::vector<FusedOperator> fuseChains(const Graph& graph, const std::vector<Expected<MappedOperator>>& mapped);

}  // namespace orrery
