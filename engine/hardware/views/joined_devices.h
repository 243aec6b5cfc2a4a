#pragma once

// Devices of several kinds as one network: what those of one kind and those of another send each other over. The tiers
// of a DeviceGroup know its own kind alone.

#include "hardware/views/cluster_view.h"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

struct JoinedDevices {
    /// All of them. Its tiers are innermost first; where kinds differ in one (nodes of eight and of four, their links),
    /// it has what the slower device has of it.
    DeviceGroup devices;
    /// By kind, as asked for, and device of it in its group's order: where it stands along each tier.
    std::vector<std::vector<std::vector<std::int32_t>>> places;
    Diagnostics warnings;
};

/// `kinds`: indices into `view.groups`, each once. What is not drawn between them is a tier without bandwidth and a
/// warning. Fails as clusterView().
Expected<JoinedDevices> joinedDevices(const Hardware& design, const ClusterView& view,
                                      std::span<const std::size_t> kinds);

}  // namespace orrery
