// Networks of any shape: as the regular ones where they are the same, every byte on every link, never quicker than the
// narrowest cut; links that share, and links that carry one message at a time.

#include "base/executor.h"
#include "base/random.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/cluster_view.h"
#include "simulation/cluster/cluster_run.h"
#include "simulation/network/closed_form.h"
#include "simulation/network/drawn_fabric.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <numeric>

using namespace orrery;

namespace {

constexpr TraceCollective graph_ops[] = {TraceCollective::AllReduce, TraceCollective::AllGather,
                                         TraceCollective::ReduceScatter, TraceCollective::AllToAll};

FabricDimension dimensionOf(FabricGraph graph, bool manyPaths = false) {
    FabricDimension made;
    made.size = graph.endpoints;
    auto routes = FabricRoutes::make(std::move(graph), manyPaths);
    if (!routes) qFatal("%s", toText(routes.error()).c_str());
    made.routes = std::make_shared<const FabricRoutes>(std::move(*routes));
    return made;
}

FabricGraph regularGraph(TopologyShape shape, std::int32_t n, double bandwidth, double latency) {
    FabricGraph graph{n, n, {}};
    if (shape == TopologyShape::Switch) {
        ++graph.vertices;
        for (std::int32_t i = 0; i < n; ++i) graph.join(i, n, bandwidth, latency);
        return graph;
    }
    // As a ring has them: the way on is found before the way back.
    const std::int32_t reach = shape == TopologyShape::Ring ? 2 : n;
    for (std::int32_t step = 1; step < reach; ++step)
        for (std::int32_t i = 0; i < n; ++i) graph.links.push_back({i, (i + step) % n, bandwidth, latency});
    if (shape == TopologyShape::Ring)
        for (std::int32_t i = 0; i < n; ++i) graph.links.push_back({i, (i + n - 1) % n, bandwidth, latency});
    return graph;
}

FabricGraph randomGraph(RandomStream& random) {
    const auto endpoints = static_cast<std::int32_t>(3 + random.below(6));
    FabricGraph graph{endpoints, endpoints + static_cast<std::int32_t>(random.below(5)), {}};
    const auto join = [&](std::int32_t a, std::int32_t b) {
        graph.join(a, b, 1e9 * static_cast<double>(1 + random.below(100)), static_cast<double>(random.below(3000)));
    };
    for (std::int32_t v = 1; v < graph.vertices; ++v)
        join(v, static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(v))));
    for (std::uint64_t more = random.below(8); more > 0; --more) {
        const auto a = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(graph.vertices)));
        const auto b = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(graph.vertices)));
        if (a != b) join(a, b);
    }
    return graph;
}

/// Fewest links between vertices, by Floyd and Warshall.
std::vector<std::vector<int>> hopsOf(const FabricGraph& graph) {
    const auto n = static_cast<std::size_t>(graph.vertices);
    std::vector<std::vector<int>> hops(n, std::vector<int>(n, 1 << 20));
    for (std::size_t v = 0; v < n; ++v) hops[v][v] = 0;
    for (const auto& link : graph.links)
        hops[static_cast<std::size_t>(link.from)][static_cast<std::size_t>(link.to)] = 1;
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) hops[i][j] = std::min(hops[i][j], hops[i][k] + hops[k][j]);
    return hops;
}

/// Seconds that the narrowest set of vertices needs to send what must leave it, whatever the algorithm.
double cutBound(const FabricGraph& graph, TraceCollective op, double bytes) {
    const auto n = static_cast<std::uint32_t>(graph.endpoints), all = static_cast<std::uint32_t>(graph.vertices);
    double most = 0;
    for (std::uint32_t set = 1; set < 1U << all; ++set) {
        const auto inside = static_cast<std::uint32_t>(std::popcount(set & ((1U << n) - 1)));
        if (inside == 0 || inside == n) continue;
        double leaves = 0;
        for (const auto& link : graph.links)
            if ((set >> link.from & 1U) != 0 && (set >> link.to & 1U) == 0) leaves += link.bandwidth;
        const double outside = n - inside;
        const double must = op == TraceCollective::AllReduce   ? bytes
                            : op == TraceCollective::AllGather ? bytes * inside
                            : op == TraceCollective::AllToAll  ? bytes * inside * outside / n
                                                               : bytes * outside / n;
        most = std::max(most, must / leaves);
    }
    return most;
}

