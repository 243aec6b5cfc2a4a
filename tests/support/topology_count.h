#pragma once

// Facts of a network by counting its vertices and edges, without any formula: breadth-first search for hops, greatest
// flow (Dinic) for the cut between two halves of its endpoints.

#include "hardware/network/topology.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace orrery::counted {

struct Graph {
    std::vector<std::vector<std::pair<int, int>>> next;  // neighbour, edge
    explicit Graph(const ExpandedNetwork& network) : next(network.vertices.size()) {
        for (std::size_t e = 0; e < network.edges.size(); ++e) {
            next[std::size_t(network.edges[e].a)].push_back({network.edges[e].b, int(e)});
            next[std::size_t(network.edges[e].b)].push_back({network.edges[e].a, int(e)});
        }
    }
};

struct Hops {
    std::int64_t diameter = 0;
    double mean = 0;
    bool connected = true;
};

/// `global(edge)`: edges of which a way may cross one at most (global links of a dragonfly).
template <class IsGlobal>
Hops hops(const ExpandedNetwork& network, IsGlobal global) {
    const Graph graph(network);
    const std::size_t n = network.vertices.size();
    Hops out;
    double sum = 0;
    for (std::int64_t from = 0; from < network.endpoints; ++from) {
        std::vector<int> distance(2 * n, -1), queue{int(from)};  // states: vertex, and vertex after a global link
        distance[std::size_t(from)] = 0;
        for (std::size_t i = 0; i < queue.size(); ++i) {
            const std::size_t state = std::size_t(queue[i]), vertex = state % n;
            for (const auto& [to, edge] : graph.next[vertex]) {
                const bool crossed = state >= n;
                if (crossed && global(edge)) continue;
                const std::size_t reached = std::size_t(to) + (crossed || global(edge) ? n : 0);
                if (distance[reached] >= 0) continue;
                distance[reached] = distance[state] + 1;
                queue.push_back(int(reached));
            }
        }
        for (std::size_t to = 0; to < std::size_t(network.endpoints); ++to) {
            int best = distance[to];
            if (best < 0 || (distance[n + to] >= 0 && distance[n + to] < best)) best = distance[n + to];
            out.connected = out.connected && best >= 0;
            out.diameter = std::max<std::int64_t>(out.diameter, best);
            sum += best;
        }
    }
    const double pairs = double(network.endpoints) * double(network.endpoints - 1);
    out.mean = pairs > 0 ? sum / pairs : 0;
    return out;
}

inline std::int64_t links(const ExpandedNetwork& network) {
    std::int64_t sum = 0;
    for (const auto& edge : network.edges) sum += edge.parallel;
    return sum;
}

inline std::vector<std::int64_t> degrees(const ExpandedNetwork& network) {
    std::vector<std::int64_t> out(network.vertices.size());
    for (const auto& edge : network.edges) {
        out[std::size_t(edge.a)] += edge.parallel;
        out[std::size_t(edge.b)] += edge.parallel;
    }
    return out;
}

/// The fewest links whose removal parts the endpoints marked from the others.
inline std::int64_t cut(const ExpandedNetwork& network, const std::vector<bool>& marked) {
    struct Arc {
        int to;
        std::int64_t room;
    };
    const int n = int(network.vertices.size()), source = n, sink = n + 1;
    std::vector<Arc> arcs;
    std::vector<std::vector<int>> out(std::size_t(n) + 2);
    const auto add = [&](int a, int b, std::int64_t there, std::int64_t back) {
        out[std::size_t(a)].push_back(int(arcs.size()));
        arcs.push_back({b, there});
        out[std::size_t(b)].push_back(int(arcs.size()));
        arcs.push_back({a, back});
    };
    for (const auto& edge : network.edges) add(edge.a, edge.b, edge.parallel, edge.parallel);
    const std::int64_t endless = std::numeric_limits<std::int32_t>::max();
    for (int v = 0; v < network.endpoints; ++v) {
        if (marked[std::size_t(v)]) {
            add(source, v, endless, 0);
        } else {
            add(v, sink, endless, 0);
        }
    }
    std::int64_t flow = 0;
    for (;;) {
        std::vector<int> level(out.size(), -1), queue{source};
        level[std::size_t(source)] = 0;
        for (std::size_t i = 0; i < queue.size(); ++i) {
            for (const int a : out[std::size_t(queue[i])]) {
                const Arc& arc = arcs[std::size_t(a)];
                if (arc.room > 0 && level[std::size_t(arc.to)] < 0) {
                    level[std::size_t(arc.to)] = level[std::size_t(queue[i])] + 1;
                    queue.push_back(arc.to);
                }
            }
        }
        if (level[std::size_t(sink)] < 0) return flow;
        std::vector<std::size_t> at(out.size());
        const auto push = [&](auto&& self, int vertex, std::int64_t most) -> std::int64_t {
            if (vertex == sink) return most;
            for (std::size_t& i = at[std::size_t(vertex)]; i < out[std::size_t(vertex)].size(); ++i) {
                const int a = out[std::size_t(vertex)][i];
                Arc& arc = arcs[std::size_t(a)];
                if (arc.room <= 0 || level[std::size_t(arc.to)] != level[std::size_t(vertex)] + 1) continue;
                const std::int64_t sent = self(self, arc.to, std::min(most, arc.room));
                if (sent > 0) {
                    arc.room -= sent;
                    arcs[std::size_t(a ^ 1)].room += sent;
                    return sent;
                }
            }
            return 0;
        };
        while (const std::int64_t sent = push(push, source, endless)) flow += sent;
    }
}

}  // namespace orrery::counted
