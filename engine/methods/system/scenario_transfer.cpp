#include "methods/system/scenario_transfer.h"

#include "base/unit.h"
#include "hardware/network/joining.h"
#include "hardware/network/topology.h"
#include "hardware/views/cluster_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

// The outermost tier with a bandwidth among the devices alike that both places are of.
std::optional<NetworkTier> tierAmong(const Hardware& drawing, const ComponentPath& a, const ComponentPath& b) {
    const auto cluster = clusterView(drawing);
    const DeviceGroup* group = cluster ? cluster->groupAt(a) : nullptr;
    if (!group || group != cluster->groupAt(b)) return std::nullopt;
    for (auto tier = group->tiers.rbegin(); tier != group->tiers.rend(); ++tier) {
        if (tier->drawn()) return *tier;
    }
    return std::nullopt;
}

}  // namespace

Expected<DrawnTransfer> transferOf(const Hardware& drawing, const ComponentPath& a, const ComponentPath& b,
                                   double linkBandwidth, int devices) {
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
    const auto tier = tierAmong(drawing, a, b);
    const double each = tier ? tier->perDevice().value : linkBandwidth;
    if (each <= 0) {
        return fail("serving.transfer-not-drawn",
                    "keys and values have no way from where prompts run to where tokens are made: no network joins the "
                    "devices, and they state no links",
                    "a network or links in the drawing, or `transfer` with a `bandwidth`",
                    "draw what joins them, or state it: a device on PCIe 4.0 x16 sends some 25 GB/s",
                    Place{.path = "transfer"});
    }
    result.network = nearestJoining(drawing.root, a, b, ComponentKind::Switch);
    result.transfer.bytesPerSecond = each * count;
    if (tier) result.transfer.latency = tier->latency.value;
    result.basis = fmt::format("Keys and values move at {} per replica, {}",
                               format(BytesPerSecond(result.transfer.bytesPerSecond)),
                               tier ? fmt::format("the rate of {}", tier->name) : "the rate of the devices' own links");
    return result;
}

}  // namespace orrery
