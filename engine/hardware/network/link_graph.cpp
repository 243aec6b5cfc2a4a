#include "hardware/network/link_graph.h"

#include <algorithm>
#include <limits>

namespace orrery {

namespace {

constexpr double no_bound = std::numeric_limits<double>::infinity();
constexpr std::int32_t most_cut_endpoints = 16;

struct Neighbour {
    std::int32_t vertex, edge;
};

class Ways {
public:
    explicit Ways(const LinkGraph& graph) : graph_(graph), beside_(static_cast<std::size_t>(graph.vertices)) {
        for (std::size_t e = 0; e < graph.edges.size(); ++e) {
            const LinkGraph::Edge& edge = graph.edges[e];
            if (edge.a == edge.b || edge.bandwidth <= 0) continue;
            beside_[at(edge.a)].push_back({edge.b, static_cast<std::int32_t>(e)});
            beside_[at(edge.b)].push_back({edge.a, static_cast<std::int32_t>(e)});
        }
    }
    static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

    // Shortest ways from one vertex: distances, and how many there are.
    void from(std::int32_t source) {
        distance_.assign(beside_.size(), -1);
        ways_.assign(beside_.size(), 0);
        order_.assign(1, source);
        distance_[at(source)] = 0;
        ways_[at(source)] = 1;
        for (std::size_t next = 0; next < order_.size(); ++next) {
            const std::int32_t v = order_[next];
            for (const Neighbour& near : beside_[at(v)]) {
                if (distance_[at(near.vertex)] < 0) {
                    distance_[at(near.vertex)] = distance_[at(v)] + 1;
                    order_.push_back(near.vertex);
                }
                if (distance_[at(near.vertex)] == distance_[at(v)] + 1) ways_[at(near.vertex)] += ways_[at(v)];
            }
        }
    }
    std::int32_t distance(std::int32_t vertex) const { return distance_[at(vertex)]; }

    // Adds what `demand` of every vertex puts on the directed edges (2e forwards, 2e+1 back) of the last source.
    void load(std::vector<double> demand, std::vector<double>& onEdges) const {
        for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
            const double arriving = demand[at(*it)];
            if (arriving <= 0) continue;
            for (const Neighbour& near : beside_[at(*it)]) {
                if (distance_[at(near.vertex)] != distance_[at(*it)] - 1) continue;
                const double share = arriving * ways_[at(near.vertex)] / ways_[at(*it)];
                demand[at(near.vertex)] += share;
                const bool forwards = graph_.edges[at(near.edge)].b == *it;
                onEdges[2 * at(near.edge) + (forwards ? 0 : 1)] += share;
            }
        }
    }

private:
    const LinkGraph& graph_;
    std::vector<std::vector<Neighbour>> beside_;
    std::vector<std::int32_t> distance_, order_;
    std::vector<double> ways_;
};

double leastSpare(const LinkGraph& graph, const std::vector<double>& load) {
    double least = no_bound;
    for (std::size_t e = 0; e < load.size(); ++e)
        if (load[e] > 0) least = std::min(least, graph.edges[e / 2].bandwidth / load[e]);
    return least;
}

// All-gather of one shard per endpoint: what enters a set must bring the shards of all outside it.
double boundByCuts(const LinkGraph& graph) {
    const auto n = static_cast<std::uint32_t>(graph.endpoints);
    double least = no_bound;
    for (std::uint32_t set = 1; set + 1 < (1U << n); ++set) {
        double enters = 0;
        for (const LinkGraph::Edge& edge : graph.edges)
            if (((set >> edge.a) & 1U) != ((set >> edge.b) & 1U)) enters += edge.bandwidth;
        std::uint32_t inside = 0;
        for (std::uint32_t v = 0; v < n; ++v) inside += (set >> v) & 1U;
        least = std::min(least, enters / (n - inside));
    }
    return least * (n - 1);
}

}  // namespace

GraphBandwidth graphBandwidth(const LinkGraph& graph) {
    GraphBandwidth out;
    const std::int32_t n = graph.endpoints;
    if (n < 2) return out;
    Ways ways(graph);
    std::vector<double> everyPair(2 * graph.edges.size()), ring(2 * graph.edges.size());
    std::vector<double> demand(static_cast<std::size_t>(graph.vertices));
    out.connected = true;
    std::int64_t nearest = std::numeric_limits<std::int32_t>::max();
    for (std::int32_t source = 0; source < n; ++source) {
        ways.from(source);
        std::fill(demand.begin(), demand.end(), 0.0);
        for (std::int32_t other = 0; other < n; ++other) {
            if (other == source) continue;
            out.connected = out.connected && ways.distance(other) > 0;
            if (ways.distance(other) > 0) nearest = std::min<std::int64_t>(nearest, ways.distance(other));
            demand[Ways::at(other)] = 1;
        }
        if (!out.connected) return out;
        ways.load(demand, everyPair);
        std::fill(demand.begin(), demand.end(), 0.0);
        demand[Ways::at((source + 1) % n)] = 1;
        ways.load(demand, ring);
    }
    out.hops = nearest;
    out.allToAll = leastSpare(graph, everyPair) * (n - 1);
    const bool direct = graph.vertices == n;
    out.neighbours = direct && n <= most_cut_endpoints ? boundByCuts(graph) : leastSpare(graph, ring);
    const auto pairs = static_cast<std::size_t>(n) * static_cast<std::size_t>(n - 1) / 2;
    out.complete = direct && graph.edges.size() == pairs && nearest == 1 &&
                   std::all_of(graph.edges.begin(), graph.edges.end(), [&](const LinkGraph::Edge& edge) {
                       return edge.bandwidth == graph.edges.front().bandwidth;
                   });
    if (out.complete) out.neighbours = graph.edges.front().bandwidth * (n - 1);
    return out;
}

}  // namespace orrery
