#pragma once

// The second filling of the network's slot: collectives as a kernel method prices them (tile-wave and tile-hybrid,
// whose parameters are fitted to measured NCCL and engine kernels). They know the links of one node; what leaves it,
// and what the method does not cover, is priced by the closed form.

#include "methods/kernel_method.h"
#include "simulation/network/closed_form.h"

namespace orrery {

class KernelNetwork final : public NetworkModel {
public:
    /// `pricer`: bound to the device whose network `tiers` is. `type`: of what is sent; `library`: whose kernels.
    KernelNetwork(KernelPricerPtr pricer, std::vector<NetworkTier> tiers, DType type = DType::BF16,
                  CollectiveLibrary library = CollectiveLibrary::Nccl);

    std::string_view id() const override { return "kernels"; }
    /// Never below the closed form's `low`. Its interval is the kernel method's own.
    Expected<CollectivePrice> price(const CollectiveCall& call, const std::stop_token& stop = {}) const override;

private:
    KernelPricerPtr pricer_;
    ClosedFormNetwork outside_;
    DType type_;
    CollectiveLibrary library_;
};

}  // namespace orrery
