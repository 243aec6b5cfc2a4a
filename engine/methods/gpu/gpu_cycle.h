#pragma once

// `gpu-cycle` and `gpu-interval`: kernels of a drawn GPU from templates of instructions, cycle by cycle
// (simulation/gpu) or each instruction once (simulation/gpu/interval).

#include "methods/kernel_method.h"

#include <optional>

namespace orrery {

/// Warp instructions of a kernel that are simulated unless `seconds` says otherwise; the card's cost is of so many.
inline constexpr double cycleBudgetInstructions = 4.5e5;
/// Programs of a product that gpu-interval runs, of which its card states the cost: the tiles that are tried.
inline constexpr double intervalTries = 3;
/// By the method's options; that of no options where `seconds` is none that it takes.
double cycleInstructionsOf(const OptionValues& options);

KernelMethod gpuCycleKernels();
KernelMethod gpuIntervalKernels();

/// Least and greatest measured over simulated time of the rows that the card of the method names.
struct SimulatedSpread {
    double low = 1, high = 1;
};
/// Of `gpu-cycle` for such a kernel on a device with so many lanes in a warp; nothing where no such kernel has been
/// measured: of wavefronts of 64 none has.
std::optional<SimulatedSpread> cycleSpreadOf(const Kernel& kernel, int lanes);

}  // namespace orrery
