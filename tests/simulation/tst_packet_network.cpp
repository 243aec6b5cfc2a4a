// Packets: one flow takes its closed form, incast is fair and pauses what feeds it, nothing is lost, and long messages
// take what fluid links give them.

#include "simulation/cluster/cluster_run.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <cmath>

using namespace orrery;

namespace {

/// Every rank sends so many bytes to rank 0.
ClusterOutcome incast(ClusterSettings settings, std::int64_t senders, std::int64_t bytes) {
    ClusterJob job;
    std::int64_t ranks = 1;
    for (const FabricDimension& one : settings.network.dimensions) ranks *= one.size;
    for (std::int64_t r = 0; r < ranks; ++r) {
        TraceBuilder builder;
        TraceNode node;
        node.bytes = bytes;
        for (std::int64_t s = 1; s <= senders; ++s) {
            if (r != 0 && r != s) continue;
            node.id = static_cast<std::uint64_t>(s);
            node.work = r == 0 ? TraceWork::Receive : TraceWork::Send;
            node.peer = static_cast<std::int32_t>(r == 0 ? s : 0);
            builder.add(node, "message", {});
        }
        job.traces.push_back(std::make_shared<const ExecutionTrace>(*builder.finish("test")));
    }
    auto outcome = runCluster(std::move(job), settings);
    if (!outcome) qFatal("%s", toText(outcome.error()).c_str());
    return std::move(*outcome);
}

ClusterSettings packetSettings(std::int64_t ranks, double bandwidth, double latency) {
    ClusterSettings s;
    s.network.dimensions = {{TopologyShape::Switch, ranks, bandwidth, latency}};
    s.network.carrying = LinkCarrying::Packets;
    return s;
}

SimTime lastEnd(const ClusterOutcome& outcome) {
    SimTime last = 0;
    for (const RankResult& rank : outcome.ranks) last = std::max(last, rank.finish);
    return last;
}

ClusterOutcome gathered(const ClusterSettings& settings, TraceCollective op, std::int64_t bytes) {
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
    auto outcome = runCluster(std::move(job), settings);
    if (!outcome) qFatal("%s", toText(outcome.error()).c_str());
    return std::move(*outcome);
}

}  // namespace

class TstPacketNetwork : public QObject {
    Q_OBJECT
private slots:
    void oneFlow();
    void incastPausesAndShares();
    void ratesKeepQueuesShort();
    void collectivesAsFluid();
    void manyWays();
    void sameForSameSeed();
};

