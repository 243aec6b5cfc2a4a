#pragma once

// What the learned correction of products on the vector units and of vector operators may look at.

#include "methods/tile/hybrid_family.h"

namespace orrery {

const HybridFamily& simtHybrid();
const HybridFamily& vectorHybrid();
const HybridFamily& convolutionHybrid();

}  // namespace orrery
