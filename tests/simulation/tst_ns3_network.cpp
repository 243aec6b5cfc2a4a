// Our packets beside those of ns-3 (Debian: libns3-dev), on the same drawn links and ways: what takes its turn without
// rate control to a thousandth, what rate controls share to a stated part. Skipped where ns-3 is not there.

#include "simulation/cluster/cluster_run.h"

#include <QFileInfo>
#include <QtTest/QtTest>

#include <fmt/format.h>

#include <cmath>

using namespace orrery;

namespace {

struct Network {
    const char* name;
    FabricDimension dimension;
};

FabricDimension plain(TopologyShape shape, std::int64_t size) {
    FabricDimension made;
    made.shape = shape;
    made.size = size;
    made.bandwidth = 50e9;
    made.latency = 500;
    return made;
}

/// Two leaves of four, two spines.
FabricDimension tree() {
    FabricGraph graph{8, 12, {}};
    for (std::int32_t i = 0; i < 8; ++i) graph.join(i, 8 + i / 4, 50e9, 300);
    for (const std::int32_t leaf : {8, 9})
        for (const std::int32_t spine : {10, 11}) graph.join(leaf, spine, 100e9, 300);
    FabricDimension made;
    made.size = 8;
    made.routes = std::make_shared<const FabricRoutes>(*FabricRoutes::make(graph, true));
    return made;
}

std::vector<Network> networks() {
    return {{"two", plain(TopologyShape::Switch, 2)},
            {"ring of 4", plain(TopologyShape::Ring, 4)},
            {"star of 8", plain(TopologyShape::Switch, 8)},
            {"full of 4", plain(TopologyShape::FullyConnected, 4)},
            {"tree of 8", tree()}};
}

enum class Asked { One, Incast, AllReduce, AllToAll };
constexpr const char* asked_names[] = {"one message", "incast", "all-reduce", "all-to-all"};

ClusterJob jobOf(Asked asked, std::int64_t ranks, std::int64_t bytes) {
    ClusterJob job;
    TraceNode node;
    node.bytes = bytes;
    if (asked == Asked::AllReduce || asked == Asked::AllToAll) {
        TraceBuilder builder;
        node.id = 1;
        node.work = TraceWork::Collective;
        node.collective = asked == Asked::AllReduce ? TraceCollective::AllReduce : TraceCollective::AllToAll;
        builder.add(node, "collective", {});
        job.traces.assign(static_cast<std::size_t>(ranks),
                          std::make_shared<const ExecutionTrace>(*builder.finish("test")));
        return job;
    }
    for (std::int64_t r = 0; r < ranks; ++r) {
        TraceBuilder builder;
        for (std::int64_t s = 1; s < ranks; ++s) {
            // One message: from the farthest by number.
            if ((r != 0 && r != s) || (asked == Asked::One && s != ranks - 1)) continue;
            node.id = static_cast<std::uint64_t>(s);
            node.work = r == 0 ? TraceWork::Receive : TraceWork::Send;
            node.peer = static_cast<std::int32_t>(r == 0 ? s : 0);
            builder.add(node, "message", {});
        }
        job.traces.push_back(std::make_shared<const ExecutionTrace>(*builder.finish("test")));
    }
    return job;
}

ClusterSettings settingsOf(std::vector<FabricDimension> dimensions, LinkCarrying carrying, bool rateControl) {
    ClusterSettings settings;
    settings.network.dimensions = std::move(dimensions);
    settings.network.carrying = carrying;
    settings.network.packets.rateControl = settings.network.packets.pauses = rateControl;
    settings.algorithms[3] = {AlgorithmChoice{StepAlgorithm::Direct, 0}};
    return settings;
}

ClusterOutcome ran(ClusterJob job, const ClusterSettings& settings) {
    auto outcome = runCluster(std::move(job), settings);
    if (!outcome) qFatal("%s", toText(outcome.error()).c_str());
    return std::move(*outcome);
}

/// Microseconds.
double lastEnd(const ClusterOutcome& outcome) {
    SimTime last = 0;
    for (const RankResult& rank : outcome.ranks) last = std::max(last, rank.finish);
    return static_cast<double>(last) * 1e-6;
}

double carried(const ClusterOutcome& outcome) {
    double bytes = 0;
    for (const auto& link : outcome.links) bytes += link.bytes;
    return bytes;
}

}  // namespace

