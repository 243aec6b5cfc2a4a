#include "hardware/views/memory_nodes.h"

#include "hardware/views/device_build.h"
#include "hardware/views/device_parts.h"
#include "hardware/views/device_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

using detail::DeviceParts;
using detail::Part;

namespace {

bool holdsCores(const DeviceParts& parts, const Part& part) {
    return std::ranges::any_of(parts.inside(), [&](const Part& other) {
        return other.component->kind == ComponentKind::Core && parts.contains(part, other);
    });
}

// Whether the wire stands beside the parts, or in a network beside them.
bool standsBeside(const ComponentPath& wire, const ComponentPath& part) {
    return !part.empty() && wire.size() >= part.size() && std::equal(part.begin(), part.end() - 1, wire.begin());
}

}  // namespace

Expected<MemoryNodes> memoryNodes(DeviceParts& parts, const DeviceView& view) {
    MemoryNodes found;
    found.name = view.name;
    found.bandwidth = view.main().bandwidth;
    found.latency = view.main().latency;
    const Part* node = nullptr;
    for (const Part& memory : parts.inside()) {
        if (memory.component->kind != ComponentKind::Dram) continue;
        const Part* holder = parts.parentOf(memory);
        // Memory beside all cores is one node's, whatever else there is.
        if (!holder || holder == &parts.device() || !parts.contains(parts.device(), *holder)) return found;
        if (!holdsCores(parts, *holder)) return found;
        if (node && node != holder) {
            found.unlike = fmt::format("`{}` and `{}` have memory and cores of their own, and differ",
                                       nameOf(*node->component), nameOf(*holder->component));
            return found;
        }
        node = holder;
    }
    if (!node || node->instances < 2) return found;
    found.nodes = node->instances;
    found.name = nameOf(*node->component);
    parts.count(*node);
    double bandwidth = 0, latency = 0;
    for (const Part& memory : parts.inside()) {
        if (memory.component->kind != ComponentKind::Dram) continue;
        if (const Measure* each = parts.measure(memory, "bandwidth")) {
            const auto rate = parts.perSecond(memory, "bandwidth", *each);
            if (!rate) return Unexpected(rate.error());
            bandwidth += *rate * static_cast<double>(memory.instances) / static_cast<double>(node->instances);
        }
        if (const Measure* each = parts.measure(memory, "latency")) {
            const auto time = parts.duration(memory, "latency", *each);
            if (!time) return Unexpected(time.error());
            latency = std::max(latency, time->value);
        }
    }
    found.bandwidth = BytesPerSecond(bandwidth);
    found.latency = Seconds(latency);
    if (!view.interconnect || !standsBeside(view.interconnect->place, node->members.front().place)) return found;
    // Pages in turn: of all bytes n·n equal shares, of which each way carries one.
    const auto n = static_cast<double>(found.nodes);
    found.link = view.interconnect->name;
    found.linkBandwidth = BytesPerSecond(view.interconnect->bandwidth.value / (n * n));
    if (view.interconnect->crossing > 0)
        found.linkLatency = Seconds(view.interconnect->latency.value / (2 * view.interconnect->crossing));
    return found;
}

Expected<MemoryNodes> memoryNodes(const DeviceRef& device) {
    auto parts = DeviceParts::of(device);
    if (!parts) return Unexpected(std::move(parts.error()));
    auto view = detail::viewOf(*parts, device);
    if (!view) return Unexpected(std::move(view.error()));
    return memoryNodes(*parts, *view);
}

}  // namespace orrery
