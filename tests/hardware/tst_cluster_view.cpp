// What a design says of itself as a system: which devices are alike, and the network between them.

#include "base/unit.h"
#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/network/link_graph.h"
#include "hardware/views/cluster_view.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

using namespace orrery;

namespace {

ClusterView viewOf(const std::string& id) {
    const auto loaded = loadHardware(id);
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    auto view = clusterView(loaded->hardware);
    if (!view) qFatal("%s", toText(view.error()).c_str());
    return std::move(*view);
}

// A design of these children of the system, and its view.
ClusterView drawn(const std::string& children) {
    const auto loaded = readHardware("orrery: hardware/1\nsystem: {children: [" + children + "]}\n");
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    auto view = clusterView(loaded->hardware);
    if (!view) qFatal("%s", toText(view.error()).c_str());
    return std::move(*view);
}
std::string die(const std::string& name, int count = 1, const std::string& more = {}, int cores = 4) {
    return fmt::format(
        "{{kind: die, name: {}, count: {}, clock: 1 GHz, platform: gpu, children: [{{kind: dram, capacity: 16 "
        "GB, bandwidth: 1 TB/s}}, {{kind: core, count: {}, children: [{{kind: vector_unit, lanes: 32}}]}}{}]}}",
        name, count, cores, more);
}
bool warns(const ClusterView& view, std::string_view code) {
    return std::any_of(view.warnings.begin(), view.warnings.end(),
                       [&](const Diagnostic& d) { return d.code == code && !d.hint.empty() && !d.place.path.empty(); });
}

}  // namespace

class TstClusterView : public QObject {
    Q_OBJECT
private slots:
    void everyPreset();
    void clusterPresets_data();
    void clusterPresets();
    void hybridCubeMesh();
    void alikeAndNot();
    void nodesInTiers();
    void stacks();
    void energiesOfLinks();
    void linksOfADevice();
    void switchedByHand();
    void whatIsNotDrawn();
    void moreThanIsDrawn();
    void graphs();
};

// Every design of the catalogue can be asked, and its tiers count its devices.
void TstClusterView::everyPreset() {
    int several = 0;
    for (const CatalogueEntry& entry : hardwareCatalogue()) {
        const ClusterView view = viewOf(entry.id);
        QVERIFY2(!view.groups.empty(), entry.id.c_str());
        QVERIFY2(view.warnings.empty(), entry.id.c_str());
        for (const DeviceGroup& group : view.groups) {
            QVERIFY(!group.places.empty());
            std::int64_t product = 1;
            for (const NetworkTier& tier : group.tiers) {
                QCOMPARE(tier.inner, product);
                product *= tier.size;
                QVERIFY(tier.drawn());
                QVERIFY(tier.allToAll.value > 0 && tier.allToAll <= tier.bandwidth);
                QVERIFY(!tier.read.parts.empty());
                for (const PartRead& part : tier.read.parts) QVERIFY(view.used.find(part.path));
            }
            QCOMPARE(product, group.count);
            several += group.count > 1;
        }
    }
    QCOMPARE(several, 14);  // dgx-h100-and-a100 and dgx-a100-attacc have two
}

void TstClusterView::clusterPresets_data() {
    QTest::addColumn<int>("devices");
    QTest::addColumn<QList<double>>("bandwidths");  // GB/s of one endpoint, innermost first
    QTest::addColumn<QList<int>>("sizes");
    QTest::newRow("dgx-h100") << 8 << QList<double>{450} << QList<int>{8};
    QTest::newRow("dgx-h100-x2") << 16 << QList<double>{450, 400} << QList<int>{8, 2};
    QTest::newRow("dgx-1-v100") << 8 << QList<double>{150} << QList<int>{8};
    QTest::newRow("gb200-nvl72") << 72 << QList<double>{900} << QList<int>{72};
    QTest::newRow("gb300-nvl72") << 72 << QList<double>{900} << QList<int>{72};
    QTest::newRow("tpu-v4-cube") << 64 << QList<double>{300} << QList<int>{64};
    QTest::newRow("dragonfly-a100") << 72 << QList<double>{25} << QList<int>{72};
}
void TstClusterView::clusterPresets() {
    QFETCH(int, devices);
    QFETCH(QList<double>, bandwidths);
    QFETCH(QList<int>, sizes);
    const ClusterView view = viewOf(QTest::currentDataTag());
    QCOMPARE(view.groups.size(), 1u);
    const DeviceGroup& group = view.groups.front();
    QCOMPARE(group.count, devices);
    QCOMPARE(static_cast<qsizetype>(group.tiers.size()), sizes.size());
    for (int t = 0; t < sizes.size(); ++t) {
        const NetworkTier& tier = group.tiers[static_cast<std::size_t>(t)];
        QCOMPARE(tier.size, sizes[t]);
        QVERIFY(std::abs(tier.bandwidth.value - 1e9 * bandwidths[t]) < 1);
        qInfo("%lld × %s | %s, read from %s: %lld × %s, %s each, all to all %s", static_cast<long long>(group.count),
              group.name.c_str(), tier.name.c_str(), toText(tier.source).data(), static_cast<long long>(tier.size),
              tier.irregular ? "drawn links" : label(tier.shape).data(), format(tier.bandwidth).c_str(),
              format(tier.allToAll).c_str());
    }
}

