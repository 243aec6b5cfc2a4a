// Every kernel method, in the order of builtinMethods(): one line each, with the include of its header above.

#include "methods/kernel_method.h"

#include "methods/interval/interval_analysis.h"
#include "methods/search/mapping_search.h"
#include "methods/tile/tile_wave.h"
#include "methods/tile/tile_hybrid.h"
#include "methods/tile/wave_scaling.h"
#include "methods/learned/booster.h"
#include "methods/learned/forest.h"

#include <vector>

namespace orrery {

std::span<const KernelMethod> kernelMethods() {
    static const std::vector<KernelMethod> methods{
        // clang-format off: one line each
        tileWaveKernels(),
        tileHybridKernels(),
        waveScalingKernels(),
        forestKernels(),
        boosterKernels(),
        intervalAnalysisMethod(),
        mappingSearchMethod(),
        // clang-format on
    };
    return methods;
}

const KernelMethod* findKernelMethod(std::string_view id) {
    for (const KernelMethod& method : kernelMethods()) {
        if (method.id == id) return &method;
    }
    return nullptr;
}

}  // namespace orrery
