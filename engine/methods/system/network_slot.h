#pragma once

// The slot `network` of a kernel method: `closed-form` over the drawn links, or `kernels`, the method's own
// collectives.

#include "hardware/views/cluster_view.h"
#include "methods/method.h"
#include "simulation/network/network_model.h"

#include <memory>

namespace orrery {

/// Fails as the kernel method's bind() does.
Expected<std::unique_ptr<NetworkModel>> networkFor(const Method& method, const DeviceGroup& group,
                                                   const Scenario& scenario, const EstimateContext& context);

}  // namespace orrery
