#pragma once

// The smallest plan whose devices hold a model: what is offered where one device does not.

#include "hardware/views/cluster_view.h"
#include "mapping/plan.h"

#include <cstdint>
#include <string>

namespace orrery {

/// What a model asks of memory, and what divides it.
struct PlanNeeds {
    std::string name;          ///< of the model, for the sentence
    double bytes = 0;          ///< weights, caches, activations, states of the optimiser: what a plan spreads
    double fixedBytes = 0;     ///< on every device whatever the plan: runtime, buffers of collectives
    std::int64_t layers = 1;   ///< at most so many stages
    std::int64_t heads = 0;    ///< tensor parallelism divides them; 0: the model has none and is split in stages only
    std::int64_t kvHeads = 0;  ///< divided, or held by several devices each; 0: as many as heads
    std::int64_t width = 0;    ///< of the feed-forward part, divided too; 0: divides always
};

struct ProposedPlan {
    Plan plan;
    double bytesPerDevice = 0;
    std::string why;  ///< one sentence with the numbers
};

/// One device where it fits; else the least tensor parallelism inside the innermost tier of the network (a divisor of
/// its size and of the heads), else all of that and the fewest stages. `memoryShare`: of a device's memory, as much as
/// a plan may fill. Fails with `plan.no-memory` where the devices state no capacity, `plan.does-not-fit` where all
/// drawn devices together hold too little, naming both numbers.
Expected<ProposedPlan> proposePlan(const PlanNeeds& needs, const DeviceGroup& devices, double memoryShare = 0.9);
/// On the first kind of device that holds it.
Expected<ProposedPlan> proposePlan(const PlanNeeds& needs, const ClusterView& view, double memoryShare = 0.9);

}  // namespace orrery
