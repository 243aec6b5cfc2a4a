#include "methods/system/kernel_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

KernelNetwork::KernelNetwork(KernelPricerPtr pricer, std::vector<NetworkTier> tiers, DType type,
                             CollectiveLibrary library)
    : pricer_(std::move(pricer)), outside_(std::move(tiers)), type_(type), library_(library) {}

Expected<CollectivePrice> KernelNetwork::price(const CollectiveCall& call, const std::stop_token& stop) const {
    auto price = outside_.price(call, stop);
    if (!price || price->loads.empty()) return price;
    const bool inside = price->loads.size() == 1 && price->loads.front().tier == 0 &&
                        !outside_.tiers().front().betweenNodes && !call.group.uneven;
    if (!inside) {
        price->assumptions.emplace_back("Exchanges between nodes use the closed form: no kernel was measured there.");
        return price;
    }
    Kernel kernel;
    kernel.kind = KernelKind::Collective;
    kernel.collective = call.op;
    kernel.library = library_;
    kernel.type = type_;
    kernel.ranks = call.group.size;
    kernel.messageBytes = call.bytes;
    countWork(kernel);
    const KernelPrice priced = pricer_->price(kernel);
    if (!priced.priced || !std::isfinite(priced.seconds) || priced.seconds <= 0) {
        price->assumptions.emplace_back(
            fmt::format("The kernel method does not cover a {}: the closed form is used.", toText(call.op)));
        return price;
    }
    price->low = std::max(price->low, std::min(priced.low, priced.seconds));
    price->seconds = std::max(price->low, priced.seconds);
    price->high = std::max(price->seconds, priced.high);
    price->loads.front().seconds = price->seconds;
    price->boundBy = priced.bound.kind == BoundKind::Network ? 0 : -1;
    price->algorithm = "kernel";
    return price;
}

}  // namespace orrery
