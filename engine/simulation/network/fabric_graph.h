#pragma once

// A network of any shape as a graph of directed links, and the ways through it: shortest by links, then by time, found
// once. Where several are equally good, the one of the lowest links is taken, or, with many paths, one by a hash of the
// pair, so that all messages of a pair keep their order (ECMP; Hopps, RFC 2992).

#include "base/diagnostic.h"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

/// Vertices 0 … endpoints-1 are endpoints, the others switches and parts that only pass on.
struct FabricGraph {
    struct Link {
        std::int32_t from = 0, to = 0;
        double bandwidth = 0;  ///< B/s
        double latency = 0;    ///< ns
    };
    std::int32_t endpoints = 0, vertices = 0;
    std::vector<Link> links;

    /// Both directions, of which the forward one is listed first.
    void join(std::int32_t a, std::int32_t b, double bandwidth, double latency) {
        links.push_back({a, b, bandwidth, latency});
        links.push_back({b, a, bandwidth, latency});
    }
};

class FabricRoutes {
public:
    /// Fails with `network.graph` where a link ends nowhere, has no bandwidth or a negative latency, where an endpoint
    /// does not reach another one (both are named), beyond 65,535 vertices, and beyond 2^26 entries of ways. Time of a
    /// way: that of 1 MiB, stored at every hop. O(endpoints × links).
    static Expected<FabricRoutes> make(FabricGraph graph, bool manyPaths);

    const FabricGraph& graph() const { return graph_; }
    std::int32_t size() const { return graph_.endpoints; }
    /// The link to take at a vertex; `hash` chooses among equals. Not for vertex = target.
    std::int32_t next(std::int32_t vertex, std::int32_t target, std::uint8_t hash) const {
        const std::size_t at = static_cast<std::size_t>(target) * static_cast<std::size_t>(graph_.vertices) +
                               static_cast<std::size_t>(vertex);
        const std::uint32_t first = begin_[at], ways = begin_[at + 1] - first;
        if (ways == 1) return ways_[first];
        // Mixed with the vertex, or all switches of a tier would choose alike.
        const std::uint32_t mixed = (hash * 0x9E3779B1U) ^ (static_cast<std::uint32_t>(vertex) * 0x85EBCA6BU);
        return ways_[first + (mixed >> 16) % ways];
    }
    static std::uint8_t hashOf(std::int32_t source, std::int32_t target) {
        const std::uint64_t pair =
            std::uint64_t(static_cast<std::uint32_t>(source)) << 32 | static_cast<std::uint32_t>(target);
        return static_cast<std::uint8_t>((pair * 0x9E3779B97F4A7C15ULL) >> 56);
    }
    /// Links of the way, in order.
    std::vector<std::int32_t> way(std::int32_t source, std::int32_t target, std::uint8_t hash) const;

private:
    FabricRoutes() = default;
    void findWays(std::int32_t target, const std::vector<std::vector<std::int32_t>>& entering, bool manyPaths);

    FabricGraph graph_;
    std::vector<std::uint32_t> begin_;  ///< by target and vertex
    std::vector<std::int32_t> ways_;
    // While they are found.
    std::vector<std::int32_t> hops_, order_;
    std::vector<double> time_;
    std::vector<std::vector<std::int32_t>> leaving_;
};

}  // namespace orrery
