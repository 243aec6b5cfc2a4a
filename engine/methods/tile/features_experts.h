#pragma once

// What the correction of experts' prices may look at.

#include "methods/tile/hybrid_family.h"

namespace orrery {

const HybridFamily& expertsFeatures();

}  // namespace orrery
