#pragma once

// What the learned correction of attention may look at: the kernel's shape, where it stands among tiles, waves and
// caches, and the shares of its physical price.

#include "methods/tile/hybrid_family.h"

namespace orrery {

const HybridFamily& prefillAttentionFeatures();
const HybridFamily& decodeAttentionFeatures();
const HybridFamily& latentDecodeFeatures();

}  // namespace orrery
