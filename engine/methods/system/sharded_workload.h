#pragma once

// What one device of a plan computes, as a workload of its own, and what its devices send each other in one pass.

#include "mapping/plan.h"
#include "methods/task.h"
#include "workload/kernel.h"
#include "workload/workload.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// A call among the devices of one dimension of a plan.
struct ShardedCall {
    CollectiveOp collective = CollectiveOp::AllReduce;
    enum class Group : std::uint8_t { Tensor, Context, Pipeline, Experts } group = Group::Tensor;
    double bytes = 0;     ///< as CollectiveCall counts them
    double count = 1;     ///< of one micro-batch forwards, all layers; the backward pass of a training step has as many
    std::int32_t op = 0;  ///< operator of the shard after which it stands
    bool backward = false;  ///< in the backward pass alone
    std::string_view what;  ///< `activations`, `logits`, `keys and values`, `tokens to experts`, `stage`
};

struct ShardedWorkload {
    WorkloadPtr shard;  ///< all layers, at the width and the batch of one device and one micro-batch
    std::int64_t microbatches = 1;
    std::vector<ShardedCall> calls;
    std::vector<std::string> assumptions;
};

/// Fails with `plan.not-a-transformer`, `plan.context`, `plan.batch` (fewer samples than copies and micro-batches) and
/// as shardOf() does.
Expected<ShardedWorkload> shardedWorkload(const WorkloadPtr& workload, const Plan& plan, const Task& task);

}  // namespace orrery