ClusterJob collectiveJob(std::int64_t ranks, TraceCollective op, std::int64_t bytes) {
    TraceBuilder builder;
    TraceNode node;
    node.id = 1;
    node.work = TraceWork::Collective;
    node.collective = op;
    node.bytes = bytes;
    builder.add(node, "collective", {});
    ClusterJob job;
    job.traces.assign(static_cast<std::size_t>(ranks), std::make_shared<const ExecutionTrace>(*builder.finish("test")));
    return job;
}

ClusterOutcome ranOn(const ClusterSettings& settings, TraceCollective op, std::int64_t bytes, bool fold = true) {
    std::int64_t ranks = 1;
    for (const FabricDimension& one : settings.network.dimensions) ranks *= one.size;
    auto outcome = runCluster(collectiveJob(ranks, op, bytes), settings, false, {}, fold);
    if (!outcome) qFatal("%s", toText(outcome.error()).c_str());
    return std::move(*outcome);
}

SimTime endOf(const ClusterOutcome& outcome) {
    SimTime last = 0;
    for (const RankResult& rank : outcome.ranks) last = std::max(last, rank.finish);
    return last;
}

}  // namespace

class TstNetworkGraphs : public QObject {
    Q_OBJECT
private slots:
    void sameAsRegular();
    void bytesAndBounds();
    void copiesOfAGraph();
    void manyPathsSpread();
    void sharedLinkIsHalved();
    void fluidAgreesWithChunks();
    void fluidFolds();
    void useOverTimeAddsUp();
    void anyThreadCount();
    void drawnNetworks();
    void refused();
};

// A ring, a switch and a full connection drawn link by link: every rank ends at the same picosecond.
void TstNetworkGraphs::sameAsRegular() {
    RandomStream random(3);
    for (const TopologyShape shape : {TopologyShape::Ring, TopologyShape::Switch, TopologyShape::FullyConnected}) {
        for (int round = 0; round < 24; ++round) {
            const auto n = static_cast<std::int32_t>(2 + random.below(7));
            if (shape == TopologyShape::Ring && n == 2) continue;  // two links from one to the other
            const double bandwidth = 1e9 * static_cast<double>(1 + random.below(400)),
                         latency = static_cast<double>(random.below(2000));
            ClusterSettings s;
            s.network.congestion = round % 4 != 0;
            if (round % 3 == 2) s.network.carrying = LinkCarrying::Fluid;
            s.splits = 1 + static_cast<std::int64_t>(random.below(4));
            s.activeChunks = 1 + static_cast<std::int64_t>(random.below(3));
            s.endpointDelay = static_cast<double>(random.below(30));
            s.algorithms.fill({AlgorithmChoice{random.below(2) == 0 ? StepAlgorithm::Ring : StepAlgorithm::Direct, 0}});
            const TraceCollective op = graph_ops[random.below(4)];
            const auto bytes = static_cast<std::int64_t>(1 + random.below(1 << 22));
            s.network.dimensions = {{shape, n, bandwidth, latency}};
            const ClusterOutcome regular = ranOn(s, op, bytes, false);
            s.network.dimensions = {dimensionOf(regularGraph(shape, n, bandwidth, latency), round % 2 == 0)};
            const ClusterOutcome drawn = ranOn(s, op, bytes, false);
            for (std::size_t r = 0; r < regular.ranks.size(); ++r)
                QCOMPARE(drawn.ranks[r].finish, regular.ranks[r].finish);
        }
    }
}

