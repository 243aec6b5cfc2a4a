#include "hardware/views/memory_nodes.h"

#include "hardware/views/device_build.h"
#include "hardware/views/device_parts.h"
#include "hardware/views/device_view.h"
#include "hardware/views/interconnect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

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

// What the links between two nodes give together, one way.
struct Joint {
    double rate = 0, latency = 0;
};

// But for how numbers are rounded when they are read.
bool sameBut(const Joint& a, const Joint& b, double share) {
    return std::abs(a.rate - b.rate) <= share * b.rate && std::abs(a.latency - b.latency) <= share * b.latency;
}

// By the two nodes, the lower first. Nodes that are drawn once with a count have no names that a link could tell apart.
std::map<std::pair<std::size_t, std::size_t>, Joint> jointsOf(DeviceParts& parts, const Part& node) {
    std::map<std::pair<std::size_t, std::size_t>, Joint> joints;
    const auto nodeNamed = [&](const Component& link, const char* end) {
        const Attribute* given = link.find(end);
        const auto* name = given ? std::get_if<std::string>(&given->value) : nullptr;
        return name ? static_cast<std::size_t>(std::ranges::find_if(node.members,
                                                                    [&](const Part::Member& each) {
                                                                        return nameOf(*each.component) == *name;
                                                                    }) -
                                               node.members.begin())
                    : node.members.size();
    };
    for (const Part& part : parts.inside()) {
        if (part.component->kind != ComponentKind::Link) continue;
        const Measure* bandwidth = parts.measure(part, "bandwidth");
        const Measure* latency = parts.measure(part, "latency");
        const auto rate = bandwidth ? parts.perSecond(part, "bandwidth", *bandwidth) : Expected<double>(0);
        const auto time = latency ? parts.duration(part, "latency", *latency) : Expected<Seconds>(Seconds(0));
        if (!rate || !time) continue;
        for (const Part::Member& link : part.members) {
            const std::size_t from = nodeNamed(*link.component, "from"), to = nodeNamed(*link.component, "to");
            if (from == to || std::max(from, to) == node.members.size()) continue;
            Joint& joint = joints[std::minmax(from, to)];
            joint.rate += *rate * static_cast<double>(link.component->instances());
            joint.latency = std::max(joint.latency, time->value);
        }
    }
    return joints;
}

}  // namespace

Expected<MemoryNodes> memoryNodes(DeviceParts& parts, const DeviceView& view) {
    MemoryNodes found;
    found.name = view.name;
    found.bandwidth = view.main().bandwidth;
    found.latency = view.main().latency;
    found.memory = detail::ownName(view);
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
    const auto joints = jointsOf(parts, *node);
    const std::size_t pairs = static_cast<std::size_t>(node->instances * (node->instances - 1) / 2);
    const bool alike = std::ranges::all_of(
        joints, [&](const auto& each) { return sameBut(each.second, joints.begin()->second, 1e-6); });
    // Of a ring or a mesh one rate and one latency do not tell what each way gives.
    if (node->instances > 2 && view.interconnect && (joints.size() != pairs || !alike)) {
        found.unlike = fmt::format(
            "the {} parts like `{}` have memory of their own and are not joined by alike links, "
            "one between each two of them",
            node->instances, nameOf(*node->component));
        return found;
    }
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
    const std::string begins = detail::pagesInTurn(*view.interconnect, found.memory);
    for (const std::string& each : view.assumptions) {
        if (each.starts_with(begins)) found.inTurn = each;
    }
    // Pages in turn: of all bytes n·n equal shares, of which each way carries one.
    const auto n = static_cast<double>(found.nodes);
    found.link = view.interconnect->name;
    found.linkBandwidth = BytesPerSecond(view.interconnect->bandwidth.value / (n * n));
    // Of the view, the latency is that of all networks inside, those of each node among them.
    if (!joints.empty())
        found.linkLatency = Seconds(joints.begin()->second.latency);
    else if (view.interconnect->crossing > 0)
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
