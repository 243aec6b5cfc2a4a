#pragma once

// Collectives as the analytical backend of ASTRA-sim 2.0 without congestion counts them, to the cycle: what its closed
// forms say of one chunk on one dimension, and how chunks pass the dimensions one behind the other (Won et al.,
// ISPASS 2023; facts of its source at 518bd513). A cycle is a nanosecond; its GB are GiB. All devices do the same, so
// one stands for all and a run costs as many steps as there are chunks and phases, not devices.

#include "base/diagnostic.h"
#include "hardware/network/topology.h"
#include "workload/kernel.h"

#include <cstdint>
#include <vector>

namespace orrery {

enum class AstraAlgorithm : std::uint8_t {
    Ring,
    Direct,          ///< to all others at once
    HalvingDoubling  ///< Thakur et al. 2005; powers of two
};

struct AstraDimension {
    TopologyShape shape = TopologyShape::Ring;  ///< Ring, FullyConnected or Switch
    std::int64_t size = 2;
    double bandwidth = 50;  ///< GiB/s of a link
    double latency = 500;   ///< ns of a link
    AstraAlgorithm algorithm = AstraAlgorithm::Ring;
};

struct AstraSystem {
    std::int64_t endpointDelay = 10;  ///< ns before each send and after each receive
    std::int64_t activeChunks = 1;    ///< of a dimension, at a time
    std::int64_t splits = 4;          ///< chunks of a collective
    double memoryBandwidth = 1600;    ///< GB/s (10^9), for reductions
    bool localBandwidthAware = true;  ///< reduce-scatter, all-reduce, all-gather; else all-reduce in each dimension
};

/// Cycles from start to end. `bytes`: each rank's buffer, of an all-gather each rank's shard. Fails with
/// `network.astra` for what the backend does not have: other shapes, fewer than two endpoints, direct sends on a ring,
/// broadcasts and sends, sizes that are no power of two with halving and doubling, buffers of no bytes.
Expected<std::int64_t> astraCycles(CollectiveOp op, std::int64_t bytes, const std::vector<AstraDimension>& dimensions,
                                   const AstraSystem& system = {});

}  // namespace orrery
