#pragma once

// The columns of a graph as its kernels have them: what methods read that price columns and not kernels, so that a
// roofline and a method over kernels speak of the same fused kernels.

#include "methods/model/kernel_bound.h"
#include "methods/model/launches.h"
#include "workload/workload.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// One row per operator of the graph. Of a fused group the work of all and the bytes that its kernel moves stand at the
/// leader, and zeros at the others; an operator that is several kernels (unfused attention) moves what all of them
/// move, what is more than its operands as scratch. Operators that are one kernel keep their row.
CostTable fusedCosts(const Workload& workload, const LaunchList& list);

/// A graph's kernels as columns, with what bounds each of them.
struct Lowering {
    struct Part {
        std::int32_t op = 0;  ///< at which it counts
        double times = 1;     ///< launches × scale
        BoundingWork work;
    };
    std::vector<Part> parts;           ///< one per launch
    std::vector<std::int32_t> leader;  ///< per operator, as LaunchList has it; empty: every operator by itself
    CostTable costs;                   ///< fused; empty where `leader` is: the workload's own hold
    std::vector<std::string> assumptions;
};
using LoweringPtr = std::shared_ptr<const Lowering>;

/// Of a forward pass. The last few are kept (by the workload's address, while it lives), so that methods which answer
/// one question share them. Thread-safe.
LoweringPtr loweringOf(const WorkloadPtr& workload, Fusion fusion);
/// Seconds that the kernels take at least, all repeats, per operator.
std::vector<double> leastPerOperator(const Lowering& lowering, const DeviceView& device, std::size_t operators);

}  // namespace orrery