// 100 packets over two links: the first is stored once, the others follow.
void TstPacketNetwork::oneFlow() {
    const ClusterOutcome outcome = incast(packetSettings(2, 100e9, 500), 1, 409'600);
    const double packet = (4096 + 82) / 100.0;  // ns
    QCOMPARE(outcome.packets.packets, std::uint64_t{100});
    QVERIFY(std::abs(static_cast<double>(outcome.ranks[0].finish) / 1000 - (101 * packet + 1000)) < 1);
    QCOMPARE(outcome.links[0 * 2 + 1].bytes, 100.0 * 4178);
    QCOMPARE(outcome.links[1 * 2 + 0].bytes, 100.0 * 4178);
}

// Fifteen to one: the last link carries everything without a gap, whoever feeds it is paused, no sender is ahead by
// more than buffers hold.
void TstPacketNetwork::incastPausesAndShares() {
    ClusterSettings s = packetSettings(16, 50e9, 500);
    s.network.packets.rateControl = false;
    constexpr std::int64_t bytes = 8 << 20;
    const ClusterOutcome outcome = incast(s, 15, bytes);
    const double wire = 15.0 * bytes / 4096 * 4178 / 50.0;  // ns
    QVERIFY(outcome.packets.pauses > 15);
    QCOMPARE(outcome.packets.slowDowns, std::uint64_t{0});
    QCOMPARE(outcome.links[1].bytes, 15.0 * bytes / 4096 * 4178);
    const double end = static_cast<double>(outcome.ranks[0].finish) / 1000;
    QVERIFY2(end >= wire && end < wire * 1.01 + 2000, fmt::format("{} against {}", end, wire).c_str());
    double first = wire;
    for (std::size_t r = 1; r < 16; ++r) first = std::min(first, static_cast<double>(outcome.ranks[r].finish) / 1000);
    // Nobody is further ahead than what the switch holds of all before it pauses them.
    QVERIFY2(first > wire - 15 * s.network.packets.pauseAt, fmt::format("{} of {}", first, wire).c_str());
    // Without pauses the same time, and none of them.
    s.network.packets.pauses = false;
    const ClusterOutcome endless = incast(s, 15, bytes);
    QCOMPARE(endless.packets.pauses, std::uint64_t{0});
    QVERIFY(std::abs(static_cast<double>(endless.ranks[0].finish - outcome.ranks[0].finish)) < 1e7);
}

// Marks slow senders down before buffers fill: fewer pauses, and the link stays nearly as busy.
void TstPacketNetwork::ratesKeepQueuesShort() {
    ClusterSettings s = packetSettings(5, 12.5e9, 500);
    constexpr std::int64_t bytes = 32 << 20;
    const ClusterOutcome slowed = incast(s, 4, bytes);
    s.network.packets.rateControl = false;
    const ClusterOutcome paused = incast(s, 4, bytes);
    QVERIFY(slowed.packets.slowDowns > 4);
    QVERIFY2(slowed.packets.pauses < paused.packets.pauses,
             fmt::format("{} and {}", slowed.packets.pauses, paused.packets.pauses).c_str());
    const double wire = 4.0 * bytes / 4096 * 4178 / 12.5;
    const double end = static_cast<double>(slowed.ranks[0].finish) / 1000;
    QVERIFY2(end >= wire && end < 1.25 * wire, fmt::format("{} against {}", end, wire).c_str());
}

// Long messages of a ring: headers and the first packet more than fluid links.
void TstPacketNetwork::collectivesAsFluid() {
    for (const TraceCollective op :
         {TraceCollective::AllReduce, TraceCollective::AllGather, TraceCollective::AllToAll}) {
        ClusterSettings s = packetSettings(8, 50e9, 500);
        s.algorithms[3] = {AlgorithmChoice{StepAlgorithm::Direct, 0}};
        const auto packets = static_cast<double>(lastEnd(gathered(s, op, 16 << 20)));
        s.network.carrying = LinkCarrying::Fluid;
        const auto fluid = static_cast<double>(lastEnd(gathered(s, op, 16 << 20)));
        const double ratio = packets / fluid / (4178.0 / 4096);
        QVERIFY2(ratio > 0.99 && ratio < (op == TraceCollective::AllToAll ? 1.3 : 1.02),
                 fmt::format("{}: {}", toText(op), ratio).c_str());
    }
}

// Equal ways: pairs spread over them by their hash, and all bytes come.
void TstPacketNetwork::manyWays() {
    FabricGraph graph{8, 12, {}};  // two leaves of four, two spines
    for (std::int32_t i = 0; i < 8; ++i) graph.join(i, 8 + i / 4, 50e9, 300);
    for (const std::int32_t leaf : {8, 9})
        for (const std::int32_t spine : {10, 11}) graph.join(leaf, spine, 100e9, 300);
    FabricDimension dimension;
    dimension.size = 8;
    dimension.routes = std::make_shared<const FabricRoutes>(*FabricRoutes::make(graph, true));
    ClusterSettings s = packetSettings(2, 1e9, 0);
    s.network.dimensions = {dimension};
    s.algorithms[3] = {AlgorithmChoice{StepAlgorithm::Direct, 0}};
    constexpr std::int64_t bytes = 8 * 4096 * 64;
    const ClusterOutcome outcome = gathered(s, TraceCollective::AllToAll, bytes);
    double carried = 0;
    for (const auto& link : outcome.links) carried += link.bytes;
    // Of 56 messages of 64 packets 24 stay under their leaf (two links), 32 pass a spine (four).
    QCOMPARE(carried, (24.0 * 2 + 32.0 * 4) * 64 * 4178);
    int spines = 0;
    for (std::size_t l = 16; l < outcome.links.size(); ++l) spines += outcome.links[l].bytes > 0 ? 1 : 0;
    QVERIFY(spines > 4);
}

void TstPacketNetwork::sameForSameSeed() {
    const ClusterSettings s = packetSettings(5, 12.5e9, 500);
    const ClusterOutcome a = incast(s, 4, 8 << 20), b = incast(s, 4, 8 << 20);
    QCOMPARE(a.events, b.events);
    for (std::size_t r = 0; r < a.ranks.size(); ++r) QCOMPARE(a.ranks[r].finish, b.ranks[r].finish);
}

QTEST_GUILESS_MAIN(TstPacketNetwork)
#include "tst_packet_network.moc"
