#include "methods/array/array_kernel.h"

#include <algorithm>

namespace orrery {

Expected<ArrayDevice> arrayDevice(const DeviceRef& place) {
    auto view = spatialArrayView(place);
    if (!view) {
        // A device without an array is no mistake: array methods are just not for it.
        if (view.error().code == "hardware.no-array") view.error().code = "method.not-applicable";
        return Unexpected(std::move(view.error()));
    }
    auto device = deviceView(place);
    if (!device) return Unexpected(std::move(device.error()));
    ArrayDevice made{std::move(*view), std::move(*device), {}, {}, 0};
    made.rates = ratesOf(made.device);
    made.array = nestHardware(made.view);
    const NestLevel& memory = made.array.hardware.levels.back();
    if (made.array.energies) {
        made.joulesPerByte = memory.energy.vectorRead * 8 / static_cast<double>(memory.wordBits * memory.blockSize);
    }
    return made;
}

KernelOperator operatorOf(const Kernel& kernel) {
    KernelOperator made;
    addOperator(made.graph, kernel);
    made.costs = costTable(made.graph);
    return made;
}

KernelPrice arrayRoofline(const ArrayDevice& device, const Kernel& kernel, double macs) {
    const double bandwidth = device.device.main().bandwidth.value;
    const double compute = device.rates.seconds(kernel.type, macs, kernel.flops);
    const double memory = bandwidth > 0 ? kernel.bytes() / bandwidth : 0;
    KernelPrice price;
    price.seconds = price.low = price.high = std::max(compute, memory);
    price.bound =
        compute >= memory ? Bound{compute > 0 ? BoundKind::Compute : BoundKind::None, -1} : Bound{BoundKind::Memory, 0};
    price.levelBytes[0] = static_cast<float>(kernel.bytes());
    price.busy = 0;
    if (device.array.energies) price.joules = (kernel.bytes() + kernel.epilogue.bytes) * device.joulesPerByte;
    return price;
}

KernelPrice notPriced(const ArrayDevice& device, const Kernel& kernel) {
    KernelPrice price = arrayRoofline(device, kernel, 0);
    price.priced = false;
    price.domain = DomainVerdict::Outside;
    return price;
}

}  // namespace orrery
