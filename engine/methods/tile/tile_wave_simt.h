#pragma once

// Matrix products on the vector units (fp32 without tensor cores): y[m,n] = x[m,k]·w[k,n], `batch` times.
//
// A block of threads makes one tile of y; blocks fill the multiprocessors in waves, and the last wave counts as a
// whole. The library of tiles is that of cuBLAS's sgemm kernels (names such as `ampere_sgemm_128x64_tn` in the
// NeuSight tables, which also record their grids); batched products have few tiles, which hang on the generation, told
// apart by what the tensor units take and by the shared memory: Ampere and Ada take 128×128 alone. Among those that a
// device may run, the fastest by physics is taken.
//   arithmetic  ⌈blocks ÷ SMs⌉ tiles of (k + tile cost) steps, at a share of the peak that falls with few warps, small
//               tiles, and where every issue slot must be a multiply-add (32 lanes per scheduler)
//   feed        (tileM + tileN)·k per block from L2
//   DRAM        operands once, and again what a wave needs that L2 has lost; less what stays from the run before
// Clock: what the design states as sustained, or the power cap (hardware/views/power_limit.h), reached after `throttle
// time`; the load's power is that of its arithmetic and of its bytes, by level.
//   time = launch + gather + ‖arithmetic, feed, DRAM‖,  ‖a, b‖ = (a⁴ + b⁴)^¼

#include "methods/tile/tile_family.h"

namespace orrery {

/// Places of the parameters of simtFamily().
enum SimtParameter : std::size_t {
    SimtCompute,    ///< share of the peak of large tiles with many warps
    SimtIssue,      ///< of it where multiply-adds need every issue slot
    SimtWarps,      ///< resident warps per 16 lanes at which half of it is reached
    SimtSmall,      ///< ln lost per halving of a tile
    SimtSteps,      ///< steps along k that a tile costs on top
    SimtReach,      ///< working set that L2 keeps between waves ÷ its capacity
    SimtWarm,       ///< footprint that L2 keeps between runs ÷ its capacity
    SimtDram,       ///< share of the DRAM rate
    SimtFeed,       ///< B per cycle from L2 into one multiprocessor
    SimtGather,     ///< s of the kernel that adds up splits
    SimtThrottle,   ///< s of a run after which the power limit halves its effect
    SimtEnergy,     ///< J per FLOP of a 7 nm part at its nominal clock
    SimtFeedLoad,   ///< FLOPs' worth of energy of a byte from L2
    SimtDramLoad,   ///< FLOPs' worth of energy of a byte from DRAM
    SimtSustained,  ///< clock ÷ stated sustained clock, of arithmetic alone
    SimtLaunch,     ///< s
    SimtParameterCount
};

const TileFamily& simtFamily();
TilePhysics simtPhysics(const Kernel& kernel, const GpuView& gpu, std::span<const double> parameters);

/// A tile that somebody else chose, not a library: a compiler's schedule.
struct GivenTile {
    double m = 1, n = 1, threads = 32;
    double held = 1;     ///< blocks that a multiprocessor holds at once
    double besides = 0;  ///< s of a multiprocessor for one block that its other pipes take beside its arithmetic
};
/// The same physics for that tile, with k in one piece.
TilePhysics simtOfTile(const Kernel& kernel, const GpuView& gpu, std::span<const double> parameters,
                       const GivenTile& tile);

/// Clock of a load under the power limit, as a share of the nominal one. `load`: energy per FLOP ÷ that of arithmetic
/// alone; `flopRate`: FLOP/s of the load at the nominal clock.
double simtClock(const GpuView& gpu, double load, double flopRate, std::span<const double> parameters);

/// Puts the clock that power allows, launch and `gather` (s, added behind) to a price: compute, l2, dram, their bytes
/// and seconds (with `gather`) at the nominal clock are asked for; `flops` counts whole tiles of all waves.
void finishSimt(TilePhysics& out, double flops, double gather, const GpuView& gpu, std::span<const double> parameters);

/// Share of the peak that is left where multiply-adds need every issue slot. `lanes`: of one multiprocessor.
double simtIssueShare(const GpuView& gpu, double lanes, std::span<const double> parameters);

/// Which of cuBLAS's libraries a device has: 0 without tensor units, 1 with those of fp16 alone, 2 with bf16 as well,
/// 3 with fp8 and the shared memory of Hopper.
int simtGeneration(const GpuView& gpu);

}  // namespace orrery
