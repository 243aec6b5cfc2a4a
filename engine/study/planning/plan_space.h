#pragma once

// The plans that a search chooses among, as a tree: a shard (what one device computes), then stages and copies, then
// what changes neither.

#include "study/planning/plan_search.h"

#include <utility>
#include <vector>

namespace orrery {

/// Lists of a space as they hold for a model and a kind of device: never empty.
struct PlanChoices {
    std::size_t group = 0;  ///< of the cluster
    std::size_t other = 0;  ///< another kind on which stages and copies stand too; `group`: none
    std::int64_t batch = 1, layers = 1, leastDevices = 1, mostDevices = 1;
    std::vector<std::int64_t> tensor, context, expert, samples, pipeline, data, interleave, zero, shard, sequence;
    std::int64_t node = 1;  ///< devices of the innermost tier
    std::vector<Recompute> recompute;
    std::vector<PipelineSchedule> schedule;
    std::int64_t devicesOf[2] = {1, 1};  ///< drawn, of `group` and of `other`
    std::string namesOf[2];              ///< as a plan names them
    bool mixed() const { return other != group; }
    bool unevenChunks = false;  ///< interleaving that does not divide the layers was asked for
};

/// One shard: the first branching.
struct ShardChoice {
    std::size_t choices = 0;  ///< index into the list of PlanChoices
    std::int64_t tensor = 1, context = 1, expert = 1, samples = 1;
};
/// Stages and copies of it: the second.
struct NodeChoice {
    std::int64_t pipeline = 1, data = 1, microbatches = 1;
    std::string placement;  ///< on two kinds of device; empty: on one
};

/// Fails with `plan.space` where a list has nothing that is possible, and `plan.no-such-device`.
Expected<std::vector<PlanChoices>> planChoices(const StepModel& model, const PlanSpace& space);
std::vector<ShardChoice> shardsOf(const std::vector<PlanChoices>& choices);
std::vector<NodeChoice> nodesOf(const PlanChoices& choices, const ShardChoice& shard);
/// How layers may be dealt to the stages of a node; an empty one: evenly.
using LayerDeals = std::vector<std::vector<std::int64_t>>;
LayerDeals layerDealsOf(const StepModel& model, const PlanChoices& choices, const Plan& node,
                        const std::stop_token& stop);
/// Calls use(plan) for every plan of a node.
template <class Use>
void eachPlan(const PlanChoices& choices, const Plan& node, const LayerDeals& deals, const Use& use);
std::uint64_t plansOf(const PlanChoices& choices, const Plan& node, const LayerDeals& deals);

/// The plan of a node, without what changes neither shard nor stages.
Plan planOf(const StepModel& model, const PlanChoices& choices, const ShardChoice& shard, const NodeChoice& node);

/// The schedules and chunks a stage of a node.
std::vector<std::pair<PipelineSchedule, std::int64_t>> ordersOf(const PlanChoices& choices, const Plan& node);

/// Sets of copies that may share by `zero`, 0: all copies.
std::vector<std::int64_t> setsOf(const PlanChoices& choices, const Plan& node);

template <class Use>
void eachPlan(const PlanChoices& choices, const Plan& node, const LayerDeals& deals, const Use& use) {
    static const std::vector<std::int64_t> no{0};
    const auto orders = ordersOf(choices, node);
    const auto sets = setsOf(choices, node);
    StepPlan made{node, Recompute::None};
    for (const std::vector<std::int64_t>& layers : deals) {
        made.plan.layers = layers;
        for (const Recompute recompute : choices.recompute) {
            made.recompute = recompute;
            for (const std::int64_t sequence : node.tensor > 1 ? choices.sequence : no) {
                made.plan.sequence = sequence;
                for (const auto& [schedule, interleave] : orders) {
                    made.plan.schedule = schedule;
                    made.plan.interleave = interleave;
                    for (const std::int64_t zero : node.data* node.context > 1 ? choices.zero : no) {
                        made.plan.zero = zero;
                        for (const std::int64_t shard : zero > 0 ? sets : no) {
                            made.plan.shard = shard;
                            use(made);
                        }
                    }
                }
            }
        }
    }
}

}  // namespace orrery
