#pragma once

// The slot `network` of a kernel method: `closed-form` over the drawn links; `kernels`, the method's own collectives;
// `messages`, `fluid`, `packets` and `ns3`, which follow what is sent over the drawn links.

#include "hardware/views/cluster_view.h"
#include "methods/method.h"
#include "simulation/network/message_fabric.h"
#include "simulation/network/network_model.h"

#include <memory>
#include <optional>

namespace orrery {

/// Fails as the kernel method's bind() does.
Expected<std::unique_ptr<NetworkModel>> networkFor(const Method& method, const DeviceGroup& group,
                                                   const Scenario& scenario, const EstimateContext& context);

/// The same without following messages: prices for runs that follow them themselves.
Expected<std::unique_ptr<NetworkModel>> pricedNetwork(const Method& method, const DeviceGroup& group,
                                                      const Scenario& scenario, const EstimateContext& context);
/// How links carry what is followed; nothing where the slot names prices.
std::optional<LinkCarrying> followedNetwork(const Method& method, const EstimateContext& context);

}  // namespace orrery
