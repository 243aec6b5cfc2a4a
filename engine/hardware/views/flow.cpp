#include "hardware/views/flow.h"

#include <utility>

namespace orrery::detail {

namespace {

struct Arc {
    int to = 0;
    int edge = 0;  // 2 · edge + direction
};

}  // namespace

Flow flowOf(const FlowNetwork& network) {
    const std::size_t vertices = network.sends.size();
    std::vector<std::vector<Arc>> arcs(vertices);
    for (std::size_t e = 0; e < network.edges.size(); ++e) {
        const FlowEdge& edge = network.edges[e];
        if (edge.a == edge.b) continue;
        arcs[static_cast<std::size_t>(edge.a)].push_back({edge.b, static_cast<int>(2 * e)});
        arcs[static_cast<std::size_t>(edge.b)].push_back({edge.a, static_cast<int>(2 * e + 1)});
    }
    Flow flow;
    std::vector<double> load(2 * network.edges.size());
    std::vector<int> distance(vertices);
    std::vector<double> ways(vertices), through(vertices);
    for (std::size_t source = 0; source < vertices; ++source) {
        const double sent = network.sends[source];
        if (sent <= 0) continue;
        distance.assign(vertices, -1);
        ways.assign(vertices, 0);
        through = network.takes;
        std::vector<int> order{static_cast<int>(source)};
        distance[source] = 0;
        ways[source] = 1;
        for (std::size_t next = 0; next < order.size(); ++next) {
            const auto at = static_cast<std::size_t>(order[next]);
            for (const Arc& arc : arcs[at]) {
                const auto to = static_cast<std::size_t>(arc.to);
                if (distance[to] < 0) {
                    distance[to] = distance[at] + 1;
                    order.push_back(arc.to);
                }
                if (distance[to] == distance[at] + 1) ways[to] += ways[at];
            }
        }
        // From the farthest back, what passes a vertex comes over those before it, by the number of ways through them.
        for (std::size_t next = order.size(); next-- > 1;) {
            const auto at = static_cast<std::size_t>(order[next]);
            flow.crossing += sent * network.takes[at];
            for (const Arc& arc : arcs[at]) {
                const auto before = static_cast<std::size_t>(arc.to);
                if (distance[before] + 1 != distance[at]) continue;
                const double part = through[at] * ways[before] / ways[at];
                through[before] += part;
                load[static_cast<std::size_t>(arc.edge ^ 1)] += sent * part;
            }
        }
    }
    double fullest = 0;
    for (std::size_t arc = 0; arc < load.size(); ++arc) {
        const FlowEdge& edge = network.edges[arc / 2];
        flow.latency += load[arc] * edge.latency;
        flow.energy += load[arc] * edge.energy;
        if (edge.rate <= 0 || load[arc] / edge.rate <= fullest) continue;
        fullest = load[arc] / edge.rate;
        flow.fullEdge = static_cast<int>(arc / 2);
    }
    flow.rate = fullest > 0 ? 1 / fullest : 0;
    return flow;
}

}  // namespace orrery::detail
