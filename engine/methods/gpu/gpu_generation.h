#pragma once

// What a drawing leaves out of a GPU's multiprocessors, by generation: presets/technology/gpu-multiprocessors.yaml.

#include "base/diagnostic.h"
#include "hardware/views/gpu_view.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct GpuGeneration {
    std::string name;    ///< `hopper`
    int version = 80;    ///< of its instruction set, as traces name it
    double l1Bytes = 0;  ///< L1 and shared memory together
    std::vector<int> carveBytes;
    int banks = 8;                                                                  ///< of registers, of one SM
    int tensorLatency = 16, specialLatency = 20;                                    ///< cycles
    double sharedLatency = 25, l1Latency = 30, l2Latency = 220, dramLatency = 450;  ///< cycles, of dependent loads
    bool copiesPast = true;                                                         ///< LDGSTS
    bool matrixLoads = true;                                                        ///< LDSM
    bool groups = false;                                                            ///< tensor units take warp groups
};

/// The table, oldest first. Fails with `gpu.generation` where the file is broken.
const Expected<std::vector<GpuGeneration>>& gpuGenerations();
/// By the types that its tensor units take and its kind of memory: fp4, fp8, bf16, int8, fp16, as they appeared.
Expected<GpuGeneration> generationOf(const GpuView& gpu);

}  // namespace orrery
