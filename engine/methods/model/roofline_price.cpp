#include "methods/model/compose.h"

#include <algorithm>

namespace orrery {

KernelPrice rooflinePrice(const DeviceView& device, const Kernel& kernel) {
    const bool matrix = kernel.kind == KernelKind::Gemm || kernel.kind == KernelKind::Experts ||
                        kernel.kind == KernelKind::PrefillAttention || kernel.kind == KernelKind::DecodeAttention ||
                        kernel.kind == KernelKind::Convolution;
    const double peak = std::max(device.peak(matrix, kernel.type).value, 0.0);
    const double compute = peak > 0 ? kernel.flops / peak : 0;
    const double bandwidth = device.main().bandwidth.value;
    const double memory = bandwidth > 0 ? kernel.bytes() / bandwidth : 0;
    KernelPrice price;
    price.seconds = price.low = price.high = std::max(compute, memory);
    price.bound =
        compute >= memory ? Bound{compute > 0 ? BoundKind::Compute : BoundKind::None, -1} : Bound{BoundKind::Memory, 0};
    price.priced = false;
    price.domain = DomainVerdict::Outside;
    return price;
}

}  // namespace orrery
