#include "hardware/check/validate.h"
#include "hardware/files/catalogue.h"
#include "hardware/files/hardware_yaml.h"
#include "hardware/network/links.h"
#include "hardware/network/topology.h"
#include "support/topology_count.h"

#include <QtTest/QtTest>

#include <cmath>
#include <map>
#include <random>
#include <set>

using namespace orrery;

namespace {

Hardware design(const QString& children) {
    const auto loaded = readHardware("orrery: hardware/1\nsystem: {children: [" + children.toStdString() + "]}\n");
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    return loaded->hardware;
}

bool wrong(const Hardware& hardware, Severity from = Severity::Error) {
    const Diagnostics found = validate(hardware);
    for (const Diagnostic& one : found) {
        if (one.severity >= from) qWarning("%s", toText(one).c_str());
    }
    return std::any_of(found.begin(), found.end(), [from](const Diagnostic& d) { return d.severity >= from; });
}

/// The network that a design draws with links and switches: vertices are the children of the root.
ExpandedNetwork drawn(const Hardware& hardware) {
    ExpandedNetwork network;
    std::map<int, int> vertex;
    for (const bool switches : {false, true}) {
        for (std::size_t i = 0; i < hardware.root.children.size(); ++i) {
            const Component& child = hardware.root.children[i];
            if (child.kind == ComponentKind::Link || (child.kind == ComponentKind::Switch) != switches) continue;
            vertex[int(i)] = int(network.vertices.size());
            network.vertices.push_back({});
            network.vertices.back().isSwitch = switches;
        }
        if (!switches) network.endpoints = std::int64_t(network.vertices.size());
    }
    for (const LinkEnds& link : linkEnds(hardware.root)) {
        if (!link.from || !link.to) continue;
        const auto parallel = std::int32_t(componentAt(hardware.root, link.link)->count);
        network.edges.push_back({vertex.at(link.from->front()), vertex.at(link.to->front()), parallel, 0});
    }
    return network;
}

ComponentPath topologyIn(const Hardware& hardware) {
    for (std::size_t i = 0; i < hardware.root.children.size(); ++i) {
        if (hardware.root.children[i].kind == ComponentKind::Topology) return {int(i)};
    }
    return {};
}

const char* const networks[] = {
    "{kind: topology, name: net, shape: line}",
    "{kind: topology, name: net, shape: ring, bandwidth: 50 GB/s, latency: 1 us}",
    "{kind: topology, name: net, shape: torus, dims: [4, 3, 2]}",
    "{kind: topology, name: net, shape: mesh, dims: [6, 4]}",
    "{kind: topology, name: net, shape: fully-connected}",
    "{kind: topology, name: net, shape: switch}",
    "{kind: topology, name: net, shape: nvswitch, planes: 3}",
    "{kind: topology, name: net, shape: fat-tree, radix: 4, bandwidth: 50 GB/s}",
    "{kind: topology, name: net, shape: fat-tree, radix: 8, oversubscription: 3}",
    "{kind: topology, name: net, shape: dragonfly, groups: 4, routers: 3, globals: 1}",
    "{kind: topology, name: net, shape: rail-optimised, groups: 4, planes: 2}",
    "{kind: topology, name: net, bandwidth: 50 GB/s, children: [{kind: topology, name: inner, shape: switch, size: 8}, "
    "{kind: topology, name: outer, shape: ring}]}",
    "{kind: topology, name: net, children: [{kind: topology, name: a, shape: torus, dims: [2, 3]}, "
    "{kind: topology, name: b, shape: fat-tree, radix: 4, size: 4}]}",
};

}  // namespace

