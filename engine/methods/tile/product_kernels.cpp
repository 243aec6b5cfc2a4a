#include "methods/tile/product_kernels.h"

#include "methods/tile/tile_wave_terms.h"

#include <array>
#include <limits>

namespace orrery::tile {

namespace {

constexpr double anyNumber = std::numeric_limits<double>::infinity();

// The smallest stands last: what a group of four warps multiplies at once has an extent of 64.
constexpr std::array<ProductTile, 14> all{{{256, 128},
                                           {128, 256},
                                           {128, 128},
                                           {64, 256},
                                           {256, 64},
                                           {128, 64},
                                           {64, 128},
                                           {64, 64},
                                           {64, 32},
                                           {32, 128},
                                           {32, 64},
                                           {16, 128},
                                           {16, 64},
                                           {16, 32}}};
constexpr std::span<const ProductTile> everySize{all}, groupsOfWarps{all.data(), all.size() - 1};
constexpr std::array<ProductTile, 1> scaledFour{{{128, 256}}}, scaledByWarps{{{32, 128}}};
constexpr std::array<ProductTile, 6> int8{{{128, 256}, {256, 128}, {128, 64}, {64, 128}, {64, 64}, {32, 128}}};
constexpr std::array<ProductTile, 5> mixed{{{128, 128}, {64, 128}, {32, 128}, {16, 256}, {16, 128}}};

}  // namespace

ProductKernels anyProductKernels() {
    return {everySize, false, anyNumber, 0, 1};
}

bool scaledAlongK(const Kernel& kernel) {
    return kernel.scaleBlock > 0 && bits(kernel.type) < 16 && bits(kernel.weightType) < 16;
}

ProductKernels productKernels(const Kernel& kernel, const GpuView& gpu) {
    const bool wavesOfWarps = gpu.warpSize <= 32, copyEngines = gpu.sharedBytes >= largeShared;
    if (scaledAlongK(kernel)) {
        if (!wavesOfWarps) return {everySize, false, 1, 1, 0};
        if (bits(kernel.type) <= 4 && copyEngines) return {scaledFour, true, 1, 2, 0};
        if (!copyEngines) return {scaledByWarps, true, 1, 1, 0};
        return {groupsOfWarps, false, 1, 1, 0};
    }
    if (!wavesOfWarps) return anyProductKernels();
    if (kernel.type == DType::I8 && bits(kernel.weightType) == 8) return {int8, true, 1, 0, 4};
    if (bits(kernel.type) == 16 && bits(kernel.weightType) < 16 && !copyEngines) return {mixed, true, 7, 0, 1};
    return anyProductKernels();
}

}  // namespace orrery::tile
