#include "hardware/views/cluster_view.h"

#include "hardware/views/cluster_tier.h"
#include "hardware/views/device_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

using detail::Endpoints;
using detail::standsIn;

struct Nest {
    std::int64_t devices = 1;
    std::vector<NetworkTier> tiers;
    std::vector<ComponentPath> down;  // components around one device, while there is one only
    bool nodes = false;
};

class NestReader {
public:
    NestReader(const Component& root, const DeviceGroup& group, Diagnostics& warnings)
        : root_(root), group_(group), warnings_(warnings) {}

    Expected<Nest> read(const ComponentPath& path);

private:
    bool holds(const ComponentPath& path) const {
        const auto found = std::lower_bound(group_.places.begin(), group_.places.end(), path);
        return found != group_.places.end() && standsIn(*found, path);
    }

    const Component& root_;
    const DeviceGroup& group_;
    Diagnostics& warnings_;
};

Expected<Nest> NestReader::read(const ComponentPath& path) {
    const Component& here = *componentAt(root_, path);
    Nest nest;
    if (std::binary_search(group_.places.begin(), group_.places.end(), path)) {
        nest.down = {path};
        return nest;
    }
    Endpoints ends;
    ends.parent = path;
    ends.count = 0;
    for (std::size_t i = 0; i < here.children.size(); ++i) {
        ComponentPath inside = path;
        inside.push_back(static_cast<int>(i));
        if (!holds(inside)) continue;
        auto sub = read(inside);
        if (!sub) return sub;
        if (ends.children.empty()) {
            nest = *sub;
        } else if (sub->devices != nest.devices || sub->tiers.size() != nest.tiers.size()) {
            warnings_.push_back(warning(
                "cluster.uneven",
                fmt::format("`{}` holds {} devices where its sibling holds {}: the network is read as of the smaller",
                            nameOf(here.children[i]), sub->devices, nest.devices),
                "place devices alike, or ask about one of them", {{}, 0, 0, pathText(root_, inside)}));
            if (sub->devices < nest.devices) nest = *sub;
        }
        nest.nodes = nest.nodes || sub->nodes || here.children[i].kind == ComponentKind::Node;
        ends.count += instancesIn(here, here.children[i]);
        ends.children.push_back(inside);
        ends.down.push_back(std::move(sub->down));
    }
    if (ends.count == 1) {
        if (!nest.down.empty()) nest.down.insert(nest.down.begin(), path);
        return nest;
    }
    ends.inner = nest.devices;
    ends.nodes = nest.nodes;
    for (std::size_t i = 0; i < ends.down.size(); ++i)
        if (ends.down[i].empty()) ends.down[i] = {ends.children[i]};
    auto tiers = detail::tiersAmong(root_, ends, warnings_);
    if (!tiers) return Unexpected(std::move(tiers.error()));
    nest.devices *= ends.count;
    nest.down.clear();
    nest.tiers.insert(nest.tiers.end(), tiers->begin(), tiers->end());
    return nest;
}

double memoryIn(const Component& component, double instances) {
    double sum = 0;
    if (component.kind == ComponentKind::Dram) {
        const Attribute* stated = component.find("capacity");
        if (const auto* capacity = stated ? std::get_if<Measure>(&stated->value) : nullptr)
            sum = capacity->si * instances;
    }
    for (const Component& child : component.children)
        sum += memoryIn(child, instances * static_cast<double>(instancesIn(component, child)));
    return sum;
}

// Of DRAM inside one device, else of that which stands nearest outside, shared by the devices there.
double memoryOf(const Component& root, const ComponentPath& place) {
    double sum = memoryIn(*componentAt(root, place), 1);
    double sharers = 1;
    for (ComponentPath at = place; sum <= 0 && !at.empty();) {
        const Component& child = *componentAt(root, at);
        at.pop_back();
        const Component& parent = *componentAt(root, at);
        sharers *= static_cast<double>(std::max<std::int64_t>(1, instancesIn(parent, child)));
        for (const Component& sibling : parent.children)
            if (sibling.kind == ComponentKind::Dram)
                sum += memoryIn(sibling, static_cast<double>(sibling.instances())) / sharers;
    }
    return sum;
}

}  // namespace

