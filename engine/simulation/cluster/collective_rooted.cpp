#include "simulation/cluster/collectives.h"

#include <algorithm>

namespace orrery {

bool Collectives::hasRoot(TraceCollective op) {
    using enum TraceCollective;
    return op == Broadcast || op == Reduce || op == Gather || op == Scatter;
}

namespace {

/// `first` and so many steps, at most the longest span.
SimTime repeated(std::int64_t count, SimTime step, SimTime first) {
    const SimTime room = std::max<SimTime>(0, MessageFabric::furthest - first);
    return count > 0 && step > room / count ? MessageFabric::furthest : first + count * step;
}

}  // namespace

// Broadcast and reduce: pieces pass a chain of all members, one behind the other. Gather and scatter: the root's link
// carries every other member's part. Steps are those of the slowest neighbours on an empty network.
SimTime Collectives::rooted(const CollectiveRequest& request) const {
    std::vector<std::pair<std::int32_t, std::int32_t>> neighbours;
    std::int64_t members = 1;
    if (request.group >= 0) {
        const auto& its = groups_[static_cast<std::size_t>(request.group)].members;
        members = static_cast<std::int64_t>(its.size());
        for (std::size_t m = 1; m < its.size(); ++m) neighbours.emplace_back(its[m - 1], its[m]);
    } else {
        for (std::size_t d = 0; d < dimensions_; ++d) {
            if (d < 32 && (request.dimensions >> d & 1U) == 0) continue;
            members *= fabric_.size(d);
            neighbours.emplace_back(0, static_cast<std::int32_t>(fabric_.stride(d)));
        }
    }
    if (members < 2) return 0;
    const auto step = [&](std::int64_t bytes) {
        SimTime slowest = 0;
        for (const auto& [from, to] : neighbours)
            slowest = std::max(slowest, fabric_.alone(from, to, static_cast<double>(bytes)));
        return slowest;
    };
    if (request.op == TraceCollective::Gather || request.op == TraceCollective::Scatter) {
        const SimTime first = step(request.bytes), latency = step(0);
        return repeated(members - 2, first - latency, 2 * endpoint_ + first);
    }
    const std::int64_t pieces = std::clamp<std::int64_t>(request.bytes, 1, settings_.splits);
    const std::int64_t piece = (request.bytes + pieces - 1) / pieces;
    const SimTime sum = request.op == TraceCollective::Reduce ? reduction(piece) : 0;
    return repeated(members + pieces - 2, step(piece) + endpoint_ + sum, endpoint_);
}

}  // namespace orrery