// Six links of 25 GB/s at each V100, and no collective over the host's bus that is drawn beside them. NCCL counts
// 6 × 20 GB/s of them (its rings were measured at 122).
void TstClusterView::hybridCubeMesh() {
    const ClusterView view = viewOf("dgx-1-v100");
    const DeviceGroup& group = view.groups.front();
    QCOMPARE(group.places.size(), 8u);
    const NetworkTier& tier = group.tiers.front();
    QVERIFY(tier.irregular);
    QCOMPARE(tier.source, TierSource::Links);
    // The system, the node and sixteen links, of which bandwidth and ends were read; none of the 18 of PCIe.
    QCOMPARE(tier.read.parts.size(), 18u);
    for (const PartRead& part : tier.read.parts)
        if (part.path.size() == 2) QCOMPARE(part.attributes, (std::vector<std::string>{"bandwidth", "from", "to"}));
}

void TstClusterView::alikeAndNot() {
    const std::string ring = "{kind: topology, name: net, shape: switch, bandwidth: 10 GB/s}";
    const ClusterView alike = drawn(die("a") + "," + die("b", 3) + "," + ring);
    QCOMPARE(alike.groups.size(), 1u);
    QCOMPARE(alike.groups.front().count, 4);
    QCOMPARE(alike.groups.front().places.size(), 2u);
    QCOMPARE(alike.groups.front().memory.value, 16e9);
    const ClusterView two = drawn(die("a", 2) + "," + die("b", 3, "", 8) + "," + ring);
    QCOMPARE(two.groups.size(), 2u);
    QCOMPARE(two.groups[0].tiers.front().size, 2);
    QCOMPARE(two.groups[1].tiers.front().size, 3);
    QCOMPARE(two.groupAt({1})->name, std::string("b"));
    QVERIFY(!two.groupAt({2}));
    QCOMPARE(two.devices(), 5);
}

void TstClusterView::nodesInTiers() {
    const ClusterView view = drawn(
        "{kind: topology, name: fabric, shape: switch, bandwidth: 40 GB/s, latency: 2 us}, {kind: node, name: n, "
        "count: "
        "4, children: [{kind: topology, name: ring, shape: ring, bandwidth: 30 GB/s, latency: 1 us}, " +
        die("d", 6) + "]}");
    const auto& tiers = view.groups.front().tiers;
    QCOMPARE(tiers.size(), 2u);
    QCOMPARE(tiers[0].shape, TopologyShape::Ring);
    QCOMPARE(tiers[0].bandwidth.value, 60e9);  // both ways round
    QCOMPARE(tiers[0].latency.value, 1e-6);
    QVERIFY(!tiers[0].betweenNodes);
    // Nine ordered pairs of five others cross the cut of two links: 2·30·5/9.
    QVERIFY(std::abs(tiers[0].allToAll.value - 60e9 * 5 / 9) < 1);
    QCOMPARE(tiers[1].inner, 6);
    QCOMPARE(tiers[1].perDevice().value, 40e9 / 6);
    QCOMPARE(tiers[1].latency.value, 4e-6);  // through the switch
    QVERIFY(tiers[1].betweenNodes);
}

