#pragma once

// A kernel on a drawn GPU with one multiprocessor watched (simulation/gpu/recorder.h): which part of it is simulated,
// and what was seen. Nothing is extrapolated here.

#include "base/progress.h"
#include "methods/gpu/gpu_kernels.h"
#include "simulation/gpu/sampling/sample.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace orrery {

/// What of a kernel is simulated: all of it, or its first waves of blocks, with a shorter main loop, on an even part of
/// the machine, in this order.
struct WatchedPart {
    std::int64_t blocks = 0, allBlocks = 0;
    std::int64_t steps = 0, allSteps = 0;          ///< of the main loop; 0: it has none
    int share = 1;                                 ///< 1/share of multiprocessors and channels
    double waves = 0;                              ///< of all blocks on the whole machine
    double instructions = 0, allInstructions = 0;  ///< of warps, counted in the middle block
    bool whole() const { return blocks == allBlocks && steps == allSteps && share == 1; }
    std::string text() const;  ///< `the first of 12.3 waves, 24 of 128 steps`
};

/// As much as about `instructions` of warps allow; at least one wave of blocks on an eighth of the machine. Fails with
/// `gpu.kernel` where a block does not fit a multiprocessor.
Expected<WatchedPart> watchedPart(const KernelProgram& program, const gpusim::Machine& machine, double instructions);

struct WatchOptions {
    gpusim::RecordOptions record;
    std::stop_token stop;
    Progress* progress = nullptr;  ///< its total grows by what is to be simulated
    std::uint64_t mostCycles = 0;  ///< 0: no limit
    bool keepsStopped = false;     ///< a run that was stopped is what it had reached, if it had begun
};

struct WatchedKernel {
    WatchedPart part;
    gpusim::Machine machine;  ///< as simulated
    gpusim::KernelResult result;
    std::shared_ptr<const gpusim::Recording> recording;
    /// Of the whole kernel, where waves were drawn from it; `result` and `recording` are of what was simulated.
    std::optional<gpusim::SampledResult> sample = {};
};

/// The least core cycles in which the machine that was simulated moves the bytes that the run moved through L2, and to
/// and from main memory.
double l2Cycles(const WatchedKernel& seen);
double dramCycles(const WatchedKernel& seen);

/// The machine may differ from that of `part`, so that two designs do the same work. Fails as the simulator does,
/// `study.cancelled`.
Expected<WatchedKernel> watchKernel(const KernelProgram& program, const gpusim::Machine& machine,
                                    const WatchedPart& part, const WatchOptions& options = {});
/// Waves of all blocks, on the whole machine, by `sample`.
Expected<WatchedKernel> watchSample(const KernelProgram& program, const gpusim::Machine& machine,
                                    const gpusim::SampleOptions& sample, const WatchOptions& options = {});
Expected<WatchedKernel> watchSample(const std::string& file, const gpusim::Machine& machine,
                                    const gpusim::SampleOptions& sample, const WatchOptions& options = {});
/// A recorded trace, whole.
Expected<WatchedKernel> watchTrace(const std::string& file, const gpusim::Machine& machine,
                                   const WatchOptions& options = {});

}  // namespace orrery