class TestTopologyDesign : public QObject {
    Q_OBJECT
private slots:
    void aSpecCountsSiblingsAndTheirCopies() {
        const Hardware two = design(
            "{kind: node, name: n, count: 3}, {kind: die, name: d, mesh: [2, 2]}, {kind: switch, name: s}, "
            "{kind: dram, name: m, capacity: 1 GB, bandwidth: 1 GB/s}, "
            "{kind: topology, name: net, shape: ring, bandwidth: 400 Gbit/s, latency: 2 us}");
        const auto spec = topologySpec(two.root, {4});
        QVERIFY(spec);
        QCOMPARE(spec->endpoints(), 7);
        QCOMPARE(spec->dimensions.front().bandwidth.value, 50e9);
        QCOMPARE(spec->dimensions.front().latency.value, 2e-6);
    }
    void aStackInfersItsOpenSizeAndInheritsRates() {
        const Hardware hardware = design(
            "{kind: node, name: n, count: 64}, {kind: topology, name: net, bandwidth: 10 GB/s, children: ["
            "{kind: topology, name: a, shape: nvswitch, planes: 4, size: 8, bandwidth: 25 GB/s}, "
            "{kind: topology, name: b, shape: fat-tree, radix: 8}]}");
        const auto spec = topologySpec(hardware.root, {1});
        QVERIFY(spec);
        QCOMPARE(spec->dimensions.size(), std::size_t(2));
        QCOMPARE(spec->dimensions[1].size, 8);
        QCOMPARE(spec->dimensions[0].bandwidth.value, 25e9);
        QCOMPARE(spec->dimensions[1].bandwidth.value, 10e9);
        const auto inner = topologySpec(hardware.root, {1, 1});
        QVERIFY(inner && inner->dimensions.size() == 1);
        QCOMPARE(inner->endpoints(), 8);
        QVERIFY(!wrong(hardware, Severity::Warning));
    }
    void whatDoesNotFitNamesItsAttribute_data() {
        QTest::addColumn<QString>("children");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("place");
        const QString nodes = "{kind: node, name: n, count: 16}, {kind: topology, name: net, ";
        const auto row = [&](const char* name, const QString& rest, const char* code, const char* place) {
            QTest::newRow(name) << nodes + rest + "}" << code << place;
        };
        row("sides of another product", "shape: torus, dims: [4, 3]", "hardware.topology-size", "system/net.dims");
        row("sides against size", "shape: torus, dims: [4, 4], size: 12", "hardware.topology-size", "system/net.dims");
        row("a side that is no number", "shape: mesh, dims: [4, four]", "hardware.topology-size", "system/net.dims");
        row("no sides", "shape: mesh", "hardware.missing-attribute", "system/net.dims");
        row("no shape", "size: 16", "hardware.missing-attribute", "system/net.shape");
        row("another size", "shape: ring, size: 8", "hardware.topology-size", "system/net.size");
        row("no endpoint", "shape: ring, size: 0", "hardware.topology-size", "system/net.size");
        row("odd ports", "shape: fat-tree, radix: 5", "hardware.topology-radix", "system/net.radix");
        row("no ports", "shape: fat-tree", "hardware.missing-attribute", "system/net.radix");
        row("too few ports", "shape: switch, radix: 8", "hardware.topology-radix", "system/net.radix");
        row("too few ports for any tier", "shape: fat-tree, radix: 2", "hardware.topology-radix", "system/net.radix");
        row("routers missing", "shape: dragonfly, globals: 2", "hardware.missing-attribute", "system/net.routers");
        row("too many groups", "shape: dragonfly, groups: 8, routers: 2, globals: 1", "hardware.topology-size",
            "system/net.groups");
        row("groups that do not divide", "shape: dragonfly, groups: 3, routers: 2, globals: 1",
            "hardware.topology-size", "system/net.size");
        row("rails missing", "shape: rail-optimised", "hardware.missing-attribute", "system/net.groups");
        row("rails that do not divide", "shape: rail-optimised, groups: 3", "hardware.topology-size",
            "system/net.groups");
        row("two open sizes",
            "children: [{kind: topology, name: a, shape: ring}, {kind: topology, name: b, shape: ring}]",
            "hardware.missing-attribute", "system/net/b.size");
        row("a stack of another product",
            "children: [{kind: topology, name: a, shape: ring, size: 3}, {kind: topology, name: b, shape: ring}]",
            "hardware.topology-size", "system/net");
        QTest::newRow("nothing beside") << "{kind: topology, name: net, shape: ring}"
                                        << "hardware.topology-empty"
                                        << "system/net";
    }
    void whatDoesNotFitNamesItsAttribute() {
        QFETCH(QString, children);
        QFETCH(QString, code);
        QFETCH(QString, place);
        const Hardware hardware = design(children);
        const auto spec = topologySpec(hardware.root, topologyIn(hardware));
        QVERIFY(!spec);
        QCOMPARE(QString::fromStdString(spec.error().code), code);
        QCOMPARE(QString::fromStdString(spec.error().place.path), place);
        QVERIFY(!spec.error().expected.empty() || !spec.error().hint.empty());
        const Diagnostics found = validate(hardware);
        QCOMPARE(std::count_if(found.begin(), found.end(),
                               [&](const Diagnostic& d) {
                                   return d.place.path == place.toStdString() && d.code == code.toStdString();
                               }),
                 1);
    }

