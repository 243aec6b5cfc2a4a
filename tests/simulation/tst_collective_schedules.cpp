// Collectives that are more than rings: sums in switches against their closed form, schedules found for irregular
// links, orders of dimensions that keep loads even.

#include "base/random.h"
#include "simulation/cluster/cluster_run.h"
#include "simulation/network/synthesis.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <map>
#include <set>

using namespace orrery;

namespace {

constexpr TraceCollective summed_ops[] = {TraceCollective::AllReduce, TraceCollective::AllGather,
                                          TraceCollective::ReduceScatter};

FabricGraph meshGraph(std::int32_t rows, std::int32_t columns, double bandwidth = 50e9, double latency = 500) {
    FabricGraph graph{rows * columns, rows * columns, {}};
    for (std::int32_t r = 0; r < rows; ++r)
        for (std::int32_t c = 0; c < columns; ++c) {
            if (c + 1 < columns) graph.join(r * columns + c, r * columns + c + 1, bandwidth, latency);
            if (r + 1 < rows) graph.join(r * columns + c, (r + 1) * columns + c, bandwidth, latency);
        }
    return graph;
}

FabricGraph directGraph(RandomStream& random) {
    const auto n = static_cast<std::int32_t>(2 + random.below(9));
    FabricGraph graph{n, n, {}};
    std::set<std::pair<std::int32_t, std::int32_t>> joined;
    const auto join = [&](std::int32_t a, std::int32_t b) {
        if (!joined.insert(std::minmax(a, b)).second) return;
        graph.join(a, b, 1e9 * static_cast<double>(1 + random.below(100)), static_cast<double>(random.below(3000)));
    };
    for (std::int32_t v = 1; v < n; ++v)
        join(v, static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(v))));
    for (std::uint64_t more = random.below(10); more > 0; --more) {
        const auto a = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(n)));
        const auto b = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(n)));
        if (a != b) join(a, b);
    }
    return graph;
}

SimTime scheduledEnd(const ClusterSettings& settings, TraceCollective op, std::int64_t bytes, bool fold = true,
                     ClusterOutcome* whole = nullptr) {
    std::int64_t ranks = 1;
    for (const FabricDimension& one : settings.network.dimensions) ranks *= one.size;
    TraceBuilder builder;
    TraceNode node;
    node.id = 1;
    node.work = TraceWork::Collective;
    node.collective = op;
    node.bytes = bytes;
    builder.add(node, "collective", {});
    ClusterJob job;
    job.traces.assign(static_cast<std::size_t>(ranks), std::make_shared<const ExecutionTrace>(*builder.finish("test")));
    auto outcome = runCluster(std::move(job), settings, false, {}, fold);
    if (!outcome) qFatal("%s", toText(outcome.error()).c_str());
    SimTime last = 0;
    for (const RankResult& rank : outcome->ranks) last = std::max(last, rank.finish);
    if (whole) *whole = std::move(*outcome);
    return last;
}

FabricDimension drawnDimension(const FabricGraph& graph) {
    FabricDimension made;
    made.size = graph.endpoints;
    made.routes = std::make_shared<const FabricRoutes>(*FabricRoutes::make(graph, false));
    return made;
}

