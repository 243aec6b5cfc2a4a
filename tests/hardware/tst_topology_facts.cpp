#include "hardware/network/topology.h"
#include "support/topology_count.h"

#include <QtTest/QtTest>

#include <random>
#include <set>

using namespace orrery;

namespace {

using enum TopologyShape;

TopologyDimension plain(TopologyShape shape, std::int64_t size) {
    TopologyDimension dimension;
    dimension.shape = shape;
    dimension.size = size;
    return dimension;
}
TopologyDimension grid(TopologyShape shape, std::vector<std::int64_t> sides) {
    TopologyDimension dimension = plain(shape, 1);
    for (const auto side : sides) dimension.size *= side;
    dimension.sides = std::move(sides);
    return dimension;
}
TopologyDimension fatTree(std::int64_t radix, std::int64_t size, double over = 1) {
    TopologyDimension dimension = plain(FatTree, size);
    dimension.radix = radix;
    dimension.oversubscription = over;
    return dimension;
}
TopologyDimension dragonfly(std::int64_t p, std::int64_t a, std::int64_t h, std::int64_t g) {
    TopologyDimension dimension = plain(Dragonfly, p * a * g);
    dimension.routers = a;
    dimension.globals = h;
    dimension.groups = g;
    return dimension;
}
TopologyDimension planes(std::int64_t size, std::int64_t number) {
    TopologyDimension dimension = plain(NvSwitch, size);
    dimension.planes = number;
    return dimension;
}
TopologyDimension rails(std::int64_t nodes, std::int64_t number, std::int64_t spines, double over = 1) {
    TopologyDimension dimension = plain(RailOptimised, nodes * number);
    dimension.groups = number;
    dimension.planes = spines;
    dimension.oversubscription = over;
    return dimension;
}

QString describe(const TopologySpec& spec) {
    QStringList words;
    for (const TopologyDimension& d : spec.dimensions) {
        QString sides;
        for (const auto side : d.sides) sides += QString(" %1").arg(side);
        words << QString("%1 %2%3 k%4 o%5 p%6 g%7 a%8 h%9")
                     .arg(QString::fromStdString(std::string(toText(d.shape))))
                     .arg(d.size)
                     .arg(sides)
                     .arg(d.radix)
                     .arg(d.oversubscription)
                     .arg(d.planes)
                     .arg(d.groups)
                     .arg(d.routers)
                     .arg(d.globals);
    }
    return words.join(" x ");
}

/// The halves of the natural cut, by what the shape is for: groups of a dragonfly, the longest side of a grid, else the
/// first half of the endpoints; of a stack, those of the outermost dimension that has more than one place.
std::vector<bool> halves(const TopologySpec& spec) {
    std::vector<bool> marked(std::size_t(spec.endpoints()));
    std::int64_t stride = 1, useStride = 1;
    const TopologyDimension* use = &spec.dimensions.front();
    for (const TopologyDimension& dimension : spec.dimensions) {
        if (dimension.size > 1) {
            use = &dimension;
            useStride = stride;
        }
        stride *= dimension.size;
    }
    for (std::size_t v = 0; v < marked.size(); ++v) {
        const std::int64_t at = std::int64_t(v) / useStride % use->size;
        if (!use->sides.empty()) {
            std::size_t longest = 0;
            for (std::size_t i = 0; i < use->sides.size(); ++i) {
                if (use->sides[i] > use->sides[longest]) longest = i;
            }
            std::int64_t below = 1;
            for (std::size_t i = 0; i < longest; ++i) below *= use->sides[i];
            marked[v] = at / below % use->sides[longest] < use->sides[longest] / 2;
        } else if (use->shape == Dragonfly && use->groups > 1) {
            marked[v] = at / (use->size / use->groups) < use->groups / 2;
        } else if (use->shape == Dragonfly && use->routers > 1) {
            marked[v] = at / (use->size / use->routers) < use->routers / 2;
        } else if (use->shape == RailOptimised && use->size > use->groups) {
            marked[v] = at / use->groups < use->size / use->groups / 2;
        } else {
            marked[v] = at < use->size / 2;
        }
    }
    return marked;
}

/// A spec with one dimension, drawn at random, small enough to count.
TopologyDimension any(std::mt19937& random, TopologyShape shape, std::int64_t most) {
    const auto number = [&random](std::int64_t low, std::int64_t high) {
        return low + std::int64_t(random() % std::uint64_t(high - low + 1));
    };
    switch (shape) {
        case Mesh:
        case Torus: {
            std::vector<std::int64_t> sides;
            std::int64_t left = most;
            for (std::int64_t i = number(1, 4); i > 0 && left > 0; --i) {
                sides.push_back(number(1, std::min<std::int64_t>(left, 6)));
                left /= sides.back();
            }
            return grid(shape, sides);
        }
        case FatTree: {
            static constexpr double over[] = {1, 1, 2, 3, 1.5};
            return fatTree(2 * number(2, 8), number(1, most), over[random() % 5]);
        }
        case Dragonfly: {
            const std::int64_t a = number(1, 5), h = number(1, 3), p = number(1, 3);
            const std::int64_t fit = std::max<std::int64_t>(most / (a * p), 1);
            return dragonfly(p, a, h, number(1, std::min(a * h + 1, fit)));
        }
        case NvSwitch:
            return planes(number(1, most), number(1, 6));
        case RailOptimised: {
            const std::int64_t r = number(1, std::min<std::int64_t>(8, most));
            return rails(number(1, most / r), r, number(1, 4), 1 + double(random() % 3));
        }
        default:
            return plain(shape, number(1, most));
    }
}

void compare(const TopologySpec& spec) {
    const QString what = describe(spec);
    const auto facts = topologyFacts(spec);
    QVERIFY2(facts, qPrintable(what + (facts ? QString() : QString::fromStdString(toText(facts.error())))));
    const auto network = expandTopology(spec);
    QVERIFY2(network, qPrintable(what));
    QCOMPARE(network->endpoints, spec.endpoints());
    const auto told = [&](const char* fact, double stated, double counted) {
        QVERIFY2(std::fabs(stated - counted) <= 1e-9 * (1 + counted),
                 qPrintable(QString("%1: %2 is %3, counted %4").arg(what, fact).arg(stated).arg(counted)));
    };
    told("endpoints", double(facts->endpoints), double(network->endpoints));
    told("switches", double(facts->switches), double(network->vertices.size()) - double(network->endpoints));
    told("links", double(facts->links), double(counted::links(*network)));
    const auto global = [&](int edge) {
        const auto& one = network->edges[std::size_t(edge)];
        const auto d = std::size_t(one.dimension);
        if (spec.dimensions[d].shape != Dragonfly || one.a < network->endpoints || one.b < network->endpoints)
            return false;
        // Alone in these tests where it stands in a stack: routers are numbered group by group.
        return (one.a - network->endpoints) / spec.dimensions[d].routers !=
               (one.b - network->endpoints) / spec.dimensions[d].routers;
    };
    const auto hops = counted::hops(*network, global);
    QVERIFY2(hops.connected, qPrintable(what));
    told("diameter", double(facts->diameter), double(hops.diameter));
    told("mean hops", facts->meanHops, hops.mean);
    const bool bus =
        std::any_of(spec.dimensions.begin(), spec.dimensions.end(), [](const auto& d) { return d.shape == Bus; });
    if (!bus) told("bisection", double(facts->bisectionLinks), double(counted::cut(*network, halves(spec))));

    const auto degree = counted::degrees(*network);
    std::set<std::pair<int, int>> seen;
    for (const auto& edge : network->edges) {
        QVERIFY2(edge.a != edge.b && edge.parallel >= 1, qPrintable(what));
        QVERIFY2(seen.insert(std::minmax(edge.a, edge.b)).second, qPrintable(what + ": an edge twice"));
    }
    for (std::size_t v = 0; v < network->vertices.size(); ++v) {
        const auto& vertex = network->vertices[v];
        QVERIFY2(vertex.x >= 0 && vertex.x <= 1 && vertex.y >= 0 && vertex.y <= 1, qPrintable(what));
        QCOMPARE(vertex.isSwitch, std::int64_t(v) >= network->endpoints);
        if (!vertex.isSwitch) continue;
        const std::int64_t radix = spec.dimensions[std::size_t(vertex.dimension)].radix;
        QVERIFY2(degree[v] > 0 && (radix == 0 || degree[v] <= radix),
                 qPrintable(what + ": a switch has too many links"));
    }
}

}  // namespace

