#include "simulation/network/fabric_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr std::int64_t most_graph_ways = std::int64_t{1} << 26;

std::size_t vertexAt(std::int32_t i) {
    return static_cast<std::size_t>(i);
}

// Of 1 MiB.
double linkTime(const FabricGraph::Link& link) {
    return link.latency + 1048576.0 / (link.bandwidth / 1e9);
}

Expected<void> checkGraph(const FabricGraph& graph) {
    constexpr std::int32_t most = 65535;
    if (graph.endpoints < 2 || graph.vertices < graph.endpoints || graph.vertices > most)
        return fail("network.graph",
                    fmt::format("a graph of {} endpoints and {} vertices", graph.endpoints, graph.vertices),
                    fmt::format("two endpoints or more, at most {} vertices", most), "draw a smaller network");
    if (std::int64_t{graph.endpoints} * graph.vertices > most_graph_ways)
        return fail("network.graph",
                    fmt::format("ways to {} endpoints over {} vertices do not fit", graph.endpoints, graph.vertices),
                    "at most 67 million pairs of both", "draw the outer network as dimensions");
    const auto outside = [&](std::int32_t vertex) { return vertex < 0 || vertex >= graph.vertices; };
    for (const FabricGraph::Link& link : graph.links) {
        const bool numbers =
            link.bandwidth > 0 && std::isfinite(link.bandwidth) && link.latency >= 0 && std::isfinite(link.latency);
        if (outside(link.from) || outside(link.to) || link.from == link.to || !numbers)
            return fail("network.graph",
                        fmt::format("a link from {} to {} at {} B/s and {} ns cannot carry messages", link.from,
                                    link.to, link.bandwidth, link.latency),
                        "two different ends, a bandwidth, a latency of 0 or more", "state the link's bandwidth");
    }
    return {};
}

}  // namespace

// From the target backwards: vertices by hops, then the quickest links onwards of each.
void FabricRoutes::findWays(std::int32_t target, const std::vector<std::vector<std::int32_t>>& entering,
                            bool manyPaths) {
    constexpr std::int32_t unreached = -1;
    hops_.assign(vertexAt(graph_.vertices), unreached);
    time_.assign(vertexAt(graph_.vertices), 0);
    order_.assign(1, target);
    hops_[vertexAt(target)] = 0;
    for (std::size_t next = 0; next < order_.size(); ++next) {
        const std::int32_t v = order_[next];
        for (const std::int32_t l : entering[vertexAt(v)]) {
            const std::int32_t from = graph_.links[vertexAt(l)].from;
            if (hops_[vertexAt(from)] != unreached) continue;
            hops_[vertexAt(from)] = hops_[vertexAt(v)] + 1;
            order_.push_back(from);
        }
    }
    const auto onward = [&](std::int32_t v, const FabricGraph::Link& link) {
        return hops_[vertexAt(link.to)] != unreached && hops_[vertexAt(link.to)] + 1 == hops_[vertexAt(v)];
    };
    for (std::size_t i = 1; i < order_.size(); ++i) {
        const std::int32_t v = order_[i];
        double least = -1;
        for (const std::int32_t l : leaving_[vertexAt(v)]) {
            const FabricGraph::Link& link = graph_.links[vertexAt(l)];
            if (!onward(v, link)) continue;
            const double time = linkTime(link) + time_[vertexAt(link.to)];
            if (least < 0 || time < least) least = time;
        }
        time_[vertexAt(v)] = least;
    }
    for (std::int32_t v = 0; v < graph_.vertices; ++v) {
        begin_.push_back(static_cast<std::uint32_t>(ways_.size()));
        if (hops_[vertexAt(v)] <= 0) continue;
        for (const std::int32_t l : leaving_[vertexAt(v)]) {
            const FabricGraph::Link& link = graph_.links[vertexAt(l)];
            // Equal but for what summing in another order leaves.
            if (!onward(v, link) || linkTime(link) + time_[vertexAt(link.to)] > time_[vertexAt(v)] * (1 + 1e-12))
                continue;
            ways_.push_back(l);
            if (!manyPaths) break;
        }
    }
}

Expected<FabricRoutes> FabricRoutes::make(FabricGraph graph, bool manyPaths) {
    if (auto good = checkGraph(graph); !good) return Unexpected(std::move(good.error()));
    FabricRoutes routes;
    routes.graph_ = std::move(graph);
    const FabricGraph& its = routes.graph_;
    std::vector<std::vector<std::int32_t>> entering(vertexAt(its.vertices));
    routes.leaving_.resize(vertexAt(its.vertices));
    for (std::size_t l = 0; l < its.links.size(); ++l) {
        entering[vertexAt(its.links[l].to)].push_back(static_cast<std::int32_t>(l));
        routes.leaving_[vertexAt(its.links[l].from)].push_back(static_cast<std::int32_t>(l));
    }
    for (std::int32_t target = 0; target < its.endpoints; ++target) {
        routes.findWays(target, entering, manyPaths);
        if (static_cast<std::int64_t>(routes.ways_.size()) > most_graph_ways)
            return fail("network.graph", "the network has more than 67 million equal ways", "fewer",
                        "ask without many paths");
        for (std::int32_t source = 0; source < its.endpoints; ++source)
            if (routes.hops_[vertexAt(source)] < 0)
                return fail("network.graph",
                            fmt::format("no way leads from endpoint {} to endpoint {}", source, target),
                            "a network in which everyone reaches everyone", "draw the missing links");
    }
    routes.begin_.push_back(static_cast<std::uint32_t>(routes.ways_.size()));
    routes.leaving_.clear();
    return routes;
}

std::vector<std::int32_t> FabricRoutes::way(std::int32_t source, std::int32_t target, std::uint8_t hash) const {
    std::vector<std::int32_t> links;
    for (std::int32_t at = source; at != target;) {
        links.push_back(next(at, target, hash));
        at = graph_.links[vertexAt(links.back())].to;
    }
    return links;
}

}  // namespace orrery