// Random graphs: the links carry what is sent times the links of its way, and no run is quicker than the narrowest cut.
void TstNetworkGraphs::bytesAndBounds() {
    RandomStream random(20261123);
    for (int round = 0; round < 120; ++round) {
        const FabricGraph graph = randomGraph(random);
        const auto hops = hopsOf(graph);
        const std::int64_t n = graph.endpoints;
        ClusterSettings s;
        s.network.dimensions = {dimensionOf(graph, round % 2 == 0)};
        if (round % 3 == 0) s.network.carrying = LinkCarrying::Fluid;
        s.splits = 1 + static_cast<std::int64_t>(random.below(4));
        s.activeChunks = 1 + static_cast<std::int64_t>(random.below(4));
        const bool direct = random.below(2) == 0;
        s.algorithms.fill({AlgorithmChoice{direct ? StepAlgorithm::Direct : StepAlgorithm::Ring, 0}});
        const TraceCollective op = graph_ops[random.below(4)];
        const std::int64_t bytes = n * s.splits * static_cast<std::int64_t>(1 + random.below(100000));
        const ClusterOutcome outcome = ranOn(s, op, bytes);
        double expected = 0;
        for (std::int64_t a = 0; a < n; ++a)
            for (std::int64_t b = 0; b < n; ++b) {
                const double part =
                    op == TraceCollective::AllGather ? static_cast<double>(bytes) : static_cast<double>(bytes / n);
                double times = op == TraceCollective::AllReduce ? 2 : 1;
                if (!direct)
                    times *= b != (a + 1) % n                  ? 0
                             : op == TraceCollective::AllToAll ? static_cast<double>(n * (n - 1) / 2)
                                                               : static_cast<double>(n - 1);
                if (a != b) expected += times * part * hops[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
            }
        double carried = 0;
        for (std::size_t l = 0; l < outcome.links.size(); ++l) {
            carried += outcome.links[l].bytes;
            // Every hop is rounded to a picosecond by itself.
            const double busy = outcome.links[l].bytes / graph.links[l].bandwidth * 1e12;
            QVERIFY(std::abs(static_cast<double>(outcome.links[l].busy) - busy) <= 0.5 * 4096);
            QVERIFY(outcome.links[l].busy <= endOf(outcome) + 4096);
        }
        QVERIFY2(std::abs(carried - expected) <= 1e-9 * expected,
                 fmt::format("round {}: {} B carried, {} sent", round, carried, expected).c_str());
        const double bound = cutBound(graph, op, static_cast<double>(bytes)) * 1e12;
        QVERIFY2(static_cast<double>(endOf(outcome)) >= bound * (1 - 1e-9),
                 fmt::format("round {}: {} ps, bound {}", round, endOf(outcome), bound).c_str());
    }
}

// A graph inside switches: each group of devices has its own copy, and what it takes is what one graph takes alone.
void TstNetworkGraphs::copiesOfAGraph() {
    RandomStream random(17);
    for (int round = 0; round < 20; ++round) {
        const FabricGraph graph = randomGraph(random);
        for (const bool inner : {true, false}) {
            ClusterSettings s;
            s.network.dimensions = {dimensionOf(graph)};
            if (round % 2 == 0) s.network.carrying = LinkCarrying::Fluid;
            const TraceCollective op = graph_ops[random.below(4)];
            const SimTime alone = endOf(ranOn(s, op, 1 << 20));
            s.network.dimensions.insert(inner ? s.network.dimensions.end() : s.network.dimensions.begin(),
                                        FabricDimension{TopologyShape::Switch, 3, 100e9, 100});
            ClusterJob job = collectiveJob(3 * graph.endpoints, op, 1 << 20);
            ExecutionTrace within = *job.traces.front();
            within.nodes.front().dimensions = inner ? 1U : 2U;
            job.traces.assign(job.traces.size(), std::make_shared<const ExecutionTrace>(std::move(within)));
            const auto both = runCluster(job, s);
            QVERIFY(both.has_value());
            QCOMPARE(endOf(*both), alone);
        }
    }
}

// Two switches beside each other: with many paths both carry, with one only the first.
void TstNetworkGraphs::manyPathsSpread() {
    FabricGraph graph{16, 18, {}};
    for (std::int32_t i = 0; i < 16; ++i)
        for (const std::int32_t plane : {16, 17}) graph.join(i, plane, 50e9, 500);
    for (const bool many : {false, true}) {
        ClusterSettings s;
        s.network.dimensions = {dimensionOf(graph, many)};
        s.algorithms.fill({AlgorithmChoice{StepAlgorithm::Direct, 0}});
        const ClusterOutcome outcome = ranOn(s, TraceCollective::AllToAll, 16 << 20);
        std::size_t used = 0;
        for (const auto& link : outcome.links) used += link.bytes > 0 ? 1 : 0;
        QCOMPARE(used, many ? std::size_t{64} : std::size_t{32});
    }
}

// Two flows over one link get half of it each; when the shorter one ends, the other goes on alone.
void TstNetworkGraphs::sharedLinkIsHalved() {
    FabricGraph graph{4, 6, {}};  // 0 and 1 behind vertex 4, 2 and 3 behind 5
    graph.join(0, 4, 100e9, 100);
    graph.join(1, 4, 100e9, 100);
    graph.join(4, 5, 10e9, 100);
    graph.join(5, 2, 100e9, 100);
    graph.join(5, 3, 100e9, 100);
    FabricSettings settings{{dimensionOf(graph)}, true, LinkCarrying::Fluid};
    ClusterSettings s;
    s.network = settings;
    const auto send = [](std::int32_t to, std::int64_t bytes, bool receives) {
        TraceBuilder builder;
        TraceNode node;
        node.id = 1;
        node.work = receives ? TraceWork::Receive : TraceWork::Send;
        node.peer = to;
        node.bytes = bytes;
        builder.add(node, "message", {});
        return std::make_shared<const ExecutionTrace>(*builder.finish("test"));
    };
    ClusterJob job;
    job.traces = {send(2, 1'000'000, false), send(3, 3'000'000, false), send(0, 1'000'000, true),
                  send(1, 3'000'000, true)};
    const auto outcome = runCluster(job, s);
    QVERIFY(outcome.has_value());
    // 1 MB at 5 GB/s is 200 us; then 2 MB at 10 GB/s another 200 us; three links of 100 ns.
    QCOMPARE(outcome->ranks[2].finish, SimTime{200'000'000 + 300'000});
    QCOMPARE(outcome->ranks[3].finish, SimTime{400'000'000 + 300'000});
    // The middle link is busy all the time with 4 MB.
    QCOMPARE(outcome->links[4].bytes, 4e6);
    QCOMPARE(outcome->links[4].busy, SimTime{400'000'000});
}

// Large messages in many chunks: links that store one chunk at a time keep as busy as shared ones, but for filling up.
void TstNetworkGraphs::fluidAgreesWithChunks() {
    for (const TopologyShape shape : {TopologyShape::Ring, TopologyShape::Switch}) {
        for (const TraceCollective op : {TraceCollective::AllReduce, TraceCollective::AllGather}) {
            ClusterSettings s;
            s.network.dimensions = {{shape, 8, 50e9, 100}};
            s.splits = s.activeChunks = 16;
            constexpr std::int64_t bytes = 256 << 20;
            const auto stored = static_cast<double>(endOf(ranOn(s, op, bytes)));
            s.network.carrying = LinkCarrying::Fluid;
            s.splits = s.activeChunks = 1;
            const auto fluid = static_cast<double>(endOf(ranOn(s, op, bytes)));
            const double ideal = (op == TraceCollective::AllReduce ? 14 / 8.0 : 7) * bytes / 50e9 * 1e12;
            QVERIFY2(fluid >= ideal && fluid < ideal * 1.001, fmt::format("{} against {}", fluid, ideal).c_str());
            QVERIFY2(stored >= fluid * 0.999 && stored < fluid * 1.1,
                     fmt::format("{} stored, {} fluid", stored, fluid).c_str());
        }
    }
}

// Equal ranks, run once and run all, share links alike.
void TstNetworkGraphs::fluidFolds() {
    RandomStream random(5);
    for (int round = 0; round < 40; ++round) {
        ClusterSettings s;
        s.network.carrying = LinkCarrying::Fluid;
        for (std::size_t d = 0; d <= random.below(2); ++d) {
            constexpr TopologyShape shapes[] = {TopologyShape::Ring, TopologyShape::Switch,
                                                TopologyShape::FullyConnected};
            s.network.dimensions.push_back({shapes[random.below(3)], static_cast<std::int64_t>(2 + random.below(4)),
                                            1e9 * static_cast<double>(1 + random.below(50)),
                                            static_cast<double>(random.below(1000))});
        }
        s.algorithms.fill({AlgorithmChoice{random.below(2) == 0 ? StepAlgorithm::Ring : StepAlgorithm::Direct, 0}});
        s.splits = 1 + static_cast<std::int64_t>(random.below(3));
        s.activeChunks = 1 + static_cast<std::int64_t>(random.below(3));
        const TraceCollective op = graph_ops[random.below(4)];
        const auto once = ranOn(s, op, 1 << 20, true), all = ranOn(s, op, 1 << 20, false);
        for (std::size_t r = 0; r < all.ranks.size(); ++r)
            QVERIFY2(std::abs(once.ranks[r].finish - all.ranks[r].finish) <= 1000,
                     fmt::format("round {}: {} and {}", round, once.ranks[r].finish, all.ranks[r].finish).c_str());
    }
}

// Busy time of every link, span by span, is its busy time.
void TstNetworkGraphs::useOverTimeAddsUp() {
    RandomStream random(23);
    for (const LinkCarrying carrying : {LinkCarrying::StoreAndForward, LinkCarrying::Fluid}) {
        ClusterSettings s;
        s.network.dimensions = {dimensionOf(randomGraph(random))};
        s.network.carrying = carrying;
        s.network.useOverTime = true;
        const ClusterOutcome outcome = ranOn(s, TraceCollective::AllReduce, 8 << 20);
        QVERIFY(outcome.linkUse.wanted());
        for (std::size_t l = 0; l < outcome.links.size(); ++l) {
            double busy = 0;
            for (std::size_t i = 0; i < LinkUseOverTime::spans; ++i) {
                const double one = outcome.linkUse.busy(l, i);
                QVERIFY(one <= static_cast<double>(outcome.linkUse.width()) * 1.000001);
                busy += one;
            }
            QVERIFY2(std::abs(busy - static_cast<double>(outcome.links[l].busy)) < 1000,
                     fmt::format("{} and {}", busy, outcome.links[l].busy).c_str());
        }
    }
}

// Runs beside each other give the bytes of runs one after the other.
void TstNetworkGraphs::anyThreadCount() {
    std::vector<ClusterSettings> cases;
    RandomStream random(29);
    for (int i = 0; i < 12; ++i) {
        ClusterSettings s;
        s.network.dimensions = {dimensionOf(randomGraph(random), true)};
        if (i % 2 == 0) s.network.carrying = LinkCarrying::Fluid;
        cases.push_back(s);
    }
    const auto runAll = [&](Executor& executor) {
        std::vector<ClusterOutcome> out(cases.size());
        executor.forEach(cases.size(),
                         [&](std::size_t i) { out[i] = ranOn(cases[i], TraceCollective::AllToAll, 1 << 20); });
        return out;
    };
    const auto serial = makeSerialExecutor(), threads = makeThreadExecutor(4);
    const auto one = runAll(*serial), many = runAll(*threads);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        QCOMPARE(one[i].events, many[i].events);
        for (std::size_t r = 0; r < one[i].ranks.size(); ++r) QCOMPARE(one[i].ranks[r].finish, many[i].ranks[r].finish);
    }
}

// Networks of designs: every device is there, links drawn one by one keep their names, and no sum among all is quicker
// than the bound of the wires.
void TstNetworkGraphs::drawnNetworks() {
    int graphs = 0;
    for (const char* preset : {"dgx-1-v100", "dgx-h100-x2", "tpu-v4-cube", "dragonfly-a100"}) {
        const auto found = loadHardware(preset);
        QVERIFY2(found.has_value(), preset);
        const auto view = clusterView(found->hardware);
        QVERIFY2(view.has_value(), preset);
        const DeviceGroup& group = view->groups.front();
        const auto fabric = drawnFabric(group.tiers);
        QVERIFY2(fabric.has_value(), fabric ? preset : toText(fabric.error()).c_str());
        std::int64_t devices = 1;
        for (const FabricDimension& one : fabric->dimensions) {
            devices *= one.size;
            graphs += one.routes ? 1 : 0;
        }
        QCOMPARE(devices, group.count);
        for (const NetworkTier& tier : group.tiers) {
            QVERIFY2(tier.stated || tier.links || tier.source == TierSource::OwnLinks, preset);
            if (!tier.links) continue;
            QCOMPARE(tier.links->paths.size(), tier.links->graph.edges.size());
            for (const std::string& path : tier.links->paths) {
                const std::string below = path.substr(path.find('/') + 1);
                QVERIFY2(findComponent(found->hardware.root, below).has_value(), path.c_str());
            }
        }
        const ClosedFormNetwork wires(group.tiers, wiresAlone());
        for (const LinkCarrying carrying : {LinkCarrying::StoreAndForward, LinkCarrying::Fluid}) {
            ClusterSettings s;
            s.network = *fabric;
            s.network.carrying = carrying;
            s.splits = s.activeChunks = 2;
            const double seconds = static_cast<double>(endOf(ranOn(s, TraceCollective::AllReduce, 8 << 20))) * 1e-12;
            const auto price =
                wires.price({CollectiveOp::AllReduce, 8 << 20, communicator(group.tiers, group.count, 1)});
            QVERIFY2(price.has_value(), preset);
            QVERIFY2(seconds >= price->low * (1 - 1e-9),
                     fmt::format("{}: {} and {}", preset, seconds, price->low).c_str());
        }
    }
    QVERIFY(graphs >= 3);
}

void TstNetworkGraphs::refused() {
    const auto codeOf = [](const FabricGraph& graph) {
        const auto routes = FabricRoutes::make(graph, true);
        return routes ? std::string() : routes.error().message;
    };
    FabricGraph apart{3, 3, {}};
    apart.join(0, 1, 1e9, 0);
    QCOMPARE(codeOf(apart), std::string("no way leads from endpoint 2 to endpoint 0"));
    FabricGraph dead = apart;
    dead.join(1, 2, 0, 0);
    QVERIFY(codeOf(dead).find("from 1 to 2 at 0 B/s") != std::string::npos);
    FabricGraph oneWay = apart;
    oneWay.links.push_back({1, 2, 1e9, 0});
    QCOMPARE(codeOf(oneWay), std::string("no way leads from endpoint 2 to endpoint 0"));
}

QTEST_GUILESS_MAIN(TstNetworkGraphs)
#include "tst_network_graphs.moc"
