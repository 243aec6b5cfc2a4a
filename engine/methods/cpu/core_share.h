#pragma once

// What one core of a processor runs of a kernel that all cores share: kernels of networks as kernels that
// simulation/cpu/core writes in instructions.

#include "simulation/cpu/core/kernels/kernel.h"
#include "workload/kernel.h"

#include <optional>

namespace orrery {

struct CoreShare {
    pipeline::KernelSpec spec;  ///< of the core that has most to do
    std::int64_t active = 1;    ///< cores that work at once
    double rounds = 1;          ///< how often that core runs it
    bool widened = false;       ///< computes in fp32 what is stored in fewer bits
};

/// Batches and heads first, then a grid over rows and columns whose largest piece is least. Nothing for kernels without
/// a form: depthwise convolutions, products of fewer than `fewestRows` rows, movement, collectives.
std::optional<CoreShare> coreShareOf(const Kernel& kernel, const pipeline::Machine& machine, std::int64_t cores);
inline constexpr std::int64_t fewestRows = 4;

}  // namespace orrery
