#pragma once

// A kernel simulated in part: a wave of blocks, two of them, the last one that is not full, and short main loops; the
// rest is extrapolated by whole waves and whole steps. For W waves, S steps, T(w, s) cycles of the first w waves:
//
//   step   = (T(1, s2) − T(1, s1)) / (s2 − s1)
//   first  = T(1, s2) + (S − s2)·step
//   extra  = T(2, s1) − T(1, s1)
//   next   = extra + (S − s1)·min(step, extra / s1)
//   cycles = first + (W − 1)·next + the last wave, by the share of next that it costs
//
// The first wave begins with all SMs at once and empty caches, later ones do not, so they are no share of it: its
// beginning tells for more at a short length than at the whole one.
//
// Or, where it is asked for and the budget allows, waves drawn from all of them, with an interval.
//
// Where even that is too much, on an even part of the machine. Blocks of a part share fewer operands than those of a
// whole wave, so its main memory and L2 are larger than an even part by what a block fetches more, counted in the
// template's addresses.

#include "methods/gpu/gpu_kernels.h"
#include "simulation/gpu/cycle_stack.h"
#include "simulation/gpu/sampling/sample.h"

#include <optional>
#include <stop_token>
#include <vector>

namespace orrery {

struct SampleOptions {
    double instructions = 1e6;     ///< of warps, that may be simulated; the least that a sample needs always is
    std::uint64_t mostCycles = 0;  ///< of one simulation; 0: no limit
    bool intervals = false;        ///< by simulation/gpu/interval; one multiprocessor for all where that is possible
    std::vector<gpusim::MemoryRange> resident = {};  ///< in L2 when the kernel begins
    std::stop_token stop = {};
    /// Draws waves from the whole kernel (simulation/gpu/sampling) where the budget has room for as few as that takes.
    std::optional<gpusim::SampleKind> waves = {};
};

struct SampledKernel {
    double cycles = 0;
    double low = 0, high = 0;  ///< of a sample of waves, 95 %; elsewhere 0: it says nothing of itself
    double blocks = 0, blocksPerSm = 0, waves = 0;
    double simulatedInstructions = 0, instructions = 0;  ///< of warps
    double simulatedSteps = 0, steps = 0;
    double dramBytes = 0, l2Bytes = 0;  ///< past them, scaled up where not all was simulated
    gpusim::Counters counts;            ///< of the simulation that stands for the kernel
    double scale = 1;                   ///< from those counts to the kernel's
    int part = 1;                       ///< they are of one such part of the machine
    bool whole = true;                  ///< nothing was extrapolated
    CycleStack stack;                   ///< of `cycles`, where one multiprocessor stands for all
    double intervals = 0;               ///< on the way of the warp that ends last, with `pathInstructions` on it
    double pathInstructions = 0;
    std::string how;  ///< one sentence
};

/// Warp instructions that a simulation of the kernel would run, by a block in the middle that stands for all, at most
/// `most`; 0 without a template. The simulation's time before it is begun.
double instructionsToSimulate(const Kernel& kernel, const GpuView& gpu, const DrawnMachine& machine, double most);

/// What a kernel that is repeated over `copies` of its weights finds in a cache of so many bytes, where the least
/// recently used line goes first: all that comes again before others have filled the cache. 0 copies: nothing.
std::vector<gpusim::MemoryRange> residentOperands(const gpusim::KernelTemplate& kernel, double cacheBytes, int copies);

/// Cycles of a later wave with `steps` of the main loop, where with `shorter` of them it costs `extra`, and the first
/// wave costs `atShorter` and `grown` more with all of them. Without a loop, or where all of it was simulated, `extra`.
double laterWave(double atShorter, double extra, double grown, std::int64_t shorter, std::int64_t steps);

/// Fails with `gpu.…` as the simulator does, `study.cancelled`.
Expected<SampledKernel> sampleKernel(const KernelProgram& program, const gpusim::Machine& machine,
                                     const SampleOptions& options);

}  // namespace orrery