    /// The parts draw the same network: same degrees, links, hops, and nothing wrong with them.
    void partsAreTheSameNetwork_data() {
        QTest::addColumn<QString>("network");
        for (const char* network : networks) QTest::newRow(network) << network;
    }
    void partsAreTheSameNetwork() {
        QFETCH(QString, network);
        const Hardware before =
            design("{kind: die, name: gpu, count: 16}, {kind: die, name: far, mesh: [4, 2]}, " + network);
        QVERIFY(!wrong(before));
        const auto spec = topologySpec(before.root, {2});
        QVERIFY(spec);
        const auto after = replaceByParts(before, {2});
        QVERIFY2(after, after ? "" : toText(after.error()).c_str());
        QVERIFY(!wrong(*after));
        const auto expanded = expandTopology(*spec);
        QVERIFY(expanded);
        const ExpandedNetwork parts = drawn(*after);
        QCOMPARE(parts.endpoints, 24);
        QCOMPARE(parts.vertices.size(), expanded->vertices.size());
        QCOMPARE(counted::degrees(parts), counted::degrees(*expanded));
        const auto edges = [](const ExpandedNetwork& n) {
            std::multiset<std::tuple<int, int, int>> all;
            for (const auto& e : n.edges) all.insert({std::min(e.a, e.b), std::max(e.a, e.b), e.parallel});
            return all;
        };
        QCOMPARE(edges(parts), edges(*expanded));
        for (const Component& child : after->root.children) {
            QCOMPARE(child.instances(), child.kind == ComponentKind::Link ? child.count : 1);
            QVERIFY(child.kind != ComponentKind::Topology);
        }
        const auto back = readHardware(writeHardware(*after));
        QVERIFY(back && back->hardware == *after);
    }
    void partsKeepOtherLinks() {
        const Hardware before = design(
            "{kind: node, name: n, count: 2, children: [{kind: die, name: gpu, count: 4}, {kind: die, name: cpu, "
            "count: 2}, "
            "{kind: link, name: pcie, bandwidth: 16 GB/s, from: gpu, to: cpu, count: 2}, "
            "{kind: topology, name: net, shape: ring, bandwidth: 1 GB/s}]}, {kind: switch, name: s}, "
            "{kind: link, name: nic, bandwidth: 1 GB/s, from: n/gpu, to: s}");
        const auto after = replaceByParts(before, {0, 3});
        QVERIFY2(after, after ? "" : toText(after.error()).c_str());
        QVERIFY(!wrong(*after));
        std::multiset<std::string> pcie, nics;
        for (const LinkEnds& link : linkEnds(after->root)) {
            QVERIFY(!link.broken);
            const Component& one = *componentAt(after->root, link.link);
            const std::string ends = pathText(after->root, *link.from) + " " + pathText(after->root, *link.to);
            if (one.name.starts_with("pcie")) pcie.insert(ends + " x" + std::to_string(one.count));
            if (one.name.starts_with("nic")) nics.insert(ends);
        }
        QCOMPARE(pcie,
                 (std::multiset<std::string>{"system/n/gpu0 system/n/cpu0 x2", "system/n/gpu1 system/n/cpu1 x2",
                                             "system/n/gpu2 system/n/cpu0 x2", "system/n/gpu3 system/n/cpu1 x2"}));
        QCOMPARE(nics, (std::multiset<std::string>{"system/n/gpu0 system/s", "system/n/gpu1 system/s",
                                                   "system/n/gpu2 system/s", "system/n/gpu3 system/s"}));
    }
    void tooManyPartsAreRefused() {
        const Hardware before = design("{kind: die, name: d, count: 5000}, {kind: topology, name: net, shape: ring}");
        const auto after = replaceByParts(before, {1});
        QVERIFY(!after);
        QCOMPARE(after.error().code, std::string("hardware.topology-large"));
    }

