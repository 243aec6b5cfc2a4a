#include "methods/system/network_slot.h"

#include "methods/answer/answer.h"
#include "methods/kernel_method.h"
#include "methods/system/kernel_network.h"
#include "simulation/cluster/followed_network.h"
#include "simulation/network/closed_form.h"

namespace orrery {

std::optional<LinkCarrying> followedNetwork(const Method& method, const EstimateContext& context) {
    if (!findKernelMethod(method.card.id)) return std::nullopt;
    const std::string_view chosen = optionOf(method.card, context, "network");
    if (chosen == "messages") return LinkCarrying::StoreAndForward;
    if (chosen == "fluid") return LinkCarrying::Fluid;
    if (chosen == "packets") return LinkCarrying::Packets;
    if (chosen == "ns3") return LinkCarrying::Ns3;
    return std::nullopt;
}

Expected<std::unique_ptr<NetworkModel>> networkFor(const Method& method, const DeviceGroup& group,
                                                   const Scenario& scenario, const EstimateContext& context) {
    if (const auto carrying = followedNetwork(method, context))
        return std::make_unique<FollowedNetwork>(group.tiers, *carrying);
    return pricedNetwork(method, group, scenario, context);
}

Expected<std::unique_ptr<NetworkModel>> pricedNetwork(const Method& method, const DeviceGroup& group,
                                                      const Scenario& scenario, const EstimateContext& context) {
    const KernelMethod* kernels = findKernelMethod(method.card.id);
    if (!kernels || optionOf(method.card, context, "network") != "kernels") {
        return std::make_unique<ClosedFormNetwork>(group.tiers);
    }
    const CalibrationSet& calibrations = context.calibrations ? *context.calibrations : shippedCalibrations().set;
    auto pricer = kernels->bind(DeviceRef{scenario.hardware, group.places.front()},
                                BindContext{calibrations, context.options, context.seed});
    if (!pricer) return Unexpected(std::move(pricer.error()));
    const DType activations = scenario.workload->recipe.options.activations;
    return std::make_unique<KernelNetwork>(std::move(*pricer), group.tiers,
                                           bits(activations) < 16 ? DType::BF16 : activations);
}

}  // namespace orrery
