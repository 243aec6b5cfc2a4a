#pragma once

// What is asked of a design as a system: the devices in it that work alike, and the network between them as nested
// tiers, read from what is drawn: topologies, switches, links between parts, and links that leave a device or a node
// (NVLink, InfiniBand). What is not drawn has no bandwidth and a warning, never a default.

#include "base/diagnostic.h"
#include "base/quantity.h"
#include "hardware/component.h"
#include "hardware/views/network_tier.h"
#include "hardware/views/parts_read.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

/// Devices that are alike: same kind, attributes and parts, wherever they stand.
struct DeviceGroup {
    std::string name;                   ///< of the first
    std::string path;                   ///< of the first, as names
    std::vector<ComponentPath> places;  ///< every component that stands for some of them, in tree order
    std::int64_t count = 1;             ///< devices, copies counted
    Bytes memory;                       ///< of one device: its DRAM inside, or beside it per device; 0 where not given
    /// B/s in one direction of the links that the device itself states (18 NVLinks); 0: states none.
    BytesPerSecond ownLinks;
    std::vector<NetworkTier> tiers;  ///< innermost first; product of the sizes = count; empty for a single device
};

struct ClusterView {
    std::string name;                 ///< of the design
    std::vector<DeviceGroup> groups;  ///< never empty; in tree order
    Diagnostics warnings;             ///< what is not drawn or could not be read, with hints
    PartsRead used;                   ///< devices, counted, and every tier

    /// The group that a device at this path belongs to; nothing if none does.
    const DeviceGroup* groupAt(const ComponentPath& place) const;
    std::int64_t devices() const;  ///< of all groups
};

/// Fails with `hardware.no-device` where nothing computes, and as topologySpec() does for a topology that cannot be
/// read.
Expected<ClusterView> clusterView(const Hardware& design);

/// The same group with so many devices, for questions about more of one device than is drawn: joined by the device's
/// own links through switches of full bandwidth, as the makers' nodes have it, with a warning that says so. Fails with
/// `cluster.no-links` where the device states no links,
/// `cluster.too-few` where more than one is drawn: then the drawing says how many there are.
Expected<DeviceGroup> asOneNode(const ClusterView& view, const DeviceGroup& group, std::int64_t devices,
                                Diagnostics& warnings);

}  // namespace orrery
