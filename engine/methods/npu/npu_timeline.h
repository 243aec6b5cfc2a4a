#pragma once

#include "methods/estimate.h"
#include "simulation/npu/kernel_plan.h"
#include "simulation/npu/simulate.h"
#include "workload/graph.h"

#include <span>

namespace orrery {

/// What a kernel took, in the order of the plan.
struct KernelRun {
    const NpuRun* run = nullptr;
    std::int64_t cycles = 0;  ///< of one execution, launch included
};

/// Rows: the engines of each core. Of a block that repeats its first repetition is drawn, and room is left for the
/// others; beyond `limit` spans nothing is drawn. The last row says what is missing.
Timeline npuTimeline(const Graph& graph, const KernelPlan& plan, std::span<const KernelRun> runs,
                     const NpuMachine& machine, std::size_t limit = 20000);

}  // namespace orrery
