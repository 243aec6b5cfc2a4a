#pragma once

// Caches as they are when a kernel begins, where what ran before left its arrays in them.

#include "simulation/cpu/core/kernels/nest.h"
#include "simulation/cpu/core/memory.h"

namespace orrery::pipeline {

inline void standIn(Memory& memory, const LoopNest& nest, const KernelStart& start) {
    for (std::size_t a = 0; a < nest.arrays.size(); ++a)
        memory.standing(nest.arrays[a], nest.sizes[a], start.of(nest.uses[a]));
}

}  // namespace orrery::pipeline
