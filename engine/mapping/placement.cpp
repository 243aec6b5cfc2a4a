#include "mapping/placement.h"

#include "mapping/plan_kinds.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

int Communicator::outermost() const {
    for (std::size_t i = ranks.size(); i-- > 0;)
        if (ranks[i] > 1) return static_cast<int>(i);
    return -1;
}

namespace {

// Of any group with this size and stride, wherever it begins: no more endpoints than these lie beside each other.
std::vector<std::int64_t> widestSpread(const std::vector<NetworkTier>& tiers, std::int64_t size, std::int64_t stride) {
    std::vector<std::int64_t> ranks;
    std::int64_t inner = 1;
    for (const NetworkTier& tier : tiers) {
        const std::int64_t members = std::min(size, (inner * tier.size + stride - 1) / stride);
        const std::int64_t touched = stride >= inner ? members : (members - 1) * stride / inner + 2;
        ranks.push_back(std::min(tier.size, touched));
        inner *= tier.size;
    }
    return ranks;
}

}  // namespace

Communicator communicator(const std::vector<NetworkTier>& tiers, std::int64_t size, std::int64_t stride) {
    Communicator out{size, stride, std::vector<std::int64_t>(tiers.size(), 1), false};
    // What is left of the group outside, and how far its members then stand apart in endpoints of the next tier.
    std::int64_t left = size, apart = stride;
    for (std::size_t t = 0; t < tiers.size() && left > 1; ++t) {
        const std::int64_t across = tiers[t].size;
        if (apart % across == 0) {  // every member stands in another endpoint of the next tier
            apart /= across;
            continue;
        }
        const std::int64_t inside = across / apart;
        const bool even = across % apart == 0 && (inside >= left ? inside % left == 0 : left % inside == 0);
        if (!even) {
            out.uneven = true;
            out.ranks = widestSpread(tiers, size, stride);
            return out;
        }
        out.ranks[t] = std::min(inside, left);
        left /= out.ranks[t];
        apart = 1;
    }
    return out;
}

Expected<const DeviceGroup*> groupFor(const ClusterView& view, const Plan& plan) {
    if (plan.placement.empty()) return &view.groups.front();
    const auto kinds = planKinds(view, plan);
    if (!kinds) return Unexpected(kinds.error());
    if (!kinds->several()) return &view.groups[kinds->kinds.front()];
    return fail("plan.several-kinds",
                fmt::format("the plan stands on `{}` and `{}`: several kinds of device",
                            view.groups[kinds->kinds[0]].name, view.groups[kinds->kinds[1]].name),
                "one kind: what is asked here is known of one kind of device alone",
                "name one in `at`, or ask for a training step by a method that composes kernels",
                Place{.path = "plan/placement"});
}

Expected<Placement> placementOf(const DeviceGroup& devices, const Plan& plan) {
    if (auto good = checkPlan(plan, devices.count); !good) return Unexpected(std::move(good.error()));
    Placement out;
    out.devices = plan.devices();
    out.drawn = devices.count;
    std::int64_t stride = 1;
    const struct {
        std::string_view name;
        Communicator Placement::*place;
        std::int64_t size;
    } dimensions[] = {{"tensor", &Placement::tensor, plan.tensor},
                      {"context", &Placement::context, plan.context},
                      {"data", &Placement::data, plan.data},
                      {"pipeline", &Placement::pipeline, plan.pipeline}};
    const auto warnUneven = [&](std::string_view name, const Communicator& group) {
        if (!group.uneven) return;
        out.warnings.push_back(warning(
            "plan.uneven",
            fmt::format(
                "groups of {} {}-parallel devices do not fit the network evenly: priced as the one spread widest",
                group.size, name),
            "choose sizes that divide the devices of a node", Place{.path = fmt::format("plan/{}", name)}));
    };
    for (const auto& dimension : dimensions) {
        out.*dimension.place = communicator(devices.tiers, dimension.size, stride);
        warnUneven(dimension.name, out.*dimension.place);
        stride *= dimension.size;
    }
    const std::int64_t sharing = plan.sharingCopies(), set = plan.tensor * plan.context * sharing;
    out.gradients = communicator(devices.tiers, plan.context * sharing, plan.tensor);
    out.replicas = communicator(devices.tiers, plan.replicas(), set);
    if (plan.pipeline > 1)
        out.ends = communicator(devices.tiers, 2, (plan.pipeline - 1) * plan.tensor * plan.context * plan.data);
    out.expert = communicator(devices.tiers, plan.expert, 1);
    if (plan.expert > plan.tensor) out.expertGradients = communicator(devices.tiers, set / plan.expert, plan.expert);
    if (plan.schedule == PipelineSchedule::DualPipe) {
        // Both stages of a pair hold the same: they stand as far apart as stages can.
        const int apart = out.pipeline.outermost();
        for (Communicator* group : {&out.gradients, &out.expertGradients}) {
            if (apart < 0) continue;
            group->size *= 2;
            group->ranks.resize(devices.tiers.size(), 1);
            group->ranks[static_cast<std::size_t>(apart)] *= 2;
        }
    }
    warnUneven("expert", out.expert);
    if (out.devices < out.drawn) {
        out.warnings.push_back(warning(
            "plan.idle-devices",
            fmt::format("the plan {} works on {} of {} drawn devices", toText(plan), out.devices, out.drawn),
            fmt::format("raise `dp` to {} to use them", out.drawn / plan.devicesPerReplica()), Place{.path = "plan"}));
    }
    return out;
}

Expected<Placement> placementOf(const ClusterView& view, const Plan& plan) {
    auto group = groupFor(view, plan);
    if (!group) return Unexpected(std::move(group.error()));
    return placementOf(**group, plan);
}

}  // namespace orrery
