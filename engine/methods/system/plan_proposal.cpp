#include "methods/system/plan_proposal.h"

#include "hardware/views/cluster_view.h"
#include "mapping/placement.h"
#include "mapping/propose_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

// Nodes of eight are what is sold; a plan inside one is what is proposed where no more is drawn.
constexpr std::int64_t common_node = 8;

std::string hintFor(const PlanNeeds& needs, const ClusterView& view, const DeviceGroup& group) {
    if (group.count > 1) {
        const auto fits = proposePlan(needs, group);
        return fits ? fmt::format("Spread it with the plan {}: {}", toText(fits->plan), fits->why) : std::string();
    }
    Diagnostics unsaid;
    const auto node = asOneNode(view, group, common_node, unsaid);
    const auto fits = node ? proposePlan(needs, *node) : Expected<ProposedPlan>(tl::unexpect, node.error());
    if (!fits) return {};
    return fmt::format("Draw {} × `{}` in a node (`count`), and spread it with the plan {}: {}", fits->plan.devices(),
                       group.name, toText(fits->plan), fits->why);
}

}  // namespace

void proposePlanInHint(Estimate& answer, const Scenario& scenario) {
    if (scenario.plan.split() || !answer.memory || !scenario.workload || !scenario.hardware) return;
    const auto& facts = scenario.workload->transformer;
    if (!facts) return;
    const auto warned = std::find_if(answer.warnings.begin(), answer.warnings.end(),
                                     [](const Diagnostic& each) { return each.code == "memory.does-not-fit"; });
    if (warned == answer.warnings.end()) return;
    const auto cluster = clusterView(*scenario.hardware);
    if (!cluster) return;
    const auto group = groupFor(*cluster, scenario.plan);
    if (!group) return;
    const PlanNeeds needs{.name = scenario.workload->name,
                          .bytes = answer.memory->total().value,
                          .layers = facts->layers,
                          .heads = facts->heads,
                          .kvHeads = facts->kvHeads,
                          .width = facts->intermediate};
    if (std::string hint = hintFor(needs, *cluster, **group); !hint.empty()) warned->hint = std::move(hint);
}

}  // namespace orrery
