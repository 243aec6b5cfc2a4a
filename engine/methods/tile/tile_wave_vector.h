#pragma once

// Vector operators (elementwise, softmax, normalisation) from the bytes that they move.
//
// A kernel streams its operands once; softmax and normalisation look at every row again. What they look at again comes
// from the caches while the rows in flight fit there, from DRAM else. Repeated runs find in L2 what fits (the sets are
// measured without a flush). DRAM reaches a share of its data rate that differs between stacked and graphics memory.
// Time, with ‖a, b‖ = (a⁴ + b⁴)^¼:
//     launch + ‖ DRAM bytes ÷ rate, L2 bytes ÷ rate + rows · cost ÷ SMs ‖

#include "methods/tile/tile_family.h"

namespace orrery {

/// Places of the parameters of vectorFamily().
enum VectorParameter : std::size_t {
    VectorStacked,      ///< share of the rate of HBM
    VectorGraphics,     ///< share of the rate of GDDR and LPDDR
    VectorNormPass,     ///< reads of a row beyond the first, normalisation
    VectorSoftmaxPass,  ///< the same, softmax of rows too long for registers
    VectorReach,        ///< bytes of rows in flight that stay in L2 ÷ its capacity
    VectorWarm,         ///< footprint that stays in L2 between runs ÷ its capacity
    VectorFeed,         ///< B per cycle between L2 and one multiprocessor
    VectorRow,         ///< cycles of one multiprocessor that a row of normalisation, or 1024 elements of softmax, costs
    VectorLaunch,      ///< s
    VectorNormLaunch,  ///< s more of normalisation
    VectorEarly,       ///< share of the rate of HBM before tensor units came: the first to have it reach less
    VectorParameterCount
};

const TileFamily& vectorFamily();
TilePhysics vectorPhysics(const Kernel& kernel, const GpuView& gpu, std::span<const double> parameters);

/// Whether DRAM is of the graphics or mobile kind (GDDR, LPDDR) and not stacked; by its standard's name.
bool graphicsMemory(const GpuView& gpu);

}  // namespace orrery