/// Every link at most one piece at a time; whoever sends has all that must be in it; everyone ends with everything.
void checkSchedule(const FabricGraph& graph, const SynthesisedSchedule& schedule, double bytes, bool sums) {
    const auto n = static_cast<std::size_t>(graph.endpoints);
    const auto all = n * static_cast<std::size_t>(schedule.pieces);
    std::map<std::int32_t, std::vector<std::pair<SimTime, SimTime>>> busy;
    std::vector<std::vector<SimTime>> last(n, std::vector<SimTime>(all, -1));   // when a piece comes last
    std::vector<std::vector<SimTime>> first(n, std::vector<SimTime>(all, -1));  // when it first leaves
    std::vector<std::vector<int>> left(n, std::vector<int>(all, 0)), come(n, std::vector<int>(all, 0));
    for (const SynthesisedSend& send : schedule.sends) {
        const auto& link = graph.links[static_cast<std::size_t>(send.link)];
        const auto from = static_cast<std::size_t>(link.from), to = static_cast<std::size_t>(link.to);
        const auto piece = static_cast<std::size_t>(send.piece);
        const double serial = bytes / link.bandwidth * 1e12;
        QVERIFY(std::abs(static_cast<double>(send.end - send.begin) - serial - link.latency * 1000) < 2);
        const SimTime taken = sums ? send.end - static_cast<SimTime>(serial) : send.begin;
        busy[send.link].emplace_back(taken, taken + static_cast<SimTime>(serial));
        last[to][piece] = std::max(last[to][piece], send.end);
        if (first[from][piece] < 0 || send.begin < first[from][piece]) first[from][piece] = send.begin;
        ++left[from][piece];
        ++come[to][piece];
    }
    for (auto& [link, spans] : busy) {
        std::sort(spans.begin(), spans.end());
        for (std::size_t i = 1; i < spans.size(); ++i) QVERIFY(spans[i].first + 2 >= spans[i - 1].second);
    }
    for (std::size_t m = 0; m < n; ++m)
        for (std::size_t p = 0; p < all; ++p) {
            const bool own = p / static_cast<std::size_t>(schedule.pieces) == m;
            if (left[m][p] > 0 && come[m][p] > 0) QVERIFY(first[m][p] >= last[m][p]);
            // Of a gathering each piece comes once, of a sum it leaves everyone but its owner once.
            QCOMPARE((sums ? left : come)[m][p], own ? 0 : 1);
            if (!sums && left[m][p] > 0) QVERIFY(own || come[m][p] == 1);
        }
}

}  // namespace

class TstCollectiveSchedules : public QObject {
    Q_OBJECT
private slots:
    void sumsInTheSwitch();
    void switchesFold();
    void partsOfASwitch();
    void switchBeatsRings();
    void schedulesAreCausal();
    void schedulesBeatRings();
    void schedulesRun();
    void themisEvensLoads();
    void refused();
};

