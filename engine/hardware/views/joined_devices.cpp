#include "hardware/views/joined_devices.h"

#include "hardware/views/cluster_tier.h"

#include <algorithm>

namespace orrery {

namespace {

using detail::Endpoints;
using detail::standsIn;

struct JoinedPlace {
    std::size_t kind = 0;
    std::vector<std::int32_t> at;  ///< innermost first
};

struct JoinedNest {
    std::vector<NetworkTier> tiers;
    std::vector<ComponentPath> down;  ///< components around one device, while there is one only
    bool nodes = false;
    std::vector<JoinedPlace> places;
    std::int64_t count() const { return static_cast<std::int64_t>(places.size()); }
};

/// What holds for the devices behind either.
NetworkTier narrower(const NetworkTier& a, const NetworkTier& b) {
    NetworkTier made = b.perDevice() < a.perDevice() ? b : a;
    const BytesPerSecond perDevice = made.perDevice(), toAll = made.allToAll / static_cast<double>(made.inner);
    if (a.size != b.size || a.inner != b.inner) {
        made.size = std::max(a.size, b.size);
        made.inner = std::max(a.inner, b.inner);
        made.bandwidth = perDevice * static_cast<double>(made.inner);
        made.allToAll = toAll * static_cast<double>(made.inner);
        made.stated.reset();
        made.links.reset();
        made.sides.clear();
    }
    made.latency = max(a.latency, b.latency);
    made.energy = max(a.energy, b.energy);
    made.read = a.read;
    made.read.add(b.read);
    return made;
}

class JoinedReader {
public:
    JoinedReader(const Component& root, const ClusterView& view, std::span<const std::size_t> kinds,
                 Diagnostics& warnings)
        : root_(root), warnings_(warnings) {
        for (const std::size_t kind : kinds) groups_.push_back(&view.groups[kind]);
    }

    Expected<JoinedNest> read(const ComponentPath& path) {
        JoinedNest nest;
        for (std::size_t k = 0; k < groups_.size(); ++k) {
            if (!std::binary_search(groups_[k]->places.begin(), groups_[k]->places.end(), path)) continue;
            nest.down = {path};
            nest.places = {{k, {}}};
            return nest;
        }
        const Component& here = *componentAt(root_, path);
        Endpoints ends;
        ends.parent = path;
        ends.count = 0;
        std::vector<JoinedNest> inside;
        for (std::size_t i = 0; i < here.children.size(); ++i) {
            ComponentPath child = path;
            child.push_back(static_cast<int>(i));
            if (!holds(child)) continue;
            auto sub = read(child);
            if (!sub) return sub;
            nest.nodes = nest.nodes || sub->nodes || here.children[i].kind == ComponentKind::Node;
            ends.count += instancesIn(here, here.children[i]);
            ends.inner = std::max(ends.inner, sub->count());
            ends.children.push_back(child);
            ends.down.push_back(sub->down.empty() ? std::vector<ComponentPath>{child} : sub->down);
            inside.push_back(std::move(*sub));
        }
        ends.nodes = nest.nodes;
        if (ends.count == 1) {
            const bool nodes = nest.nodes;
            nest = std::move(inside.front());
            nest.nodes = nodes;
            if (!nest.down.empty()) nest.down.insert(nest.down.begin(), path);
            return nest;
        }
        for (const JoinedNest& sub : inside)
            for (std::size_t t = 0; t < sub.tiers.size(); ++t)
                if (t < nest.tiers.size())
                    nest.tiers[t] = narrower(nest.tiers[t], sub.tiers[t]);
                else
                    nest.tiers.push_back(sub.tiers[t]);
        auto tiers = detail::tiersAmong(root_, ends, warnings_);
        if (!tiers) return Unexpected(std::move(tiers.error()));
        shareLinks(ends, inside, *tiers);
        place(ends, inside, *tiers, nest);
        nest.tiers.insert(nest.tiers.end(), tiers->begin(), tiers->end());
        return nest;
    }

private:
    bool holds(const ComponentPath& path) const {
        return std::any_of(groups_.begin(), groups_.end(), [&](const DeviceGroup* group) {
            const auto found = std::lower_bound(group->places.begin(), group->places.end(), path);
            return found != group->places.end() && standsIn(*found, path);
        });
    }
    // Where endpoints bring links of their own, a device has its share of those of its endpoint.
    void shareLinks(const Endpoints& ends, const std::vector<JoinedNest>& inside,
                    std::vector<NetworkTier>& tiers) const {
        if (tiers.size() != 1 || tiers.front().source != TierSource::OwnLinks) return;
        double least = 0;
        for (std::size_t i = 0; i < inside.size(); ++i) {
            Endpoints one = ends;
            one.children = {ends.children[i]};
            one.down = {ends.down[i]};
            Diagnostics quiet;
            const auto alone = detail::tiersAmong(root_, one, quiet);
            if (!alone || alone->empty() || !alone->front().drawn()) return;
            const double share = alone->front().bandwidth.value / static_cast<double>(inside[i].count());
            least = i == 0 ? share : std::min(least, share);
        }
        NetworkTier& tier = tiers.front();
        tier.bandwidth = tier.allToAll = BytesPerSecond(least * static_cast<double>(tier.inner));
    }
    void place(const Endpoints& ends, const std::vector<JoinedNest>& inside, const std::vector<NetworkTier>& tiers,
               JoinedNest& nest) const {
        const std::size_t within = nest.tiers.size();
        std::int64_t endpoint = 0;
        for (std::size_t i = 0; i < inside.size(); ++i) {
            const std::int64_t copies =
                instancesIn(*componentAt(root_, ends.parent), *componentAt(root_, ends.children[i]));
            for (std::int64_t c = 0; c < copies; ++c, ++endpoint) {
                for (JoinedPlace each : inside[i].places) {
                    each.at.resize(within, 0);
                    std::int64_t left = endpoint;
                    for (std::size_t t = 0; t < tiers.size(); ++t) {
                        const bool last = t + 1 == tiers.size();
                        each.at.push_back(static_cast<std::int32_t>(last ? left : left % tiers[t].size));
                        left /= std::max<std::int64_t>(1, tiers[t].size);
                    }
                    nest.places.push_back(std::move(each));
                }
            }
        }
    }

    const Component& root_;
    std::vector<const DeviceGroup*> groups_;
    Diagnostics& warnings_;
};

}  // namespace

Expected<JoinedDevices> joinedDevices(const Hardware& design, const ClusterView& view,
                                      std::span<const std::size_t> kinds) {
    JoinedDevices joined;
    auto nest = JoinedReader(design.root, view, kinds, joined.warnings).read({});
    if (!nest) return Unexpected(std::move(nest.error()));
    joined.places.resize(kinds.size());
    for (JoinedPlace& each : nest->places) joined.places[each.kind].push_back(std::move(each.at));
    DeviceGroup& all = joined.devices;
    all = view.groups[kinds.front()];
    for (const std::size_t kind : kinds.subspan(1)) {
        const DeviceGroup& more = view.groups[kind];
        all.name += " and " + more.name;
        all.count += more.count;
        all.memory = min(all.memory, more.memory);
        all.ownLinks = min(all.ownLinks, more.ownLinks);
        all.places.insert(all.places.end(), more.places.begin(), more.places.end());
    }
    all.tiers = std::move(nest->tiers);
    return joined;
}

}  // namespace orrery
