#include "methods/tile/tile_family.h"
#include "methods/tile/tile_wave_attention.h"
#include "methods/tile/tile_wave_collective.h"
#include "methods/tile/tile_wave_convolution.h"
#include "methods/tile/tile_wave_experts.h"
#include "methods/tile/tile_wave_gemm.h"
#include "methods/tile/tile_wave_simt.h"
#include "methods/tile/tile_wave_vector.h"

#include <algorithm>
#include <array>

namespace orrery {

// One line per family.
std::span<const TileFamily> tileFamilies() {
    static const std::vector<TileFamily> families = [] {
        std::vector<TileFamily> all{gemmFamily(),         prefillAttentionFamily(), decodeAttentionFamily(),
                                    latentDecodeFamily(), collectiveFamily(),       simtFamily(),
                                    vectorFamily(),       expertsFamily(),          convolutionFamily()};
        all.back().graphLaunch = simtFamily().graphLaunch;  // its parameters begin with theirs
        return all;
    }();
    return families;
}

const TileFamily* tileFamilyOf(const Kernel& kernel) {
    for (const TileFamily& family : tileFamilies()) {
        if (family.covers(kernel)) return &family;
    }
    return nullptr;
}

const TileFamily* tileFamilyOn(const Kernel& kernel, const GpuView& gpu) {
    if (kernel.kind == KernelKind::Collective && gpu.linkBandwidth <= 0) return nullptr;
    return tileFamilyOf(kernel);
}

std::vector<double> nominalParameters(const TileFamily& family) {
    std::vector<double> values;
    for (const TileParameter& parameter : family.parameters) values.push_back(parameter.nominal);
    return values;
}

std::vector<double> parametersOf(const TileFamily& family, const std::map<std::string, double, std::less<>>& fitted) {
    std::vector<double> values = nominalParameters(family);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const TileParameter& parameter = family.parameters[i];
        if (const auto found = fitted.find(parameter.name); found != fitted.end()) {
            values[i] = std::clamp(found->second, parameter.low, parameter.high);
        }
    }
    return values;
}

}  // namespace orrery
