#pragma once

// The kernels of a graph and which of them are the same, made once for all methods that answer one question: an edit of
// the hardware asks again about a workload that has not changed.

#include "methods/model/launches.h"
#include "methods/reuse_distance.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace orrery {

struct KernelList {
    LaunchList list;
    /// Per launch the first one of the same kernel, itself if it is that one; and how many different ones there are.
    struct Distinct {
        std::vector<std::int32_t> first;
        std::size_t count = 0;
    };
    Distinct alone;  ///< epilogues left aside: for pricers that do not price them
    Distinct withEpilogues;
    std::vector<ReuseDistances> reuse;  ///< per launch, one pass after another; of training nothing is known
};
using KernelListPtr = std::shared_ptr<const KernelList>;

/// `rewritten`: attention that a model writes out, scores and all, runs as one kernel that keeps them on the chip, and
/// the experts of a layer run as one, as on GPUs. The last few lists are kept (by the workload's address, while it
/// lives). Thread-safe.
KernelListPtr kernelListOf(const WorkloadPtr& workload, const ModelOptions& options, bool rewritten = true);

}  // namespace orrery