// One chunk goes up, is summed, and comes down: 2 (latency + bytes ÷ bandwidth). Of chunks that follow each other all
// but the first hide.
void TstCollectiveSchedules::sumsInTheSwitch() {
    ClusterSettings s;
    s.network.dimensions = {{TopologyShape::Switch, 8, 100e9, 500}};
    s.algorithms.fill({AlgorithmChoice{StepAlgorithm::InNetwork, 0}});
    constexpr std::int64_t bytes = 8'000'000;
    constexpr SimTime latency = 500'000, serial = 80'000'000;
    for (const bool congestion : {true, false}) {
        for (const LinkCarrying carrying : {LinkCarrying::StoreAndForward, LinkCarrying::Fluid}) {
            s.network.congestion = congestion;
            s.network.carrying = carrying;
            s.splits = s.activeChunks = 1;
            QCOMPARE(scheduledEnd(s, TraceCollective::AllReduce, bytes, false), 2 * (latency + serial));
            // Up with all, down with an eighth.
            QCOMPARE(scheduledEnd(s, TraceCollective::ReduceScatter, bytes, false), 2 * latency + serial + serial / 8);
            // Up with a shard, down with seven; without congestion these come beside each other.
            const SimTime gathered = scheduledEnd(s, TraceCollective::AllGather, bytes, false);
            QCOMPARE(gathered, 2 * latency + serial + (congestion ? 7 : 1) * serial);
        }
    }
    s.network.congestion = true;
    s.network.carrying = LinkCarrying::StoreAndForward;
    s.splits = s.activeChunks = 16;
    ClusterOutcome outcome;
    const SimTime piped = scheduledEnd(s, TraceCollective::AllReduce, bytes, false, &outcome);
    QCOMPARE(piped, 2 * latency + serial + serial / 16);
    for (const auto& link : outcome.links) QCOMPARE(link.bytes, double(bytes));
    s.endpointDelay = 100;
    QCOMPARE(scheduledEnd(s, TraceCollective::AllReduce, bytes, false), piped + 200'000);
}

// One rank for all, and hierarchies with a switch inside.
void TstCollectiveSchedules::switchesFold() {
    RandomStream random(41);
    for (int round = 0; round < 40; ++round) {
        ClusterSettings s;
        s.network.dimensions = {{TopologyShape::Switch, static_cast<std::int64_t>(2 + random.below(7)), 400e9, 300}};
        if (round % 2 == 0)
            s.network.dimensions.push_back(
                {TopologyShape::Switch, static_cast<std::int64_t>(2 + random.below(3)), 50e9, 2000});
        if (round % 3 == 0) s.network.carrying = LinkCarrying::Fluid;
        s.network.congestion = round % 5 != 0;
        s.algorithms.fill({AlgorithmChoice{StepAlgorithm::InNetwork, 0}, AlgorithmChoice{}});
        s.splits = 1 + static_cast<std::int64_t>(random.below(4));
        s.activeChunks = 1 + static_cast<std::int64_t>(random.below(4));
        const TraceCollective op = summed_ops[random.below(3)];
        const SimTime once = scheduledEnd(s, op, 1 << 20, true), all = scheduledEnd(s, op, 1 << 20, false);
        QVERIFY2(std::abs(once - all) <= 1000, fmt::format("round {}: {} and {}", round, once, all).c_str());
    }
}

// Ranks of one switch that are not all of it take as long as a switch of so many; those that lie apart go in rings.
void TstCollectiveSchedules::partsOfASwitch() {
    const auto end = [](const ClusterSettings& s, const std::vector<std::vector<std::int32_t>>& groups,
                        TraceCollective op, bool fold) {
        ClusterJob job;
        std::int64_t ranks = 1;
        for (const FabricDimension& one : s.network.dimensions) ranks *= one.size;
        for (std::size_t g = 0; g < groups.size(); ++g)
            job.groups.push_back({.name = fmt::format("part {}", g), .members = groups[g]});
        const auto traceOf = [&](std::size_t g) {
            TraceBuilder builder;
            TraceNode node;
            node.id = 1;
            node.work = TraceWork::Collective;
            node.collective = op;
            node.bytes = 8'000'000;
            node.group = builder.groupNamed(fmt::format("part {}", g));
            builder.add(node, "collective", {});
            return std::make_shared<const ExecutionTrace>(*builder.finish("part"));
        };
        for (std::int32_t r = 0; r < ranks; ++r) {
            std::size_t mine = groups.size();
            for (std::size_t g = 0; g < groups.size(); ++g)
                if (std::find(groups[g].begin(), groups[g].end(), r) != groups[g].end()) mine = g;
            if (fold) {
                job.slotOf.push_back(static_cast<std::int32_t>(mine));
                if (job.traces.size() == mine) job.traces.push_back(traceOf(mine));
            } else {
                job.traces.push_back(mine < groups.size() ? traceOf(mine) : std::make_shared<const ExecutionTrace>());
            }
        }
        auto outcome = runCluster(std::move(job), s, false);
        if (!outcome) qFatal("%s", toText(outcome.error()).c_str());
        SimTime last = 0;
        for (const RankResult& rank : outcome->ranks) last = std::max(last, rank.finish);
        return last;
    };
    for (const TraceCollective op : summed_ops) {
        for (const LinkCarrying carrying : {LinkCarrying::StoreAndForward, LinkCarrying::Fluid}) {
            ClusterSettings s;
            s.network.carrying = carrying;
            s.splits = s.activeChunks = 4;
            s.algorithms.fill({AlgorithmChoice{StepAlgorithm::InNetwork, 0}});
            s.network.dimensions = {{TopologyShape::Switch, 4, 100e9, 500}};
            const SimTime alone = scheduledEnd(s, op, 8'000'000, false);
            s.network.dimensions = {{TopologyShape::Switch, 8, 100e9, 500}};
            const std::vector<std::vector<std::int32_t>> halves{{0, 2, 4, 6}, {1, 3, 5, 7}};
            QCOMPARE(end(s, halves, op, false), alone);
            QVERIFY(std::abs(end(s, halves, op, true) - alone) <= 1000);
            // Three of eight, and the others idle.
            s.network.dimensions = {{TopologyShape::Switch, 3, 100e9, 500}};
            const SimTime three = scheduledEnd(s, op, 8'000'000, false);
            s.network.dimensions = {{TopologyShape::Switch, 8, 100e9, 500}};
            QCOMPARE(end(s, {{1, 4, 7}}, op, false), three);
            // Over both dimensions: as rings, whatever sums in switches.
            s.network.dimensions = {{TopologyShape::Switch, 4, 100e9, 500}, {TopologyShape::Switch, 2, 50e9, 1000}};
            const SimTime apart = end(s, {{0, 5, 2, 7}}, op, false);
            s.algorithms.fill({AlgorithmChoice{}});
            QCOMPARE(apart, end(s, {{0, 5, 2, 7}}, op, false));
        }
    }
}

// Published for 32 GPUs: sums in the switch reach 1.05 to 1.31 times the bus bandwidth of rings, more for longer
// messages (SimAI's ns-3 results). Here: more than rings for every size, and never more than their 2(n-1)/n.
void TstCollectiveSchedules::switchBeatsRings() {
    for (std::int64_t bytes = 1 << 20; bytes <= 512 << 20; bytes *= 8) {
        ClusterSettings s;
        s.network.dimensions = {{TopologyShape::Switch, 8, 450e9, 500}};
        s.splits = s.activeChunks = 16;
        const auto ring = static_cast<double>(scheduledEnd(s, TraceCollective::AllReduce, bytes));
        s.algorithms.fill({AlgorithmChoice{StepAlgorithm::InNetwork, 0}});
        const auto summed = static_cast<double>(scheduledEnd(s, TraceCollective::AllReduce, bytes));
        QVERIFY2(summed < ring, fmt::format("{} B: {} and {}", bytes, summed, ring).c_str());
        if (bytes > 100 << 20) QVERIFY(ring / summed < 1.75 * 1.1 && ring / summed > 1.5);
    }
}

void TstCollectiveSchedules::schedulesAreCausal() {
    RandomStream random(43);
    for (int round = 0; round < 60; ++round) {
        const FabricGraph graph = directGraph(random);
        const double bytes = 1000 * static_cast<double>(1 + random.below(1000));
        const auto pieces = static_cast<std::int32_t>(1 + random.below(4));
        const auto gather = synthesiseAllGather(graph, bytes, pieces, 7),
                   again = synthesiseAllGather(graph, bytes, pieces, 7);
        QVERIFY2(gather && again, gather ? "" : toText(gather.error()).c_str());
        checkSchedule(graph, *gather, bytes, false);
        QCOMPARE(gather->end, again->end);
        QCOMPARE(gather->sends.size(), again->sends.size());
        const auto scatter = synthesiseReduceScatter(graph, bytes, pieces, 7);
        QVERIFY(scatter.has_value());
        checkSchedule(graph, *scatter, bytes, true);
        // What enters the member with the narrowest way in.
        double most = 0;
        for (std::int32_t m = 0; m < graph.endpoints; ++m) {
            double enters = 0;
            for (const auto& link : graph.links) enters += link.to == m ? link.bandwidth : 0;
            most = std::max(most, (graph.endpoints - 1) * pieces * bytes / enters);
        }
        QVERIFY(static_cast<double>(gather->end) >= most * 1e12 * (1 - 1e-9));
    }
}

// A mesh of 4 × 4: a ring uses few of its links.
void TstCollectiveSchedules::schedulesBeatRings() {
    for (const TraceCollective op : summed_ops) {
        ClusterSettings s;
        s.network.dimensions = {drawnDimension(meshGraph(4, 4))};
        s.splits = s.activeChunks = 4;
        const auto bytes = op == TraceCollective::AllGather ? std::int64_t{1} << 20 : std::int64_t{16} << 20;
        const auto ring = static_cast<double>(scheduledEnd(s, op, bytes));
        s.algorithms.fill({AlgorithmChoice{StepAlgorithm::Synthesised, 0}});
        s.splits = s.activeChunks = 1;
        const auto found = static_cast<double>(scheduledEnd(s, op, bytes));
        // A corner has two links in: of 15 shards no more than two at a time.
        const double bound = (op == TraceCollective::AllReduce ? 2 : 1) * 15.0 * (1 << 20) / (2 * 50e9) * 1e12;
        QVERIFY2(found < 0.75 * ring && found >= bound,
                 fmt::format("{}: {} found, {} ring, {} bound", toText(op), found, ring, bound).c_str());
        qInfo("%s", fmt::format("{}: found {:.2f} of the ring's, {:.2f} of the bound", toText(op), found / ring,
                                found / bound)
                        .c_str());
    }
}

// As found, so run: over links that store and forward the run takes the schedule's time, and carries its bytes.
void TstCollectiveSchedules::schedulesRun() {
    RandomStream random(47);
    for (int round = 0; round < 40; ++round) {
        const FabricGraph graph = directGraph(random);
        ClusterSettings s;
        s.network.dimensions = {drawnDimension(graph)};
        s.algorithms.fill({AlgorithmChoice{StepAlgorithm::Synthesised, 0}});
        const std::int64_t piece = 1000 + static_cast<std::int64_t>(random.below(100000));
        const auto found = synthesiseAllGather(graph, static_cast<double>(piece), synthesised_pieces, s.seed);
        QVERIFY(found.has_value());
        ClusterOutcome outcome;
        const SimTime run = scheduledEnd(s, TraceCollective::AllGather, piece * synthesised_pieces, true, &outcome);
        QVERIFY2(run <= found->end + 1000, fmt::format("round {}: {} run, {} found", round, run, found->end).c_str());
        double carried = 0;
        for (const auto& link : outcome.links) carried += link.bytes;
        const double n = graph.endpoints;
        QCOMPARE(carried, n * (n - 1) * static_cast<double>(piece * synthesised_pieces));
        // Chunks beside each other, summed and gathered, with delays.
        s.splits = 3;
        s.activeChunks = 2;
        s.endpointDelay = 20;
        s.memoryBandwidth = 1e12;
        scheduledEnd(s, TraceCollective::AllReduce, 1 << 20, true, &outcome);
        carried = 0;
        for (const auto& link : outcome.links) carried += link.bytes;
        QVERIFY(carried >= 2 * (n - 1) * (1 << 20) * 0.999 && carried < 2 * (n - 1) * (1 << 20) * 1.01);
    }
}

// Two dimensions of the same speed: inner ones first, the inner one carries eight times as much; with Themis both do.
void TstCollectiveSchedules::themisEvensLoads() {
    ClusterSettings s;
    s.network.dimensions = {{TopologyShape::Switch, 8, 50e9, 500}, {TopologyShape::Switch, 8, 50e9, 500}};
    s.splits = s.activeChunks = 64;
    for (const TraceCollective op : {TraceCollective::AllReduce, TraceCollective::ReduceScatter}) {
        SimTime times[2] = {};
        for (const DimensionOrder order : {DimensionOrder::Ascending, DimensionOrder::Themis}) {
            s.dimensionOrder = order;
            ClusterOutcome outcome;
            SimTime& time = times[order == DimensionOrder::Themis ? 1 : 0];
            time = scheduledEnd(s, op, 256 << 20, true, &outcome);
            // Of the slot that stands for all: up and down of the inner, then of the outer dimension.
            const double ratio = outcome.links[0].bytes / outcome.links[2].bytes;
            QVERIFY2(order == DimensionOrder::Ascending ? std::abs(ratio - 8) < 0.1 : std::abs(ratio - 1) < 0.1,
                     fmt::format("{}", ratio).c_str());
        }
        QVERIFY2(static_cast<double>(times[1]) < 0.7 * static_cast<double>(times[0]),
                 fmt::format("{} and {}", times[0], times[1]).c_str());
    }
}

void TstCollectiveSchedules::refused() {
    const auto messageOf = [](const FabricDimension& dimension, StepAlgorithm algorithm, TraceCollective op) {
        ClusterSettings s;
        s.network.dimensions = {dimension};
        s.algorithms.fill({AlgorithmChoice{algorithm, 0}});
        TraceBuilder builder;
        TraceNode node;
        node.id = 1;
        node.work = TraceWork::Collective;
        node.collective = op;
        node.bytes = 1000;
        builder.add(node, "collective", {});
        ClusterJob job;
        job.traces.assign(static_cast<std::size_t>(dimension.size),
                          std::make_shared<const ExecutionTrace>(*builder.finish("test")));
        const auto outcome = runCluster(std::move(job), s);
        return outcome ? std::string() : outcome.error().code;
    };
    const FabricDimension ring{TopologyShape::Ring, 4, 1e9, 0}, plain{TopologyShape::Switch, 4, 1e9, 0};
    QCOMPARE(messageOf(ring, StepAlgorithm::InNetwork, TraceCollective::AllReduce), std::string("network.algorithm"));
    QCOMPARE(messageOf(plain, StepAlgorithm::InNetwork, TraceCollective::AllToAll), std::string("network.algorithm"));
    QCOMPARE(messageOf(plain, StepAlgorithm::Synthesised, TraceCollective::AllGather),
             std::string("network.synthesis"));
    QCOMPARE(messageOf(ring, StepAlgorithm::Synthesised, TraceCollective::AllToAll), std::string("network.algorithm"));
}

QTEST_GUILESS_MAIN(TstCollectiveSchedules)
#include "tst_collective_schedules.moc"
