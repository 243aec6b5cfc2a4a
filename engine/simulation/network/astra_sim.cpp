#include "simulation/network/astra_sim.h"

#include "simulation/event_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>

namespace orrery {

namespace {

struct AstraPhase {
    std::size_t dimension = 0;
    std::int64_t cycles = 0;
};

Unexpected notInAstra(std::string message, std::string expected) {
    return fail("network.astra", std::move(message), std::move(expected), "choose another network model");
}

Expected<void> checkAstra(CollectiveOp op, std::int64_t bytes, const std::vector<AstraDimension>& dimensions,
                          const AstraSystem& system) {
    using enum CollectiveOp;
    if (op == Broadcast || op == SendReceive)
        return notInAstra(fmt::format("ASTRA-sim's analytical backend has no {}", toText(op)),
                          "all-reduce, all-gather, reduce-scatter or all-to-all");
    if (bytes < 1 || dimensions.empty() || system.splits < 1 || system.activeChunks < 1)
        return notInAstra("there is nothing to send", "bytes, dimensions, splits and active chunks from 1 on");
    for (const AstraDimension& one : dimensions) {
        const bool shape = one.shape == TopologyShape::Ring || one.shape == TopologyShape::FullyConnected ||
                           one.shape == TopologyShape::Switch;
        if (!shape || one.size < 2 || one.bandwidth <= 0 || one.latency < 0)
            return notInAstra(fmt::format("a {} of {}", label(one.shape), one.size),
                              "a ring, a switch or a fully connected network of two or more, with a bandwidth");
        if (one.algorithm == AstraAlgorithm::Direct && one.shape == TopologyShape::Ring)
            return notInAstra("direct sends on a ring", "a switch or a fully connected network");
        if (one.algorithm == AstraAlgorithm::HalvingDoubling &&
            !std::has_single_bit(static_cast<std::uint64_t>(one.size)))
            return notInAstra(fmt::format("halving and doubling among {}", one.size), "a power of two");
    }
    return {};
}

class AstraTimes {
public:
    AstraTimes(const AstraDimension& dimension, const AstraSystem& system) : d_(dimension), s_(system) {}

    std::int64_t send(std::int64_t bytes) const {
        constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
        const double hops = d_.shape == TopologyShape::Switch ? 2 : 1;
        return static_cast<std::int64_t>(hops * d_.latency +
                                         static_cast<double>(bytes) / (d_.bandwidth * gibibyte / 1e9));
    }
    std::int64_t reduce(std::int64_t bytes) const {
        return 3 * static_cast<std::int64_t>(static_cast<double>(bytes) / s_.memoryBandwidth);
    }

