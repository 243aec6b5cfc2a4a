// In which order chunks pass the dimensions of the network.

#include "simulation/cluster/collectives.h"

#include <algorithm>

namespace orrery {

// Themis' offline greedy order, chunk by chunk: the dimension that has least to do so far takes the chunk while it is
// largest. Where that evens out less than a sixteenth of a chunk, the inner ones go first as ever. `load` is in bytes
// of the innermost dimension's bandwidth; a gathering passes the dimensions the other way.
Expected<void> Collectives::addOrders(Collective& made, const CollectiveRequest& request, const Cut& cut) {
    using enum TraceCollective;
    const std::vector<std::int32_t> used = dimensionsOf(request);
    const bool sums = request.op == AllReduce && settings_.bandwidthAware;
    if (settings_.dimensionOrder != DimensionOrder::Themis || request.group >= 0 || used.size() < 2 ||
        !(sums || request.op == ReduceScatter || request.op == AllGather))
        return {};
    const auto rates = fabric_.settings().dimensions;
    const auto rate = [&](std::int32_t d) {
        const FabricDimension& one = rates[static_cast<std::size_t>(d)];
        return one.routes ? one.routes->graph().links.front().bandwidth : one.bandwidth;
    };
    if (dimensionLoad_.empty()) dimensionLoad_.assign(dimensions_, 0);
    std::vector<std::vector<std::int32_t>> orders;
    std::vector<CollectivePhase> phases;
    for (std::int64_t c = 0; c < cut.chunks; ++c) {
        const auto loadOf = [&](std::int32_t d) { return dimensionLoad_[static_cast<std::size_t>(d)]; };
        std::vector<std::int32_t> order = used;
        std::stable_sort(order.begin(), order.end(),
                         [&](std::int32_t a, std::int32_t b) { return loadOf(a) < loadOf(b); });
        const double most = loadOf(order.back()), least = loadOf(order.front());
        if (most - least < static_cast<double>(cut.bytes) / 16) order = used;
        auto bytes = static_cast<double>(cut.bytes);
        if (request.op == AllGather)
            for (const std::int32_t d : used) bytes *= static_cast<double>(fabric_.size(static_cast<std::size_t>(d)));
        for (const std::int32_t d : order) {
            const auto n = static_cast<double>(fabric_.size(static_cast<std::size_t>(d)));
            dimensionLoad_[static_cast<std::size_t>(d)] += bytes * (n - 1) / n * rate(used.front()) / rate(d);
            bytes /= n;
        }
        auto known = std::find(orders.begin(), orders.end(), order);
        if (known == orders.end()) {
            if (orders.size() == 255)
                known = orders.begin();
            else {
                auto its = phasesOf(request, cut.bytes, order);
                if (!its) return Unexpected(std::move(its.error()));
                made.phasesOfOrder = static_cast<std::uint32_t>(its->size());
                phases.insert(phases.end(), its->begin(), its->end());
                orders.push_back(order);
                known = orders.end() - 1;
            }
        }
        made.orderOf.push_back(static_cast<std::uint8_t>(known - orders.begin()));
    }
    made.phases = std::move(phases);
    return {};
}

}  // namespace orrery