// A stack: each of the four places has a ring of its own through the three groups, so that every device has its link.
// A byte takes the energy of every link between two endpoints; what a link does not state is not made up.
void TstClusterView::energiesOfLinks() {
    const auto near = [](double is, double should) { return std::abs(is / should - 1) < 1e-9; };
    const auto tierOf = [](const std::string& children) { return drawn(children).groups.front().tiers.front(); };
    const std::string four = die("chip", 4);
    const auto network = [&](const std::string& more) {
        return tierOf(four + ", {kind: topology, name: net, bandwidth: 10 GB/s, " + more + "}");
    };
    QVERIFY(near(network("shape: switch, energy: 3 pJ/B").energy.value, 6e-12));
    QVERIFY(near(network("shape: ring, energy: 3 pJ/B").energy.value, 3e-12));
    QCOMPARE(network("shape: ring").energy.value, 0.0);
    const auto own = [&](const std::string& link, const std::string& hub) {
        return tierOf(die("chip", 4, ", {kind: link, name: out, bandwidth: 10 GB/s" + link + "}") +
                      ", {kind: switch, name: hub, bandwidth: 10 GB/s" + hub + "}");
    };
    QVERIFY(near(own(", energy: 2 pJ/B", "").energy.value, 4e-12));
    QVERIFY(near(own(", energy: 2 pJ/B", ", energy: 1 pJ/B").energy.value, 5e-12));
    QCOMPARE(own("", ", energy: 1 pJ/B").energy.value, 0.0);
    const auto stated = own(", energy: 2 pJ/B", "").read.parts;
    QVERIFY(std::any_of(stated.begin(), stated.end(), [](const PartRead& part) {
        return std::find(part.attributes.begin(), part.attributes.end(), "energy") != part.attributes.end();
    }));
}

void TstClusterView::stacks() {
    const ClusterView view =
        drawn(die("d", 12) +
              ", {kind: topology, name: net, bandwidth: 10 GB/s, children: [{kind: topology, shape: "
              "switch, size: 4}, {kind: topology, shape: ring, size: 3}]}");
    const auto& tiers = view.groups.front().tiers;
    QCOMPARE(tiers.size(), 2u);
    QCOMPARE(tiers[0].bandwidth.value, 10e9);
    QCOMPARE(tiers[1].inner, 4);
    QCOMPARE(tiers[1].bandwidth.value, 80e9);
    QCOMPARE(tiers[1].perDevice().value, 20e9);
}

// Ports of a switch bound the links that end in it; links that leave nodes join them.
void TstClusterView::linksOfADevice() {
    const std::string nvlink = ", {kind: link, name: nvlink, count: 4, bandwidth: 25 GB/s}";
    const ClusterView one = drawn(
        "{kind: node, name: n, count: 2, children: [{kind: switch, name: s, bandwidth: 20 GB/s}, "
        "{kind: link, name: nic, count: 2, bandwidth: 12.5 GB/s}, " +
        die("d", 4, nvlink) + "]}, {kind: switch, name: spine}");
    QCOMPARE(one.groups.front().ownLinks.value, 100e9);
    const auto& tiers = one.groups.front().tiers;
    QCOMPARE(tiers.size(), 2u);
    QCOMPARE(tiers[0].bandwidth.value, 80e9);
    QCOMPARE(tiers[0].source, TierSource::OwnLinks);
    QCOMPARE(tiers[1].bandwidth.value, 25e9);
    QCOMPARE(tiers[1].name, std::string("nic"));
    QVERIFY(one.warnings.empty());
    const ClusterView open = drawn(die("d", 4, nvlink));
    QVERIFY(warns(open, "cluster.ends-not-drawn"));
    QCOMPARE(open.groups.front().tiers.front().bandwidth.value, 100e9);
    // "Draw a switch or a topology" would be no help where one is drawn.
    const ClusterView silent = drawn(die("d", 4, nvlink) + ", {kind: topology, name: t, shape: switch}");
    QVERIFY(warns(silent, "cluster.no-bandwidth") && !warns(silent, "cluster.ends-not-drawn"));
    QCOMPARE(silent.groups.front().tiers.front().bandwidth.value, 100e9);
}

