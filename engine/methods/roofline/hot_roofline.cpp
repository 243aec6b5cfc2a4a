#include "methods/roofline/hot_roofline.h"

#include "methods/model/kernel_bound.h"

namespace orrery {

namespace {

class HotPricer final : public KernelPricer {
public:
    explicit HotPricer(DeviceView device) : device_(std::move(device)) {}
    using KernelPricer::price;
    KernelPrice price(const Kernel& kernel) const override {
        const double seconds = leastSeconds(device_, kernel);
        return {.seconds = seconds, .low = seconds, .high = 3 * seconds, .bound = {BoundKind::Memory, 0}};
    }

private:
    DeviceView device_;
};

Expected<KernelPricerPtr> bindHot(const DeviceRef& place, const BindContext&) {
    auto device = deviceView(place);
    if (!device) return Unexpected(std::move(device.error()));
    return std::make_shared<const HotPricer>(std::move(*device));
}

}  // namespace

KernelMethod hotRooflineKernels() {
    return {.id = "hot-roofline", .version = "1", .binder = bindHot};
}

}  // namespace orrery
