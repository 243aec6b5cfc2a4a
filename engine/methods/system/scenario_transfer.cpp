#include "methods/system/scenario_transfer.h"

#include "base/unit.h"
#include "hardware/network/joining.h"
#include "hardware/network/topology.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

DrawnTransfer transferOf(const Hardware& drawing, const ComponentPath& a, const ComponentPath& b, double linkBandwidth,
                         int devices) {
    DrawnTransfer result;
    const auto count = static_cast<double>(std::max(1, devices));
    for (ComponentPath& path : joining(drawing.root, a, b, ComponentKind::Topology)) {
        const auto spec = topologySpec(drawing.root, path);
        if (!spec || spec->dimensions.empty()) continue;
        const TopologyDimension& outer = spec->dimensions.back();
        if (outer.bandwidth.value <= 0) continue;
        const bool planes = outer.shape == TopologyShape::NvSwitch;
        const double each = outer.bandwidth.value * (planes ? static_cast<double>(outer.planes) : 1);
        result.transfer.bytesPerSecond = each * count;
        result.transfer.latency = 2 * outer.latency.value;
        result.basis = fmt::format("Keys and values move over {} at {} per replica", toText(*spec),
                                   format(BytesPerSecond(each * count)));
        result.network = std::move(path);
        return result;
    }
    const bool linked = linkBandwidth > 0;
    if (linked) result.network = nearestJoining(drawing.root, a, b, ComponentKind::Switch);
    result.transfer.bytesPerSecond = (linked ? linkBandwidth : pcieBandwidth) * count;
    result.basis = fmt::format(
        "Keys and values move at {} per replica, {}", format(BytesPerSecond(result.transfer.bytesPerSecond)),
        linked ? "the rate of the devices' own links" : "PCIe 4.0 × 16 per device, as no network is drawn");
    return result;
}

}  // namespace orrery
