#pragma once

// What each wave of a kernel's blocks runs: how often each instruction, and how many sectors or passes of shared memory
// it asks for, by warp instruction of the wave.

#include "simulation/gpu/sampling/wave_plan.h"
#include "simulation/gpu/trace.h"

#include <span>
#include <stop_token>

namespace orrery::gpusim {

struct WaveSignatures {
    std::vector<Signature> waves;
    std::vector<double> instructions;  ///< of warps, of each wave
    /// Of the kernel as a whole: its instructions by their place in the code of a kernel of that name, and, by their
    /// logarithms, how many there are and how many blocks.
    Signature kernel{};
    double all = 0;
};

/// Reads the kernel to its end. Fails as its source does, `gpu.stopped`.
Expected<WaveSignatures> readSignatures(KernelSource& kernel, std::span<const Wave> waves, std::uint64_t seed,
                                        const std::stop_token& stop);

}  // namespace orrery::gpusim
