#pragma once

// Which program a kernel runs as: one rule for gpu-cycle, gpu-interval, `gpu --kernel` and the GPU page.

#include "methods/gpu/gpu_kernels.h"

#include <stop_token>

namespace orrery {

struct ChoiceOptions {
    int copies = 0;                ///< of the weights, over which the kernel is repeated
    std::uint64_t mostCycles = 0;  ///< of one try; 0: no limit
    std::stop_token stop = {};
};

/// As a library's heuristic or its tuner would, the one of `programsOf` that takes the least time by intervals, where
/// one multiprocessor stands for all; elsewhere the first. Fails as `programsOf` does, `study.cancelled`.
Expected<KernelProgram> chosenProgram(const Kernel& kernel, const GpuView& gpu, const DrawnMachine& machine,
                                      const ChoiceOptions& options = {});

/// `tile 128×256×64`, and what its second kernel takes where there is one.
std::string toText(const KernelProgram& program);

}  // namespace orrery
