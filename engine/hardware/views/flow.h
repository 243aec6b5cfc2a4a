#pragma once

// Traffic over a small network: which link fills up first when every source sends to every sink.

#include <cstdint>
#include <vector>

namespace orrery::detail {

struct FlowEdge {
    int a = 0, b = 0;    ///< vertices; both directions, each at `rate`
    double rate = 0;     ///< bytes a second; 0: no limit
    double latency = 0;  ///< s
    double energy = 0;   ///< J per byte
};

struct FlowNetwork {
    std::vector<double> sends;  ///< by vertex: share of the bytes that lie there; sum 1
    std::vector<double> takes;  ///< by vertex: share of the bytes that are asked for there; sum 1
    std::vector<FlowEdge> edges;
};

struct Flow {
    double crossing = 0;  ///< share of all bytes that cross any edge; pairs without a way count as not crossing
    double rate = 0;      ///< bytes a second of all traffic at which the first edge is full; 0: none limits
    int fullEdge = -1;
    double latency = 0;  ///< s, mean one way over all bytes
    double energy = 0;   ///< J per byte of all traffic
};

/// Shortest ways by hops, split evenly over those of equal length (each of several edges between two vertices is a
/// way). O(sources × edges).
Flow flowOf(const FlowNetwork& network);

}  // namespace orrery::detail