class TestTopologyFacts : public QObject {
    Q_OBJECT
private slots:
    void closedFormsAreWhatCountingGives_data() {
        QTest::addColumn<int>("shape");
        for (int i = 0; i < topologyShapeCount; ++i) {
            QTest::newRow(std::string(toText(static_cast<TopologyShape>(i))).c_str()) << i;
        }
    }
    void closedFormsAreWhatCountingGives() {
        QFETCH(int, shape);
        std::mt19937 random(static_cast<unsigned>(shape) + 7);
        for (int i = 0; i < 60; ++i) {
            compare({"t", {any(random, static_cast<TopologyShape>(shape), 80)}});
            if (QTest::currentTestFailed()) return;
        }
    }
    void stacksAreProducts() {
        std::mt19937 random(11);
        for (int i = 0; i < 80; ++i) {
            TopologySpec spec{"t", {}};
            for (std::int64_t left = 100; left > 1 && spec.dimensions.size() < 3;) {
                TopologyShape shape = static_cast<TopologyShape>(random() % topologyShapeCount);
                // A way through a stack may cross one global link for each of its dragonflies; counted alone only.
                if (shape == Dragonfly) shape = Ring;
                spec.dimensions.push_back(any(random, shape, std::min<std::int64_t>(left, 10)));
                left /= spec.dimensions.back().size;
            }
            compare(spec);
            if (QTest::currentTestFailed()) return;
        }
    }

