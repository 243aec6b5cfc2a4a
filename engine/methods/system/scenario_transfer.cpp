#include "methods/system/scenario_transfer.h"

#include "base/unit.h"
#include "hardware/network/topology.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

/// The nearest switch above both ends: what the links of the devices lead to.
std::optional<ComponentPath> switchAbove(const Component& root, const ComponentPath& a, const ComponentPath& b) {
    ComponentPath at(a.begin(), std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first);
    for (;; at.pop_back()) {
        if (const Component* component = componentAt(root, at)) {
            const auto found = std::ranges::find(component->children, ComponentKind::Switch, &Component::kind);
            if (found != component->children.end()) {
                at.push_back(static_cast<int>(found - component->children.begin()));
                return at;
            }
        }
        if (at.empty()) return std::nullopt;
    }
}

}  // namespace

DrawnTransfer transferOf(const Hardware& drawing, const ComponentPath& a, const ComponentPath& b, double linkBandwidth,
                         int devices) {
    DrawnTransfer result;
    const auto count = static_cast<double>(std::max(1, devices));
    // The outermost network of the drawing that stands above both ends.
    const std::size_t shared =
        static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    ComponentPath at;
    for (std::size_t depth = 0; depth <= shared; ++depth) {
        if (depth > 0) at.push_back(a[depth - 1]);
        const Component* component = componentAt(drawing.root, at);
        if (!component) break;
        for (std::size_t i = 0; i < component->children.size(); ++i) {
            if (component->children[i].kind != ComponentKind::Topology) continue;
            ComponentPath path = at;
            path.push_back(static_cast<int>(i));
            auto spec = topologySpec(drawing.root, path);
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
    }
    const bool linked = linkBandwidth > 0;
    if (linked) result.network = switchAbove(drawing.root, a, b);
    result.transfer.bytesPerSecond = (linked ? linkBandwidth : pcieBandwidth) * count;
    result.basis = fmt::format(
        "Keys and values move at {} per replica, {}", format(BytesPerSecond(result.transfer.bytesPerSecond)),
        linked ? "the rate of the devices' own links" : "PCIe 4.0 × 16 per device, as no network is drawn");
    return result;
}

}  // namespace orrery
