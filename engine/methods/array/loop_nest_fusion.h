#pragma once

// Reuse between layers: an activation that the next operator alone reads may stay in the largest level on the chip, and
// then crosses main memory neither on its way out nor on its way in.

#include "methods/array/loop_nest.h"
#include "workload/costs.h"

namespace orrery {

struct FusedOperator {
    double cycles = 0;      ///< of one execution; 0 for the unmapped
    double energy = 0;      ///< joules; 0 for the unmapped
    double savedBytes = 0;  ///< that no longer cross main memory
    bool inputOnChip = false, outputOnChip = false;
};

/// One entry per operator of the graph. An activation stays where (1) one mapped operator writes it and the next mapped
/// one is its only reader, but for operators between them that work on it in place (element-wise, normalisation,
/// softmax: relieved as well), (2) all of them run equally often, and (3) it fits, whole, into the outermost level
/// inside main memory beside the tiles that either end holds there. Cycles are then those of the slowest level with
/// main memory relieved; computing is never faster.
std::vector<FusedOperator> fuseChains(const Graph& graph, const std::vector<Expected<MappedOperator>>& mapped);

/// Costs without the bytes of activations that stay: what a roofline of the fused graph counts.
CostTable relievedCosts(const Graph& graph, CostTable costs, const std::vector<FusedOperator>& fused);

}  // namespace orrery