class TstNs3Network : public QObject {
    Q_OBJECT
private slots:
    void init();
    void initTestCase();
    void inTurns();
    void underRateControl();
    void dimensionsAndSwitches();
    void chunksSideBySide();
    void sameForSameSeed();
    void absent();

private:
    bool there_ = false;
};

void TstNs3Network::initTestCase() {
    const QString program = QFileInfo(ORRERY_CLI).path() + "/orrery-ns3";
    there_ = QFileInfo::exists(program);
    if (there_) qputenv("ORRERY_NS3", program.toUtf8());
}

void TstNs3Network::init() {
    if (!there_ && qstrcmp(QTest::currentTestFunction(), "absent") != 0)
        QSKIP("orrery-ns3 is not built: libns3-dev is not installed");
}

// Without rate control: the same packets on the same ways, in queues without an end. ns-3 counts the gap between
// packets behind them, 2 ns less a message here. Devices of a ring pass on others' packets: there ours go first, ns-3's
// in turn.
void TstNs3Network::inTurns() {
    for (const Network& one : networks()) {
        for (const Asked asked : {Asked::One, Asked::Incast, Asked::AllReduce, Asked::AllToAll}) {
            for (const std::int64_t bytes : {4096, 100'000, 2 << 20}) {
                const auto of = [&](LinkCarrying carrying) {
                    return ran(jobOf(asked, one.dimension.size, bytes), settingsOf({one.dimension}, carrying, false));
                };
                const ClusterOutcome ours = of(LinkCarrying::Packets), theirs = of(LinkCarrying::Ns3);
                const double a = lastEnd(ours), b = lastEnd(theirs);
                const std::string seen = fmt::format("{}, {} of {}: {:.3f} us, ns-3 {:.3f} us", one.name,
                                                     asked_names[static_cast<int>(asked)], bytes, a, b);
                const bool passesOn = one.dimension.shape == TopologyShape::Ring && asked == Asked::AllToAll;
                QVERIFY2(std::abs(a - b) <= 0.01 + (passesOn ? 0.05 : 0.003) * b, seen.c_str());
                QCOMPARE(ours.packets.packets, theirs.packets.packets);
                QVERIFY2(std::abs(carried(ours) - carried(theirs)) <= 1e-6 * carried(ours), seen.c_str());
            }
        }
    }
}

// DCQCN with pauses beside DCTCP. Where links are not shared to a hundredth, rings of long messages to three,
// all-to-alls to ten. Seven to one for longer than milliseconds is not alike: DCQCN cuts rates down to a burst's own
// and is slow to raise them, DCTCP's windows keep the link full; pauses alone do as well.
void TstNs3Network::underRateControl() {
    for (const Network& one : networks()) {
        for (const Asked asked : {Asked::One, Asked::Incast, Asked::AllReduce, Asked::AllToAll}) {
            for (const std::int64_t bytes : {4096, 8 << 20}) {
                const bool pausesAlone = asked == Asked::Incast && bytes > 1 << 20;
                const auto of = [&](LinkCarrying carrying) {
                    ClusterSettings settings = settingsOf({one.dimension}, carrying, true);
                    if (carrying == LinkCarrying::Packets) settings.network.packets.rateControl = !pausesAlone;
                    return ran(jobOf(asked, one.dimension.size, bytes), settings);
                };
                const double a = lastEnd(of(LinkCarrying::Packets)), b = lastEnd(of(LinkCarrying::Ns3));
                const std::string seen = fmt::format("{}, {} of {}: {:.3f} us, ns-3 {:.3f} us", one.name,
                                                     asked_names[static_cast<int>(asked)], bytes, a, b);
                const double share = asked == Asked::AllToAll ? 0.1 : asked == Asked::AllReduce ? 0.03 : 0.01;
                QVERIFY2(std::abs(a - b) <= share * b, seen.c_str());
            }
        }
    }
}

// Several dimensions, whose messages devices pass on; sums in a switch, to which ways lead in part; use over time.
void TstNs3Network::dimensionsAndSwitches() {
    for (const bool inSwitch : {false, true}) {
        std::vector<FabricDimension> dimensions{plain(TopologyShape::Switch, 4)};
        if (!inSwitch) dimensions.push_back(plain(TopologyShape::Ring, 4));
        const std::int64_t ranks = inSwitch ? 4 : 16;
        for (const Asked asked : {Asked::AllReduce, Asked::AllToAll}) {
            double end[2];
            for (const LinkCarrying carrying : {LinkCarrying::Packets, LinkCarrying::Ns3}) {
                ClusterSettings settings = settingsOf(dimensions, carrying, false);
                if (inSwitch) settings.algorithms[0] = {AlgorithmChoice{StepAlgorithm::InNetwork, 0}};
                settings.network.useOverTime = true;
                const ClusterOutcome outcome = ran(jobOf(asked, ranks, 4 << 20), settings);
                end[carrying == LinkCarrying::Ns3 ? 1 : 0] = lastEnd(outcome);
                for (std::size_t l = 0; l < outcome.links.size(); ++l) {
                    double busy = 0;
                    for (std::size_t span = 0; span < LinkUseOverTime::spans; ++span)
                        busy += outcome.linkUse.busy(l, span);
                    const auto all = static_cast<double>(outcome.links[l].busy);
                    QVERIFY2(std::abs(busy - all) <= 0.001 * all + 1000, fmt::format("{} {}", busy, all).c_str());
                }
            }
            QVERIFY2(std::abs(end[0] - end[1]) <= 0.05 * end[1], fmt::format("{} {}", end[0], end[1]).c_str());
        }
    }
}

// Two chunks of a ring at a time: ours and datagrams take turns. A connection sends one message after the other, so
// that the first one may go on earlier.
void TstNs3Network::chunksSideBySide() {
    double end[4];
    for (const int one : {0, 1, 2, 3}) {
        ClusterSettings settings = settingsOf({plain(TopologyShape::Switch, 8)},
                                              one % 2 == 0 ? LinkCarrying::Packets : LinkCarrying::Ns3, one > 1);
        settings.network.dimensions.front().bandwidth = 400e9;
        settings.splits = 4;
        settings.activeChunks = 2;
        end[one] = lastEnd(ran(jobOf(Asked::AllReduce, 8, 16 << 20), settings));
    }
    const std::string seen = fmt::format("{} {} {} {}", end[0], end[1], end[2], end[3]);
    QVERIFY2(std::abs(end[0] - end[1]) < 0.01 * end[0], seen.c_str());
    QVERIFY2(end[3] < end[2] && end[3] > 0.7 * end[2], seen.c_str());
}

void TstNs3Network::sameForSameSeed() {
    const ClusterSettings settings = settingsOf({plain(TopologyShape::Switch, 8)}, LinkCarrying::Ns3, true);
    const ClusterOutcome a = ran(jobOf(Asked::AllToAll, 8, 4 << 20), settings),
                         b = ran(jobOf(Asked::AllToAll, 8, 4 << 20), settings);
    for (std::size_t r = 0; r < a.ranks.size(); ++r) QCOMPARE(a.ranks[r].finish, b.ranks[r].finish);
}

void TstNs3Network::absent() {
    const QByteArray before = qgetenv("ORRERY_NS3");
    qputenv("ORRERY_NS3", "/nowhere/orrery-ns3");
    const auto outcome =
        runCluster(jobOf(Asked::One, 2, 4096), settingsOf({plain(TopologyShape::Switch, 2)}, LinkCarrying::Ns3, true));
    qputenv("ORRERY_NS3", before);
    QVERIFY(!outcome);
    QCOMPARE(outcome.error().code, std::string("network.ns3"));
    QVERIFY(outcome.error().hint.find("libns3-dev") != std::string::npos);
}

QTEST_GUILESS_MAIN(TstNs3Network)
#include "tst_ns3_network.moc"
