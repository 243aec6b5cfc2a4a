#pragma once

// A network drawn link by link, as a graph, and what its endpoints can send through it when all of them do.

#include <cstdint>
#include <vector>

namespace orrery {

/// Vertices 0 … endpoints-1 are endpoints, the others switches and parts that only pass on.
struct LinkGraph {
    struct Edge {
        std::int32_t a = 0, b = 0;
        double bandwidth = 0;  ///< B/s in each direction, parallel links added
        double latency = 0;    ///< s, of the slowest of parallel links
    };
    std::int32_t endpoints = 0, vertices = 0;
    std::vector<Edge> edges;
};

struct GraphBandwidth {
    bool connected = false;  ///< every endpoint reaches every other
    bool complete = false;   ///< every pair of endpoints has a link of its own, all alike
    double neighbours = 0;   ///< B/s that each endpoint can send in an all-gather
    double allToAll = 0;     ///< B/s that each endpoint can send, spread evenly over all others
    std::int64_t hops = 0;   ///< links between an endpoint and the nearest other one
};

/// neighbours: without switches and with up to 16 endpoints the bound by all cuts (of every set, what its complement
/// lacks over what enters it), which rings over several ways reach; else one ring in the order of the endpoints.
/// allToAll: every pair on its shortest ways, evenly; the fullest link bounds. O(vertices × edges), at worst 2^16 ×
/// edges.
GraphBandwidth graphBandwidth(const LinkGraph& graph);

}  // namespace orrery
