#pragma once

// What the learned correction of collectives may look at.

#include "methods/tile/hybrid_family.h"

namespace orrery {

const HybridFamily& collectiveFeatures();

}  // namespace orrery
