#pragma once

// A drawn GPU as the cycle simulator runs it (simulation/gpu/machine.h): the drawing's own numbers, and what it lacks
// by its generation.

#include "methods/gpu/gpu_generation.h"
#include "simulation/gpu/machine.h"
#include "simulation/gpu/templates/product.h"

#include <string>
#include <vector>

namespace orrery {

struct DrawnMachine {
    gpusim::Machine machine;           ///< launches take no time; its name is the drawing's
    gpusim::GpuGeneration generation;  ///< with the drawing's own numbers in it
    std::vector<std::string> assumptions;
};

/// Fails with `method.not-applicable` for GPUs whose warps are not of 32 threads, `hardware.missing-attribute`.
Expected<DrawnMachine> machineOf(const GpuView& gpu);

/// Memory channels for a bandwidth of `wanted` of them: a prime above 7, so that rows which stand powers of two, or the
/// usual multiples of 3, 5 and 7 apart, spread over all of them as the hashes of real GPUs spread them.
int channelsNear(double wanted);

/// How its units multiply a type: tensor units where they take it, vector units else (fp8 as fp16 where nothing takes
/// it). `groups`: whole warp groups where the generation has them.
gpusim::MultiplyForm multiplyForm(const GpuView& gpu, const gpusim::GpuGeneration& generation, DType type, bool groups);

/// `gpgpusim.config` and `trace.config` of Accel-Sim, and `orrery.config` with what Accel-Sim has no option for, from
/// which readMachine() makes the same machine. Fails with `gpu.export`.
Expected<bool> writeMachine(const gpusim::Machine& machine, const std::string& folder);

}  // namespace orrery
