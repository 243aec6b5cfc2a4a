#pragma once

// What the learned correction of matrix products looks at: extents, how they fall into tiles and waves, and the shares
// that the terms of the physical price have in it.

#include "methods/tile/hybrid_family.h"

namespace orrery {

const HybridFamily& gemmHybrid();

}  // namespace orrery