// A star drawn link by link, copies counted; and the same over a tree of two switches, whose trunk bounds.
void TstClusterView::switchedByHand() {
    const ClusterView star = drawn(die("d", 4) +
                                   ", {kind: switch, name: s}, {kind: link, name: l, bandwidth: 10 GB/s, "
                                   "from: d, to: s}");
    const NetworkTier& hub = star.groups.front().tiers.front();
    QVERIFY(!hub.irregular);
    QCOMPARE(hub.bandwidth.value, 10e9);
    QCOMPARE(hub.allToAll.value, 10e9);
    const ClusterView tree = drawn(die("a", 2) + "," + die("b", 2) +
                                   ", {kind: switch, name: s}, {kind: switch, name: t}, {kind: link, name: l1, "
                                   "bandwidth: 10 GB/s, from: a, to: s},"
                                   "{kind: link, name: l2, bandwidth: 10 GB/s, from: b, to: t}, {kind: link, name: "
                                   "trunk, bandwidth: 4 GB/s, from: "
                                   "s, to: t}");
    const NetworkTier& tier = tree.groups.front().tiers.front();
    QVERIFY(tier.irregular);
    QCOMPARE(tier.bandwidth.value, 4e9);         // a ring crosses the trunk once each way
    QCOMPARE(tier.allToAll.value, 4e9 * 3 / 4);  // four messages of the twelve share it each way
}

void TstClusterView::whatIsNotDrawn() {
    const ClusterView none = drawn(die("d", 4));
    QVERIFY(warns(none, "cluster.no-network"));
    QCOMPARE(none.groups.front().tiers.front().bandwidth.value, 0.0);
    QCOMPARE(none.groups.front().tiers.front().size, 4);
    const ClusterView silent = drawn(die("d", 4) + ", {kind: topology, name: net, shape: ring}");
    QVERIFY(warns(silent, "cluster.no-bandwidth"));
    const ClusterView uneven = drawn("{kind: node, name: n, children: [" + die("d", 4) +
                                     "]}, {kind: node, name: m, children: [" + die("d", 2) + "]}");
    QVERIFY(warns(uneven, "cluster.uneven"));
    const auto empty = readHardware("orrery: hardware/1\nsystem: {children: []}\n");
    QVERIFY(empty);
    const auto nothing = clusterView(empty->hardware);
    QVERIFY(!nothing);
    QCOMPARE(nothing.error().code, std::string("hardware.no-device"));
}

void TstClusterView::moreThanIsDrawn() {
    const ClusterView one = viewOf("h100-sxm");
    Diagnostics warnings;
    const auto node = asOneNode(one, one.groups.front(), 8, warnings);
    QVERIFY(node);
    QCOMPARE(node->count, 8);
    QCOMPARE(node->tiers.front().bandwidth.value, 450e9);
    QCOMPARE(warnings.size(), 1u);
    QCOMPARE(warnings.front().code, std::string("cluster.not-drawn"));
    const ClusterView eight = viewOf("dgx-h100");
    QCOMPARE(asOneNode(eight, eight.groups.front(), 16, warnings).error().code, std::string("cluster.too-few"));
    const ClusterView alone = drawn(die("d"));
    QCOMPARE(asOneNode(alone, alone.groups.front(), 2, warnings).error().code, std::string("cluster.no-links"));
}

void TstClusterView::graphs() {
    // A ring of four: two links each, and of three peers one stands two hops away.
    const LinkGraph ring{4, 4, {{0, 1, 10}, {1, 2, 10}, {2, 3, 10}, {3, 0, 10}}};
    const GraphBandwidth found = graphBandwidth(ring);
    QVERIFY(found.connected && !found.complete);
    QCOMPARE(found.neighbours, 20.0);
    QCOMPARE(found.allToAll, 15.0);  // 4 hops for 3 messages over 2 links
    // All pairs of three.
    const GraphBandwidth all = graphBandwidth({3, 3, {{0, 1, 5}, {1, 2, 5}, {0, 2, 5}}});
    QVERIFY(all.complete);
    QCOMPARE(all.neighbours, 10.0);
    QCOMPARE(all.allToAll, 10.0);
    // A thin bridge: what enters the far pair must bring two shards, so that 3 shards take 3·(1/(2/2)).
    const GraphBandwidth bridge = graphBandwidth({4, 4, {{0, 1, 100}, {2, 3, 100}, {1, 2, 2}}});
    QCOMPARE(bridge.neighbours, 3.0);
    QVERIFY(!graphBandwidth({2, 2, {}}).connected);
    QVERIFY(!graphBandwidth({1, 1, {}}).connected);
}

QTEST_GUILESS_MAIN(TstClusterView)
#include "tst_cluster_view.moc"
