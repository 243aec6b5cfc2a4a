#pragma once

// A plan laid on drawn devices: which part of the network the devices of each dimension talk over. Ranks are numbered
// through the tiers, innermost first; tensor parallelism takes neighbours, then context, then data, and the stages of
// the pipeline stand farthest apart, so that whoever sends most has the shortest way (Narayanan et al. 2021, section
// 3).

#include "hardware/views/cluster_view.h"
#include "mapping/plan.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// Devices that talk to each other: ranks r, r + stride, … Every group of the dimension does the same at the same time.
struct Communicator {
    std::int64_t size = 1;
    std::int64_t stride = 1;  ///< between neighbours, in devices
    /// Members along each tier of the network, innermost first; product = size unless uneven, then at least size.
    std::vector<std::int64_t> ranks;
    bool uneven = false;  ///< groups do not lie alike in the tiers; `ranks` is that of the group spread widest

    /// The outermost tier that it crosses; -1 for one device.
    int outermost() const;
};
/// Members of a group with this size and stride along tiers of these sizes, of the group spread widest.
Communicator communicator(const std::vector<NetworkTier>& tiers, std::int64_t size, std::int64_t stride);

struct Placement {
    Communicator tensor, context, data, pipeline, expert;
    Communicator gradients;        ///< context × data: who hold the same weights, and other tokens; of a set of copies
    Communicator expertGradients;  ///< who hold the same experts, where these stand over several copies; of a set
    Communicator replicas;         ///< who have the same share in every set of copies
    Communicator ends;             ///< the first stage and the last, which may hold the same embeddings
    std::int64_t devices = 1;      ///< used
    std::int64_t drawn = 1;        ///< of this kind in the drawing
    Diagnostics warnings;          ///< `plan.uneven`, `plan.idle-devices`
};

/// Fails as checkPlan(): `plan.too-many-devices` names both numbers. Devices that the plan leaves idle and groups that
/// lie unevenly are warnings.
Expected<Placement> placementOf(const DeviceGroup& devices, const Plan& plan);
/// On the group that plan.placement names, else the first; `plan.no-such-device` if it names none.
Expected<Placement> placementOf(const ClusterView& view, const Plan& plan);
/// The group that a plan stands on: that of plan.placement (`node/h100`, `h100`, the whole path), else the first. Fails
/// with `plan.no-such-device`, and with `plan.several-kinds` where it names several (plan_kinds.h).
Expected<const DeviceGroup*> groupFor(const ClusterView& view, const Plan& plan);

}  // namespace orrery
