#pragma once

// Plans that stand on several kinds of device: which stage and which copy stands on which, and over which network each
// exchange then goes.

#include "hardware/views/cluster_view.h"
#include "mapping/placement.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// The kind of device under every stage and copy of a plan.
struct PlanKinds {
    std::int64_t stages = 1, copies = 1;
    std::vector<std::size_t> of;     ///< index into ClusterView::groups, by stage and in it by copy
    std::vector<std::size_t> kinds;  ///< those of them, each once, as first met
    /// Copies that stand on the same kinds from the first stage to the last do the same at the same time: by copy, the
    /// number of its class, as first met.
    std::vector<std::int32_t> classOf;

    std::size_t at(std::int64_t stage, std::int64_t copy) const {
        return of[static_cast<std::size_t>(stage * copies + copy)];
    }
    bool several() const { return kinds.size() > 1; }
    std::int64_t classes() const;
    std::int64_t firstOf(std::int32_t copyClass) const;  ///< the first copy of a class
    std::int64_t copiesOf(std::int32_t copyClass) const;
    std::size_t indexOf(std::size_t kind) const;  ///< into `kinds`
};

/// Whether the plan's placement names more than one device: `h100+a100`.
bool namesSeveralDevices(const Plan& plan);

/// Of plan.placement: kinds joined with `+` take the stages in equal runs, those joined with `&` the copies of a stage.
/// One name, or none, holds for all. Fails as checkPlan() (with `plan.kinds` where kinds share unevenly), and with
/// `plan.no-such-device`.
Expected<PlanKinds> planKinds(const ClusterView& view, const Plan& plan);

/// Who talks to a device, and over what.
struct ExchangeWay {
    static constexpr std::size_t between = ~std::size_t{0};
    std::size_t network = 0;  ///< index into PlanKinds::kinds: that of one kind; `between`: that which joins all
    Communicator group;
};
/// Of one device of a stage and of a class of copies.
struct StageWays {
    ExchangeWay tensor, context, gradients, expert, expertGradients, replicas;
    ExchangeWay next;  ///< to the stage behind; of the last one nothing
    ExchangeWay ends;  ///< between the first stage and the last
};

struct MixedPlacement {
    PlanKinds kinds;
    DeviceGroup joined;           ///< all kinds as one network (hardware/views/joined_devices.h)
    std::vector<StageWays> ways;  ///< by stage and in it by class of copies
    std::int64_t devices = 1;     ///< used
    std::int64_t drawn = 1;       ///< of these kinds
    Diagnostics warnings;

    const StageWays& at(std::int64_t stage, std::int32_t copyClass) const {
        return ways[static_cast<std::size_t>(stage * kinds.classes() + copyClass)];
    }
};

/// A plan on several kinds. Of each kind, devices are taken in their order, stage by stage and in it copy by copy.
/// Fails as planKinds() and checkPlan() do, with `plan.too-many-devices` where a kind has too few, and with
/// `plan.mixed` for what cannot stand on several kinds: interleaved chunks, stages from both ends, offloading; and,
/// with copies of several kinds in a stage, sets of copies (`shard`) and experts over several copies.
Expected<MixedPlacement> mixedPlacement(const Hardware& design, const ClusterView& view, const Plan& plan);

}  // namespace orrery
