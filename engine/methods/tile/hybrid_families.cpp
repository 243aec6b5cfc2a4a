#include "methods/tile/features_attention.h"
#include "methods/tile/features_collective.h"
#include "methods/tile/features_experts.h"
#include "methods/tile/features_gemm.h"
#include "methods/tile/features_simt.h"
#include "methods/tile/hybrid_family.h"

#include <vector>

namespace orrery {

// One line per family.
std::span<const HybridFamily> hybridFamilies() {
    static const std::vector<HybridFamily> families{
        gemmHybrid(),           prefillAttentionFeatures(), decodeAttentionFeatures(),
        latentDecodeFeatures(), collectiveFeatures(),       simtHybrid(),
        vectorHybrid(),         expertsFeatures(),          convolutionHybrid()};
    return families;
}

const HybridFamily* hybridFamilyOf(const TileFamily& family) {
    for (const HybridFamily& hybrid : hybridFamilies()) {
        if (hybrid.name == family.name) return &hybrid;
    }
    return nullptr;
}

}  // namespace orrery