const DeviceGroup* ClusterView::groupAt(const ComponentPath& place) const {
    for (const DeviceGroup& group : groups)
        if (std::any_of(group.places.begin(), group.places.end(),
                        [&](const ComponentPath& one) { return standsIn(place, one); }))
            return &group;
    return nullptr;
}

std::int64_t ClusterView::devices() const {
    std::int64_t sum = 0;
    for (const DeviceGroup& group : groups) sum += group.count;
    return sum;
}

Expected<ClusterView> clusterView(const Hardware& design) {
    const auto devices = devicesOf(borrowed(design));
    if (!devices) return Unexpected(devices.error());
    ClusterView view;
    view.name = design.name;
    std::vector<std::uint64_t> kinds;
    for (const DeviceRef& device : *devices) {
        const ComponentPath& place = device.path;
        const std::uint64_t kind = detail::alikeHash(*componentAt(design.root, place));
        const auto same = std::find(kinds.begin(), kinds.end(), kind);
        const auto index = static_cast<std::size_t>(same - kinds.begin());
        if (same == kinds.end()) {
            DeviceGroup group;
            group.name = std::string(nameOf(*componentAt(design.root, place)));
            group.path = pathText(design.root, place);
            group.count = 0;
            group.memory = Bytes(memoryOf(design.root, place));
            std::vector<ComponentPath> links;
            group.ownLinks = BytesPerSecond(detail::ownLinks(design.root, place, 0, links));
            view.groups.push_back(std::move(group));
            kinds.push_back(kind);
        }
        view.groups[index].places.push_back(place);
        view.groups[index].count += copiesOf(device);
    }
    for (DeviceGroup& group : view.groups) {
        auto nest = NestReader(design.root, group, view.warnings).read({});
        if (!nest) return Unexpected(std::move(nest.error()));
        group.tiers = std::move(nest->tiers);
        PartsRead counted = detail::readOf(design.root, group.places);
        for (PartRead& part : counted.parts) part.attributes.clear();
        view.used.add(counted);
        for (const NetworkTier& tier : group.tiers) view.used.add(tier.read);
    }
    return view;
}

Expected<DeviceGroup> asOneNode(const ClusterView& view, const DeviceGroup& group, std::int64_t devices,
                                Diagnostics& warnings) {
    const Place place{{}, 0, 0, group.path};
    if (group.count > 1) {
        return fail("cluster.too-few",
                    fmt::format("the plan needs {} devices, {} × `{}` are drawn", devices, group.count, group.name),
                    fmt::format("at most {} devices", group.count), "raise the `count` of the device in the drawing",
                    place);
    }
    if (group.ownLinks.value <= 0) {
        return fail("cluster.no-links",
                    fmt::format("the plan needs {} devices; one `{}` is drawn, without links", devices, group.name),
                    "a `link` in the device, or the devices drawn with a network",
                    "add a link with its `count` and `bandwidth` to the device, or draw the node", place);
    }
    DeviceGroup out = group;
    out.count = devices;
    out.tiers.clear();
    if (devices > 1) {
        NetworkTier tier;
        tier.name = "own links";
        tier.source = TierSource::OwnLinks;
        tier.size = devices;
        tier.bandwidth = tier.allToAll = group.ownLinks;
        tier.path = group.path;
        out.tiers.push_back(std::move(tier));
        warnings.push_back(warning(
            "cluster.not-drawn",
            fmt::format("`{}` draws one `{}`: {} of them are taken to stand in one node, joined by their own links in "
                        "switches of full bandwidth",
                        view.name, group.name, devices),
            "draw the node with its network to be sure", place));
    }
    return out;
}

}  // namespace orrery
