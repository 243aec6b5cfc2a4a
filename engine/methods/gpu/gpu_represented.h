#pragma once

// A kernel by one multiprocessor that stands for all, its main loop at two lengths, one wave of blocks after another:
// what `sampleKernel` does with every block, in about a hundredth of the time.

#include "methods/gpu/gpu_sample.h"
#include "simulation/gpu/interval/interval_run.h"

namespace orrery {

/// Whether the kernel can be had so: its template says what blocks touch, and the machine has one L2.
bool isRepresented(const KernelProgram& program, const gpusim::Machine& machine);

/// Of `options` the budget is left out: the sample is as small as it can be. Fails with `gpu.…` as the simulator does,
/// `study.cancelled`.
Expected<SampledKernel> representedKernel(const KernelProgram& program, const gpusim::Machine& machine,
                                          const SampleOptions& options);

/// The interval model's answer from one multiprocessor: a stack that adds up, and counts that were scaled.
struct RepresentedResult : gpusim::IntervalResult {
    double scale = 1;      ///< from what was counted, the multiprocessor's first wave, to `counts`
    double simulated = 0;  ///< warp instructions, of all runs
    std::string how;       ///< what was simulated, in a sentence
};
Expected<RepresentedResult> representedResult(const KernelProgram& program, const gpusim::Machine& machine,
                                              const SampleOptions& options);

}  // namespace orrery
