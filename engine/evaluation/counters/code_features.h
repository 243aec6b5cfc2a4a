#pragma once

// What a kernel's code and a device say before anything is run: instructions of a warp by what they do, bytes that a
// block asks for, how many blocks a multiprocessor holds, how the device's rates stand to them. The input of predicted
// counters (of the class of Omniwise: Wang et al., "Omniwise: predicting GPU kernels performance with LLMs",
// arXiv:2506.20886, which reads source text instead).

#include "methods/gpu/gpu_kernels.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace orrery {

/// Counters of a whole kernel that are predicted.
enum class GpuCounter : std::uint8_t {
    Cycles,      ///< of the core clock, without a launch
    DramBytes,   ///< to and from main memory
    L2Bytes,     ///< in requests that reach L2
    L2Hits,      ///< share of L2's reads
    L1Hits,      ///< share of loads' sectors, those that pass L1 by among them
    Occupancy,   ///< resident warps over the most that a multiprocessor holds
    Issue,       ///< share of the schedulers' slots that issue
    Dependence,  ///< share of them in which registers were pending
    UnitBusy     ///< share of them in which a unit was full
};
inline constexpr std::size_t gpuCounters = 9;
struct GpuCounterInfo {
    std::string_view id, title, meaning;
    bool share = false;  ///< from 0 to 1; else a count
    bool bytes = false;  ///< a count of bytes
};
const std::array<GpuCounterInfo, gpuCounters>& gpuCounterInfos();
using CounterValues = std::array<double, gpuCounters>;

/// Numbers above 0 that a learned function sees, in this order.
const std::vector<std::string>& codeFeatureNames();

struct KernelCode {
    std::vector<double> features;  ///< by codeFeatureNames()
    /// What follows without learning: each operand once from main memory, each block's operands once from L2, the
    /// longest of issue, tensor units and main memory as cycles; shares as if nothing waited.
    CounterValues plain{};
};
/// Fails with `gpu.kernel` where a block does not fit a multiprocessor.
Expected<KernelCode> codeOf(const KernelProgram& program, const gpusim::Machine& machine, const GpuView& gpu);

}  // namespace orrery
