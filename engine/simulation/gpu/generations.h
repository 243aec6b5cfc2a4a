#pragma once

// What instructions and accesses cost on real GPUs, by generation: presets/technology/gpu-generations.yaml, each number
// with its source. Never by kernel.

#include "base/diagnostic.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery::gpusim {

struct GpuGeneration {
    /// Core cycles: to an instruction that needs the result; between two warp instructions of a sub-core.
    struct Pipe {
        int latency = 4, initiation = 2;
    };
    /// A chain of loads: cycles of the core clock, and time that does not follow it.
    struct Distance {
        double cycles = 0, nanoseconds = 0;
        double at(double coreMhz) const { return cycles + nanoseconds * coreMhz / 1000; }
    };
    std::string name;           ///< "volta" … "blackwell-rtx"
    int computeCapability = 0;  ///< 70, as `binary version` of traces
    Pipe alu, fp32, half, fp64, special, branch, uniform, conversion, shuffle;
    int tensorLatency = 1;
    double tensorMacs = 1;  ///< of half precision, per cycle and sub-core
    Distance shared, l1, l2, dram;
    double l1Bytes = 128, sharedBytes = 128;  ///< per core cycle and SM
    double dramShare = 1;                     ///< of the peak bandwidth that streams reach
    double launchCycles = 0;
};

/// Fails with its place where a number is absent or wrong. Codes `gpu.generation`.
Expected<std::vector<GpuGeneration>> readGpuGenerations(std::string_view yaml, std::string_view file);
/// The shipped ones, read once.
const Expected<std::vector<GpuGeneration>>& gpuGenerations();
/// By name, or the newest that is not newer than a compute capability (80: "ampere"); null if there is none.
const GpuGeneration* generationOf(std::string_view name);
const GpuGeneration* generationOf(int computeCapability);

}  // namespace orrery::gpusim
