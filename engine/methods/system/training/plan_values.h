#pragma once

// Which numbers a plan of a training step may take for a model on the devices that are drawn: what a person is offered,
// and why the rest is not. No pricing: only what must divide, what must fill, how many devices there are.

#include "mapping/plan.h"
#include "workload/models/transformer.h"
#include "workload/workload.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// The numbers of a plan that count something.
enum class PlanNumber : std::uint8_t { Tensor, Pipeline, Data, Context, Expert, Interleave, Microbatches };
inline constexpr int planNumberCount = 7;
std::string_view keyOf(PlanNumber number);  ///< `tp`, as in toText(Plan)
std::int64_t valueOf(const Plan& plan, PlanNumber number);
/// Layers that are stated stage by stage go where stages or chunks change.
void setValue(Plan& plan, PlanNumber number, std::int64_t value);

/// What a plan must fit into.
struct PlanRoom {
    std::optional<TransformerConfig> model;  ///< none: no language model, which is only copied
    std::string name;                        ///< of the model
    std::int64_t batch = 1;                  ///< samples of a step, by all copies together
    std::int64_t sequence = 1;
    std::int64_t devices = 1;  ///< drawn
};
/// `devices` as clusterView() counts them in the group that the plan names.
PlanRoom planRoom(const WorkloadRecipe& recipe, std::int64_t devices);

/// Micro-batches of the plan: its own number, else as many as stages, at most a sample each (as shardedWorkload()).
std::int64_t microbatchesOf(const Plan& plan, const PlanRoom& room);

/// Fails with what checkPlan(), shardOf() and scheduleOf() say, and with `plan.not-a-transformer`, `plan.batch`,
/// `plan.context`, `plan.pipeline`, `plan.interleave`.
Expected<void> fits(const Plan& plan, const PlanRoom& room);

/// The plan with as many copies as `devices` and the batch allow, and so many micro-batches at most that every copy
/// still has a sample for each. Its other numbers stay.
Plan filled(Plan plan, const PlanRoom& room, std::int64_t devices);

struct PlanValue {
    std::int64_t value = 1;
    Plan plan;                          ///< with this value
    std::optional<Diagnostic> refused;  ///< why it cannot be
};
/// Powers of two up to the first that is too many, and what divides heads, layers, experts or batch, rising, each once.
/// Micro-batches follow the copies. `fill`: copies follow, so that as many devices work as before. At most 24, the
/// present value among them.
std::vector<PlanValue> planValues(const Plan& plan, PlanNumber number, const PlanRoom& room, bool fill);

}  // namespace orrery
