#include "hardware/views/host_view.h"

#include "hardware/network/links.h"
#include "hardware/views/cluster_tier.h"
#include "hardware/views/device_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace orrery {

namespace {

using detail::standsIn;

/// Copies of what stands at `path`, in one of what contains it at `outer`.
double copiesWithin(const Component& root, const ComponentPath& outer, const ComponentPath& path) {
    double copies = 1;
    for (std::size_t depth = outer.size(); depth < path.size(); ++depth) {
        const ComponentPath parent(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth)),
            child(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth) + 1);
        copies *= static_cast<double>(instancesIn(*componentAt(root, parent), *componentAt(root, child)));
    }
    return copies;
}

struct HostMemory {
    double capacity = 0, bandwidth = 0;
    std::vector<ComponentPath> parts;
};

void addMemories(const Component& root, const ComponentPath& at, double copies, HostMemory& memory) {
    const Component& component = *componentAt(root, at);
    if (component.kind == ComponentKind::Dram) {
        const Measure* capacity = detail::measureOf(component, "capacity");
        memory.capacity += copies * (capacity ? capacity->si : 0);
        memory.bandwidth += copies * detail::linkRate(root, at);
        memory.parts.push_back(at);
    }
    for (std::size_t i = 0; i < component.children.size(); ++i) {
        ComponentPath child = at;
        child.push_back(static_cast<int>(i));
        addMemories(root, child, copies * static_cast<double>(instancesIn(component, component.children[i])), memory);
    }
}

}  // namespace

Expected<HostView> hostView(const Hardware& design, const DeviceGroup& group) {
    const Component& root = design.root;
    const ComponentPath& device = group.places.front();
    struct Way {
        double rate = 0, latency = 0;
        std::vector<ComponentPath> links;
    };
    std::map<ComponentPath, Way> ways;  // by the part that holds memory
    for (const LinkEnds& link : linkEnds(root)) {
        if (!link.from || !link.to) continue;
        const bool forward = standsIn(*link.from, device), backward = standsIn(*link.to, device);
        if (forward == backward) continue;
        const ComponentPath& host = forward ? *link.to : *link.from;
        const bool ours = std::any_of(group.places.begin(), group.places.end(), [&](const ComponentPath& one) {
            return standsIn(host, one) || standsIn(one, host);
        });
        HostMemory memory;
        addMemories(root, host, 1, memory);
        const double rate = detail::linkRate(root, link.link);
        if (ours || memory.parts.empty() || rate <= 0) continue;
        Way& way = ways[host];
        way.rate += rate * static_cast<double>(componentAt(root, link.link)->instances());
        way.latency = std::max(way.latency, detail::latencyOf(root, link.link));
        way.links.push_back(link.link);
    }
    const auto best = std::max_element(ways.begin(), ways.end(),
                                       [](const auto& a, const auto& b) { return a.second.rate < b.second.rate; });
    if (best == ways.end())
        return fail("hardware.no-host",
                    fmt::format("no link with a bandwidth is drawn between `{}` and the memory of a host", group.name),
                    "a part with `dram` beside the device, and a link between the two",
                    fmt::format("draw a package with DRAM in the node, and a link from it to `{}`", group.name),
                    {{}, 0, 0, group.path});
    const auto& [host, way] = *best;
    ComponentPath parent = commonParent(host, device);
    HostMemory memory;
    addMemories(root, host, copiesWithin(root, parent, host), memory);
    double sharers = 0;
    for (const ComponentPath& place : group.places)
        if (standsIn(place, parent)) sharers += copiesWithin(root, parent, place);
    if (memory.bandwidth <= 0)
        return fail("hardware.no-host", fmt::format("the memory of `{}` states no bandwidth", pathText(root, host)),
                    "the host's DRAM with a bandwidth", "add `bandwidth` to it", {{}, 0, 0, pathText(root, host)});
    HostView view;
    view.name = std::string(nameOf(*componentAt(root, host)));
    view.link = BytesPerSecond(way.rate);
    view.latency = Seconds(way.latency);
    view.memory = Bytes(memory.capacity / std::max(1.0, sharers));
    view.memoryBandwidth = BytesPerSecond(memory.bandwidth / std::max(1.0, sharers));
    std::vector<ComponentPath> parts = way.links;
    view.used = detail::readOf(root, parts);
    for (const ComponentPath& path : memory.parts) {
        PartsRead one;
        for (std::size_t depth = 0; depth < path.size(); ++depth)
            one.parts.push_back({ComponentPath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth)), {}});
        one.parts.push_back({path, {"bandwidth", "capacity"}});
        view.used.add(one);
    }
    return view;
}

}  // namespace orrery