    std::int64_t ring(CollectiveOp op, std::int64_t bytes) const {
        using enum CollectiveOp;
        const std::int64_t n = d_.size, message = op == AllGather ? bytes : bytes / n;
        const std::int64_t sends = op == AllReduce ? 2 * (n - 1) : op == AllToAll ? n * (n - 1) / 2 : n - 1;
        const std::int64_t reductions = op == AllReduce || op == ReduceScatter ? n - 1 : 0;
        return s_.endpointDelay + sends * (send(message) + s_.endpointDelay) + reductions * reduce(message);
    }
    std::int64_t direct(CollectiveOp op, std::int64_t bytes) const {
        using enum CollectiveOp;
        const std::int64_t message = op == AllGather ? bytes : bytes / d_.size;
        const std::int64_t rounds = op == AllReduce ? 2 : 1;
        const bool reduces = op == AllReduce || op == ReduceScatter;
        return s_.endpointDelay + rounds * (send(message) + s_.endpointDelay) + (reduces ? reduce(message) : 0);
    }
    // Reductions follow all but the last halving, and are counted with the bytes of the message that comes next.
    std::int64_t halvingDoubling(CollectiveOp op, std::int64_t bytes) const {
        using enum CollectiveOp;
        std::int64_t cycles = s_.endpointDelay;
        if (op == AllReduce || op == ReduceScatter) {
            for (std::int64_t share = 2; share <= d_.size; share *= 2) {
                cycles += send(bytes / share) + s_.endpointDelay;
                if (share < d_.size) cycles += reduce(bytes / (2 * share));
            }
        }
        if (op == AllReduce || op == AllGather) {
            std::int64_t message = op == AllReduce ? bytes / d_.size : bytes;
            for (std::int64_t share = 1; share < d_.size; share *= 2, message *= 2)
                cycles += send(message) + s_.endpointDelay;
        }
        return cycles;
    }
    std::int64_t cycles(CollectiveOp op, std::int64_t bytes) const {
        // It has no halving and doubling of an all-to-all: direct sends take its place.
        if (d_.algorithm == AstraAlgorithm::HalvingDoubling && op != CollectiveOp::AllToAll)
            return halvingDoubling(op, bytes);
        return d_.algorithm == AstraAlgorithm::Ring ? ring(op, bytes) : direct(op, bytes);
    }

private:
    const AstraDimension& d_;
    const AstraSystem& s_;
};

std::vector<AstraPhase> astraPhases(CollectiveOp op, std::int64_t chunk, const std::vector<AstraDimension>& dimensions,
                                    const AstraSystem& system) {
    using enum CollectiveOp;
    std::vector<AstraPhase> phases;
    std::int64_t bytes = chunk;
    const auto add = [&](std::size_t d, CollectiveOp what) {
        phases.push_back({d, AstraTimes(dimensions[d], system).cycles(what, bytes)});
        if (what == ReduceScatter) bytes /= dimensions[d].size;
        if (what == AllGather) bytes *= dimensions[d].size;
    };
    const std::size_t count = dimensions.size();
    if (op == AllReduce && system.localBandwidthAware) {
        for (std::size_t d = 0; d + 1 < count; ++d) add(d, ReduceScatter);
        add(count - 1, AllReduce);
        for (std::size_t d = count - 1; d-- > 0;) add(d, AllGather);
    } else if (op == AllGather) {
        for (std::size_t d = count; d-- > 0;) add(d, AllGather);
    } else {
        for (std::size_t d = 0; d < count; ++d) add(d, op);
    }
    return phases;
}

}  // namespace

Expected<std::int64_t> astraCycles(CollectiveOp op, std::int64_t bytes, const std::vector<AstraDimension>& dimensions,
                                   const AstraSystem& system) {
    if (auto good = checkAstra(op, bytes, dimensions, system); !good) return Unexpected(std::move(good.error()));
    std::int64_t devices = 1;
    for (const AstraDimension& one : dimensions) devices *= one.size;
    std::int64_t chunk = bytes / system.splits, size = bytes;
    if (op != CollectiveOp::AllGather && devices > chunk) {
        chunk = devices;
        size = system.splits * chunk;
    }
    chunk = std::max<std::int64_t>(1, chunk);
    const auto streams = static_cast<std::uint32_t>((size + chunk - 1) / chunk);
    const std::vector<AstraPhase> phases = astraPhases(op, chunk, dimensions, system);

    // Chunks pass the dimensions in their phases, so many at a time in each, first come first served.
    struct Queue {
        std::deque<std::uint32_t> waiting;
        std::int64_t active = 0;
    };
    std::vector<Queue> queues(dimensions.size());
    std::vector<std::size_t> at(streams, 0);
    EventQueue events;
    const auto serve = [&](Queue& queue) {
        while (!queue.waiting.empty() && queue.active < system.activeChunks) {
            const std::uint32_t stream = queue.waiting.front();
            queue.waiting.pop_front();
            ++queue.active;
            events.schedule(events.now() + phases[at[stream]].cycles, 0, stream);
        }
    };
    for (std::uint32_t stream = 0; stream < streams; ++stream)
        queues[phases.front().dimension].waiting.push_back(stream);
    serve(queues[phases.front().dimension]);
    while (!events.empty()) {
        const std::uint32_t stream = events.pop().subject;
        Queue& left = queues[phases[at[stream]].dimension];
        --left.active;
        if (++at[stream] < phases.size()) {
            Queue& entered = queues[phases[at[stream]].dimension];
            entered.waiting.push_back(stream);
            if (&entered != &left) serve(entered);
        }
        serve(left);
    }
    return events.now();
}

}  // namespace orrery
