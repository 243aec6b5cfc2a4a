#include "simulation/network/network_model.h"

#include "base/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

Expected<void> checkCall(const CollectiveCall& call, const std::vector<NetworkTier>& tiers) {
    if (!std::isfinite(call.bytes) || call.bytes < 0) {
        return fail("network.bytes", fmt::format("a {} of {} bytes", toText(call.op), call.bytes),
                    "a number of bytes from 0 on", "check the sizes of the tensors that are sent");
    }
    if (call.group.size <= 1 || call.bytes <= 0) return {};
    if (call.group.ranks.size() != tiers.size()) {
        return fail("network.group",
                    fmt::format("a group placed on {} tiers is priced on a network of {}", call.group.ranks.size(),
                                tiers.size()),
                    "a group placed on the same drawing", "place the plan again after the drawing has changed");
    }
    for (std::size_t i = 0; i < tiers.size(); ++i) {
        if (call.group.ranks[i] <= 1 || tiers[i].drawn()) continue;
        const bool silent = tiers[i].source == TierSource::Topology;
        return fail("network.not-drawn",
                    silent ? fmt::format("a {} among {} devices crosses `{}`, which states no bandwidth",
                                         toText(call.op), call.group.size, tiers[i].name)
                           : fmt::format("a {} among {} devices crosses a network that is not drawn", toText(call.op),
                                         call.group.size),
                    fmt::format("a network with a bandwidth between {} endpoints", tiers[i].size),
                    silent ? "add `bandwidth` of one link, one direction"
                           : "draw a topology with a `bandwidth` there, or choose a plan that stays inside",
                    Place{.path = tiers[i].path + (silent ? ".bandwidth" : "")});
    }
    return {};
}

double leastBytes(CollectiveOp op, double bytes, std::int64_t ranks) {
    if (ranks <= 1) return 0;
    const auto n = static_cast<double>(ranks);
    switch (op) {
        case CollectiveOp::AllReduce:
            return 2 * (n - 1) / n * bytes;
        case CollectiveOp::AllGather:
        case CollectiveOp::ReduceScatter:
        case CollectiveOp::AllToAll:
            return (n - 1) / n * bytes;
        case CollectiveOp::Broadcast:
        case CollectiveOp::SendReceive:
            return bytes;
    }
    return 0;
}

}  // namespace orrery
