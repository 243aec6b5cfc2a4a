#pragma once

// Matrix products on tensor cores, from tiles and waves: y[m,n] = x[m,k]·w[k,n].
//
// A kernel cuts y into tiles of tileM×tileN, and k into `splits` shares; a block of threads makes one of them in steps
// along k. What a step costs is the slowest of the tensor units, the bytes that it pulls from L2, and the latency that
// the pipeline of loads cannot hide. Blocks run in waves over the multiprocessors; DRAM works beside them. Among the
// tiles of real kernels (tile sizes as in NVIDIA's CUTLASS, media/docs: Efficient GEMM in CUDA) the fastest is taken,
// as a library's heuristics try to do. Time, with ‖a, b‖ = (a⁴ + b⁴)^¼ for terms that overlap:
//     launch + quantisation + ‖ waves · ‖steps · step, …‖ + block, DRAM bytes ÷ rate ‖ + gathering of the splits
// Formats that carry scales have few tiles (product_kernels.h). Where both operands do, the sums of a step are scaled
// before the next are added, so that a step takes its multiplying and that wait, one after the other.
// Weights that were used shortly before come from L2 in part; see `gemmReuse`.

#include "methods/tile/tile_family.h"

namespace orrery {

/// FLOP per cycle of a multiprocessor, of 16 bits, at which feed and latencies are stated: that of Ampere's tensor
/// cores.
inline constexpr double gemmReferenceRate = 2048;

/// How many times as many loads as Ampere has under way a multiprocessor has at most: copy engines doubled them with
/// Hopper. That Blackwell has no more was chosen with B200's rows of aiconfigurator in sight: its products with few
/// blocks wait as long as Hopper's. No measurement of bytes under way stands behind it.
inline constexpr double gemmMostUnderWay = 2;

/// Clock at which launches, clock and process at which switched energies are stated: those of H100.
inline constexpr double gemmReferenceClock = 1.83e9, gemmReferenceProcess = 4;

/// Nominal `switched energy` (J, one FLOP of bf16 so made and clocked) and `width saving`: of tensor units, whatever
/// kernel keeps them busy.
inline constexpr double gemmSwitchedEnergy = 0.658823529e-12, gemmWidthPower = 0.3;

/// Places of the parameters of gemmFamily().
enum GemmParameter : std::size_t {
    GemmCompute,   ///< share of the tensor peak that large tiles reach
    GemmEnergy,    ///< J that one FLOP of bf16 switches, as if made in 4 nm and clocked at gemmReferenceClock
    GemmThrottle,  ///< s after which the power limit shows
    GemmTileCost,  ///< of small tiles: rows and columns' worth of overhead
    GemmDram,      ///< share of the DRAM bandwidth
    GemmFeed,      ///< B per cycle from L2 into one multiprocessor
    GemmStep,      ///< cycles of a step of 128 B along k that one block cannot hide
    GemmBlock,     ///< cycles of prologue and epilogue of a block
    GemmLaunch,    ///< s at gemmReferenceClock: the logic that starts blocks runs on the same clock
    GemmSplit,     ///< s to gather what splits along k have made
    GemmReuse,     ///< working set that an L2 of halves keeps ÷ the capacity of one
    GemmQuantise,  ///< unit of s of the launches that quantise activations first
    GemmUnpack,    ///< multiply-accumulates' worth of turning one narrow weight into a wide one
    GemmWhole,     ///< working set that an L2 of one piece keeps ÷ its capacity
    GemmWidth,     ///< power of the tensor rate of a multiprocessor by which the energy of a FLOP falls
    GemmScaled,    ///< cycles from a step of a product with scales along k until its sums are scaled
    GemmParameterCount
};

/// `scaled sum` of sections from before kernels of narrow formats were told apart: they take any tile, wait for
/// nothing, and their latencies shrink with the tensor rate without end.
inline constexpr double gemmAnyKernel = 0.001;

const TileFamily& gemmFamily();
TilePhysics gemmPhysics(const Kernel& kernel, const GpuView& gpu, std::span<const double> parameters);

/// L2 that a working set finds. On dies with HBM since A100, L2 is two halves that each keep what their own
/// multiprocessors read, so that shared data stand twice (NVIDIA A100 white paper, "L2 cache").
double gemmCache(const GpuView& gpu);
/// Whether it is such an L2 of halves.
bool halvedCache(const GpuView& gpu);

/// Share of the nominal clock that the power cap leaves tensor units at full work, 0.1 to 1: energy grows with the
/// bits, with the square of the voltage, so of the clock that a process is driven to, and with its feature size. 1 for
/// a device without a cap.
double gemmClockShare(DType type, const GpuView& gpu, double energy);
/// What a FLOP takes in a device's tensor units over what it takes in those of H100: falls with that power of the
/// rate of a multiprocessor, for wide units read an operand less often. 1 without tensor units of 16 bits.
double gemmWidthSaving(const GpuView& gpu, double power);

/// How many times as long a run of `seconds` takes because the power cap holds the clock down, as of products, where
/// tensor units are at work for `working` s of it at the nominal clock; 1 or more.
double slowedByPower(const GpuView& gpu, DType type, double energy, double working, double seconds);

/// Parameters of other families that say of tensor units and caches what those of products say. Sections from before
/// they had them lack both.
inline constexpr TileParameter switchedEnergyParameter{
    "switched energy",
    gemmSwitchedEnergy,
    1e-15,
    3.3e-12,
    0.2,
    Dimension::Energy,
    "of one FLOP of bf16 in 4 nm at 1.83 GHz; the power cap pulls the clock down by it",
    true};
/// Each half of a halved cache holds a copy of what its multiprocessors share.
inline constexpr TileParameter wholeCacheParameter{
    "whole cache",
    2,
    0.5,
    4,
    0.2,
    Dimension::Number,
    "what a cache of one piece keeps over one of two halves, both over their capacity",
    true};
/// B of a last-level cache, those of a cache of one piece times `whole`.
double keepingCache(const GpuView& gpu, double whole);

/// Bytes that pass before weights of `weightBytes` are wanted again: kernels are measured on one to five copies of the
/// weights in turn, as many as fill the cache (aiconfigurator, collector/trtllm/collect_gemm.py).
double gemmReuse(double weightBytes, double l2Bytes);

}  // namespace orrery
