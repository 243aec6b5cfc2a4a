#pragma once

// A kernel, or a list of kernels, simulated in part: how long the whole takes, and an interval (README).

#include "simulation/gpu/simulate.h"

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace orrery::gpusim {

enum class SampleKind : std::uint8_t {
    Smarts,   ///< waves at random; every kernel of a list
    SimPoint  ///< waves, and kernels of a list, that stand for those that run the same
};
std::string_view toText(SampleKind kind);
std::optional<SampleKind> sampleKindOf(std::string_view text);

struct SampleOptions {
    SampleKind kind = SampleKind::SimPoint;
    std::int64_t units = 6;  ///< waves measured of a kernel
    double confidence = 0.95;
    std::uint64_t seed = 1;
    /// Of `units` fewer where they take more warp instructions than this; 0: no limit. What is always simulated is.
    double mostInstructions = 0;
};

/// `cycles` is the estimate; counts are those of what was simulated, scaled by warp instructions.
struct SampledResult : KernelResult {
    /// What was simulated, as it was counted; nothing where all of it was, or where another stands for the kernel.
    std::optional<KernelResult> ran = {};
    double estimate = 0, low = 0, high = 0;                         ///< cycles, launch included
    double instructions = 0, simulated = 0;                         ///< of warps: of the kernel, cycle by cycle
    std::int64_t waves = 0, simulatedWaves = 0, measuredWaves = 0;  ///< 0 where another stands for the kernel
    int clusters = 0;                                               ///< of waves
    bool whole() const { return simulated == instructions; }
    /// None of it was simulated: kernels alike stand for it.
    bool stoodFor() const { return simulated == 0; }
    double share() const { return instructions > 0 ? simulated / instructions : 1; }
};

struct SampledList {
    std::vector<SampledResult> kernels;
    double estimate = 0, low = 0, high = 0;  ///< cycles of all
    double instructions = 0, simulated = 0;
    std::int64_t simulatedKernels = 0;
    int clusters = 0;  ///< of kernels; 0: all were looked at one by one
};

/// Opens the kernel anew, from its first block.
using OpenKernel = std::function<Expected<std::unique_ptr<KernelSource>>()>;

/// Fails as `simulate` does. Of `simulate`'s options neither snapshots nor resuming.
Expected<SampledResult> sampleKernel(const Machine& machine, const OpenKernel& open, const SampleOptions& sample,
                                     const SimulateOptions& options = {});

/// `gpu.sample` where kernels of several streams may run side by side.
Expected<SampledList> sampleKernels(const Machine& machine, const std::vector<TraceCommand>& commands,
                                    const SampleOptions& sample, const SimulateOptions& options = {});

}  // namespace orrery::gpusim