    /// Numbers as their papers and makers give them.
    void publishedNetworks_data() {
        QTest::addColumn<TopologyDimension>("dimension");
        QTest::addColumn<QList<int>>("numbers");  // endpoints, switches, links, diameter, bisection; -1: not published
        QTest::newRow("k = 4 fat tree (Al-Fares et al., SIGCOMM 2008, figure 3)")
            << fatTree(4, 16) << QList<int>{16, 20, 48, 6, 8};
        QTest::newRow("k = 48 fat tree (the same, section 3.1: 27,648 hosts, 2,880 switches)")
            << fatTree(48, 27648) << QList<int>{27648, 2880, -1, 6, 13824};
        QTest::newRow("two-tier fat tree of 64-port switches: 2,048 endpoints, 64 leaves, 32 spines")
            << fatTree(64, 2048) << QList<int>{2048, 96, 4096, 4, 1024};
        QTest::newRow("dragonfly p = h = 2, a = 4 (Kim et al., ISCA 2008, figure 5: N = 72, g = 9)")
            << dragonfly(2, 4, 2, 9) << QList<int>{72, 36, -1, 5, -1};
        QTest::newRow("dragonfly of k = 7 + 8 ports, p = h = 4, a = 8 (N = 1,056, as Kim et al. evaluate)")
            << dragonfly(4, 8, 4, 33) << QList<int>{1056, 264, -1, 5, -1};
        QTest::newRow("TPU v4 cube: 4 x 4 x 4 torus, three links for each chip and direction pair")
            << grid(Torus, {4, 4, 4}) << QList<int>{64, 0, 192, 6, 32};
        QTest::newRow("TPU v3 pod: 32 x 32 torus") << grid(Torus, {32, 32}) << QList<int>{1024, 0, 2048, 32, 64};
        QTest::newRow("hypercube of 16 as 2 x 2 x 2 x 2: n 2^(n-1) edges, diameter n, bisection 2^(n-1)")
            << grid(Mesh, {2, 2, 2, 2}) << QList<int>{16, 0, 32, 4, 8};
        QTest::newRow("GB200 NVL72: 72 GPUs on 18 switch chips") << planes(72, 18) << QList<int>{72, 18, 1296, 2, 648};
        QTest::newRow("DGX H100: 8 GPUs on 4 switches") << planes(8, 4) << QList<int>{8, 4, 32, 2, 16};
        QTest::newRow("K5") << plain(FullyConnected, 5) << QList<int>{5, 0, 10, 1, 6};
    }
    void publishedNetworks() {
        QFETCH(TopologyDimension, dimension);
        QFETCH(QList<int>, numbers);
        const auto facts = topologyFacts({"t", {dimension}});
        QVERIFY(facts);
        const std::int64_t ours[] = {facts->endpoints, facts->switches, facts->links, facts->diameter,
                                     facts->bisectionLinks};
        for (int i = 0; i < 5; ++i) {
            if (numbers[i] >= 0) QCOMPARE(ours[i], std::int64_t(numbers[i]));
        }
    }
    /// 2 endpoints up for 1 down: the halves of a filled tree meet over half the links.
    void oversubscriptionDividesTheBisection() {
        for (const double over : {1.0, 2.0, 3.0, 5.0}) {
            const std::int64_t down = std::int64_t(24 * over / (1 + over));
            const TopologySpec spec{"t", {fatTree(24, down * 24, over)}};
            const auto facts = topologyFacts(spec);
            QVERIFY(facts);
            QCOMPARE(double(facts->bisectionLinks) * 2 * over, double(facts->endpoints));
        }
    }
    void bandwidthOfTheCut() {
        TopologyDimension dimension = grid(Torus, {4, 4, 4});
        dimension.bandwidth = BytesPerSecond(50e9);
        QCOMPARE(topologyFacts({"t", {dimension}})->bisection.value, 32 * 50e9);
    }
    /// What would be too large to draw says how large it is, and costs no time to refuse.
    void largeNetworksAreRefusedWithTheirSize() {
        const TopologySpec spec{"t", {fatTree(64, 65536)}};
        const auto refused = expandTopology(spec, 1000);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, std::string("hardware.topology-large"));
        QVERIFY2(refused.error().message.find("65536") != std::string::npos, refused.error().message.c_str());
        QVERIFY(!expandTopology({"t", {plain(FullyConnected, 1000000)}}));
        QVERIFY(!expandTopology({"t", {plain(Ring, 1000000000)}}));
        QVERIFY(topologyFacts({"t", {fatTree(64, 1000000000)}}));
    }
};

QTEST_GUILESS_MAIN(TestTopologyFacts)
#include "tst_topology_facts.moc"