    /// Networks of the presets as their makers state them.
    void presetsHaveThePublishedNetworks() {
        const auto facts = [](const char* id, const ComponentPath& path) {
            const auto loaded = loadHardware(id);
            if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
            const auto spec = topologySpec(loaded->hardware.root, path);
            return spec ? topologyFacts(*spec).value_or(TopologyFacts{}) : TopologyFacts{};
        };
        const auto rack = facts("gb200-nvl72", {0, 0});
        QCOMPARE(rack.endpoints, 72);
        QCOMPARE(rack.switches, 18);
        // 130 TB/s is both directions of all links.
        QVERIFY(std::fabs(double(rack.links) * 50e9 * 2 / 130e12 - 1) < 0.005);
        const auto cube = facts("tpu-v4-cube", {0});
        QCOMPARE(cube.diameter, 6);
        QCOMPARE(cube.links, 64 * 6 / 2);
        const auto node = facts("dgx-h100-x2", {1, 0});
        // 900 GB/s a GPU is both directions; four GPUs send across the middle.
        QCOMPARE(node.bisection.value, 4 * 450e9);
        const auto dragonfly = facts("dragonfly-a100", {0});
        QCOMPARE(dragonfly.endpoints, 72);
        QCOMPARE(dragonfly.diameter, 5);
    }
    /// Every V100 has six NVLinks to four neighbours: twelve edges of a cube and the diagonals of two faces.
    void theDgx1IsTheHybridCubeMesh() {
        const auto loaded = loadHardware("dgx-1-v100");
        QVERIFY(loaded);
        const Component& root = loaded->hardware.root;
        std::map<std::string, std::int64_t> links;
        std::map<std::string, std::set<std::string>> neighbours;
        std::int64_t all = 0;
        for (const LinkEnds& ends : linkEnds(root)) {
            const Component& link = *componentAt(root, ends.link);
            QVERIFY(!ends.broken);
            if (!link.name.starts_with("nvlink")) continue;
            QVERIFY(ends.from && ends.to);
            const std::string a = componentAt(root, *ends.from)->name, b = componentAt(root, *ends.to)->name;
            links[a] += link.count;
            links[b] += link.count;
            neighbours[a].insert(b);
            neighbours[b].insert(a);
            all += link.count;
        }
        QCOMPARE(links.size(), std::size_t(8));
        QCOMPARE(all, 24);
        for (const auto& [gpu, number] : links) {
            QCOMPARE(number, 6);
            QCOMPARE(neighbours[gpu].size(), std::size_t(4));
        }
    }

    void linkEndsFollowNamesBelowTheParent() {
        const Hardware hardware = design(
            "{kind: node, name: a, children: [{kind: die, name: x}, {kind: core}]}, {kind: node, name: b, children: "
            "[{kind: die, name: x}]}, "
            "{kind: link, name: l, from: a/x, to: b/x, from_port: 3}, {kind: link, name: m, from: a/core, to: b/y}, "
            "{kind: link, name: n, from: a}");
        const auto ends = linkEnds(hardware.root);
        QCOMPARE(ends.size(), std::size_t(3));
        QVERIFY(ends[0].from == ComponentPath({0, 0}) && ends[0].to == ComponentPath({1, 0}) && !ends[0].broken);
        QCOMPARE(ends[0].fromPort, std::string("3"));
        QVERIFY(ends[1].from == ComponentPath({0, 1}) && !ends[1].to && ends[1].broken);
        QVERIFY(ends[2].from == ComponentPath({0}) && !ends[2].to && !ends[2].broken);
        QCOMPARE(endText(hardware.root, {}, {0, 1}).value_or(""), std::string("a/core"));
        QVERIFY(!endText(hardware.root, {0}, {1, 0}));
        QVERIFY(!endText(hardware.root, {0}, {0}));
        QVERIFY(commonParent({0, 0}, {1, 0}).empty());
        QCOMPARE(commonParent({0, 1}, {0, 2}), ComponentPath({0}));
        QCOMPARE(commonParent({0}, {0, 2}), ComponentPath());
    }
    void aNewLinkStandsWhereBothEndsAreAndHasAFreeName() {
        Hardware hardware = design(
            "{kind: node, name: a, children: [{kind: die, name: x}, {kind: die, name: y}]}, {kind: die, name: z}");
        auto made = makeLink(hardware.root, {0, 0}, {0, 1});
        QVERIFY(made && made->parent == ComponentPath({0}));
        QCOMPARE(made->link.name, std::string("x-y"));
        hardware.root.children[0].children.push_back(made->link);
        made = makeLink(hardware.root, {0, 0}, {0, 1});
        QCOMPARE(made->link.name, std::string("x-y-2"));
        made = makeLink(hardware.root, {0, 0}, {1});
        QVERIFY(made && made->parent.empty());
        hardware.root.children.push_back(made->link);
        QCOMPARE(linkEnds(hardware.root).back().from, std::optional(ComponentPath({0, 0})));
        QVERIFY(!makeLink(hardware.root, {1}, {1}) && !makeLink(hardware.root, {}, {1}) &&
                !makeLink(hardware.root, {2}, {1}));
        // Nothing may be linked inside a vector unit: the link stands further out, where it may.
        Hardware deep = design(
            "{kind: vector_unit, name: v, flops: {fp32: 1 GFLOP/s}, children: [{kind: buffer, name: p, capacity: 1 "
            "KiB}, {kind: buffer, name: q, capacity: 1 KiB}]}");
        made = makeLink(deep.root, {0, 0}, {0, 1});
        QVERIFY(made && made->parent.empty());
        deep.root.children.push_back(made->link);
        QVERIFY(!linkEnds(deep.root).front().broken);
    }
};

QTEST_GUILESS_MAIN(TestTopologyDesign)
#include "tst_topology_design.moc"
