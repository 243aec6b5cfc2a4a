#include "base/random.h"
#include "support/layout_checks.h"
#include "widgets/graph/layered_layout.h"
#include "workload/hierarchy.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <chrono>
#include <map>
#include <numeric>
#include <set>
#include <thread>

using namespace orrery;
using namespace orrery::ui;
using orrery::test::checkLayout;
using orrery::test::nodeBox;

namespace {

LayoutGraph plain(std::size_t nodes) {
    LayoutGraph graph;
    graph.sizes.assign(nodes, QSizeF(80, 24));
    return graph;
}

/// Nodes of many sizes, edges mostly forwards, nested frames.
LayoutGraph randomGraph(std::uint64_t seed, bool cyclic) {
    RandomStream random(seed);
    LayoutGraph graph;
    const auto nodes = static_cast<std::int32_t>(1 + random.below(60));
    const auto frames = static_cast<std::int32_t>(random.below(8));
    for (std::int32_t f = 0; f < frames; ++f) {
        graph.frameParent.push_back(static_cast<std::int32_t>(random.below(std::uint64_t(f) + 1)) - 1);
        graph.frameWidth.push_back(random.below(2) ? 200 : 0);
    }
    for (std::int32_t n = 0; n < nodes; ++n) {
        graph.sizes.push_back(QSizeF(20 + double(random.below(120)), 16 + double(random.below(40))));
        graph.frame.push_back(static_cast<std::int32_t>(random.below(std::uint64_t(frames) + 1)) - 1);
    }
    for (std::uint64_t e = random.below(120); e > 0; --e) {
        auto a = static_cast<std::int32_t>(random.below(std::uint64_t(nodes)));
        auto b = static_cast<std::int32_t>(random.below(std::uint64_t(nodes)));
        if (!cyclic && a == b) continue;
        if (!cyclic && a > b) std::swap(a, b);
        graph.edges.push_back({a, b});
    }
    graph.leftToRight = random.below(2) == 0;
    return graph;
}

bool cross(QPointF a, QPointF b, QPointF c, QPointF d) {
    const auto turn = [](QPointF p, QPointF q, QPointF r) {
        const double v = (q.x() - p.x()) * (r.y() - p.y()) - (q.y() - p.y()) * (r.x() - p.x());
        return std::abs(v) < 1e-6 ? 0 : v > 0 ? 1 : -1;
    };
    return turn(a, b, c) * turn(a, b, d) < 0 && turn(c, d, a) * turn(c, d, b) < 0;
}

int drawnCrossings(const LayoutResult& result) {
    int count = 0;
    for (std::size_t e = 0; e < result.routes.size(); ++e) {
        for (std::size_t f = e + 1; f < result.routes.size(); ++f) {
            const auto &r = result.routes[e], &s = result.routes[f];
            for (std::size_t i = 0; i + 1 < r.size(); ++i) {
                for (std::size_t j = 0; j + 1 < s.size(); ++j) count += cross(r[i], r[i + 1], s[j], s[j + 1]);
            }
        }
    }
    return count;
}

using Rows = std::vector<std::vector<std::int32_t>>;

int crossingsOf(const LayoutGraph& graph, const Rows& rows) {
    std::vector<int> row(graph.sizes.size()), place(graph.sizes.size());
    for (std::size_t r = 0; r < rows.size(); ++r) {
        for (std::size_t k = 0; k < rows[r].size(); ++k)
            row[std::size_t(rows[r][k])] = int(r), place[std::size_t(rows[r][k])] = int(k);
    }
    int count = 0;
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
        for (std::size_t f = e + 1; f < graph.edges.size(); ++f) {
            const auto [a, b] = graph.edges[e];
            const auto [c, d] = graph.edges[f];
            if (row[std::size_t(a)] != row[std::size_t(c)]) continue;
            count +=
                (place[std::size_t(a)] - place[std::size_t(c)]) * (place[std::size_t(b)] - place[std::size_t(d)]) < 0;
        }
    }
    return count;
}

int fewestCrossings(const LayoutGraph& graph, Rows rows, std::size_t at = 0) {
    if (at == rows.size()) return crossingsOf(graph, rows);
    std::sort(rows[at].begin(), rows[at].end());
    int best = std::numeric_limits<int>::max();
    do {
        best = std::min(best, fewestCrossings(graph, rows, at + 1));
    } while (best > 0 && std::next_permutation(rows[at].begin(), rows[at].end()));
    return best;
}

Rows rowsOf(const LayoutResult& result) {
    std::map<long, std::vector<std::int32_t>> byHeight;
    for (std::size_t n = 0; n < result.centres.size(); ++n) {
        byHeight[std::lround(result.centres[n].y())].push_back(std::int32_t(n));
    }
    Rows rows;
    for (auto& [y, row] : byHeight) {
        std::sort(row.begin(), row.end(), [&](auto a, auto b) {
            return result.centres[std::size_t(a)].x() < result.centres[std::size_t(b)].x();
        });
        rows.push_back(row);
    }
    return rows;
}

LayoutGraph ofModel(const Graph& graph, int most) {
    const GraphHierarchy hierarchy = hierarchyOf(graph);
    const VisibleGraph visible = visibleGraph(graph, hierarchy, openAtFirst(graph, hierarchy, most));
    LayoutGraph layout = plain(visible.nodes.size());
    std::vector<std::int32_t> frameOf(hierarchy.groups.size(), -1);
    for (const std::int32_t g : visible.openGroups) {
        frameOf[std::size_t(g)] = std::int32_t(layout.frameParent.size());
        const std::int32_t parent = hierarchy.groups[std::size_t(g)].parent;
        layout.frameParent.push_back(parent < 0 ? -1 : frameOf[std::size_t(parent)]);
    }
    for (const auto& node : visible.nodes) {
        const std::int32_t around =
            node.op >= 0 ? hierarchy.groupOf[std::size_t(node.op)] : hierarchy.groups[std::size_t(node.group)].parent;
        layout.frame.push_back(around < 0 ? -1 : frameOf[std::size_t(around)]);
    }
    for (const auto& edge : visible.edges) {
        if (edge.from >= 0 && edge.to >= 0) layout.edges.push_back({edge.from, edge.to});
    }
    return layout;
}

}  // namespace

class TestLayeredLayout : public QObject {
    Q_OBJECT
private slots:
    void nothingIsDrawnOfNothing() {
        const LayoutResult result = layeredLayout({});
        QVERIFY(result.centres.empty() && result.routes.empty());
    }

    void everyGraphIsDrawnSoundly() {
        for (std::uint64_t seed = 0; seed < 400; ++seed) {
            const LayoutGraph graph = randomGraph(seed, seed % 3 == 0);
            const LayoutResult result = layeredLayout(graph);
            checkLayout(graph, result);
            if (QTest::currentTestFailed()) qFatal("seed %llu", static_cast<unsigned long long>(seed));
        }
    }

    void edgesGoDown() {
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
            LayoutGraph graph = randomGraph(seed, false);
            graph.frame.clear(), graph.frameParent.clear(), graph.frameWidth.clear();
            const LayoutResult result = layeredLayout(graph);
            for (std::size_t e = 0; e < graph.edges.size(); ++e) {
                const auto& route = result.routes[e];
                for (std::size_t p = 0; p + 1 < route.size(); ++p) {
                    const double step =
                        graph.leftToRight ? route[p + 1].x() - route[p].x() : route[p + 1].y() - route[p].y();
                    QVERIFY2(step >= -1e-6, qPrintable(QString("seed %1, edge %2").arg(seed).arg(e)));
                }
                const QRectF from = nodeBox(graph, result, std::size_t(graph.edges[e].from));
                const QRectF to = nodeBox(graph, result, std::size_t(graph.edges[e].to));
                QVERIFY(graph.leftToRight ? from.right() < to.left() : from.bottom() < to.top());
            }
        }
    }

    // Routes may pass over no node: neither one in between nor a frame's.
    void routesAvoidNodes() {
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
            const LayoutGraph graph = randomGraph(seed, false);
            const LayoutResult result = layeredLayout(graph);
            for (std::size_t e = 0; e < graph.edges.size(); ++e) {
                const auto& route = result.routes[e];
                for (std::size_t n = 0; n < graph.sizes.size(); ++n) {
                    if (std::int32_t(n) == graph.edges[e].from || std::int32_t(n) == graph.edges[e].to) continue;
                    const QRectF box = nodeBox(graph, result, n).adjusted(0.5, 0.5, -0.5, -0.5);
                    for (std::size_t p = 0; p + 1 < route.size(); ++p) {
                        const bool hit = cross(route[p], route[p + 1], box.topLeft(), box.bottomRight()) ||
                                         cross(route[p], route[p + 1], box.topRight(), box.bottomLeft());
                        QVERIFY2(!hit,
                                 qPrintable(QString("seed %1: edge %2 runs through node %3").arg(seed).arg(e).arg(n)));
                    }
                }
            }
        }
    }

    void aTreeHasNoCrossings_data() {
        QTest::addColumn<bool>("towardsRoot");
        QTest::newRow("from the root") << false;
        QTest::newRow("to the root") << true;
    }
    void aTreeHasNoCrossings() {
        QFETCH(bool, towardsRoot);
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            RandomStream random(seed);
            LayoutGraph graph = plain(40);
            for (std::int32_t n = 1; n < 40; ++n) {
                const auto parent = std::int32_t(random.below(std::uint64_t(n)));
                graph.edges.push_back(towardsRoot ? LayoutGraph::Edge{39 - n, 39 - parent}
                                                  : LayoutGraph::Edge{parent, n});
            }
            const LayoutResult result = layeredLayout(graph);
            checkLayout(graph, result);
            QCOMPARE(drawnCrossings(result), 0);
        }
    }

    void aChainIsStraight() {
        LayoutGraph graph = plain(30);
        for (std::int32_t n = 1; n < 30; ++n) graph.edges.push_back({n - 1, n});
        const LayoutResult result = layeredLayout(graph);
        for (const QPointF& centre : result.centres) QCOMPARE(centre.x(), result.centres[0].x());
        for (const auto& route : result.routes) QCOMPARE(route.size(), std::size_t{2});
    }

    // A chain through a frame stays straight across its borders.
    void aChainThroughAFrameIsStraight() {
        LayoutGraph graph = plain(6);
        for (std::int32_t n = 1; n < 6; ++n) graph.edges.push_back({n - 1, n});
        graph.frame = {-1, -1, 0, 0, -1, -1};
        graph.frameParent = {-1};
        graph.frameWidth = {300};
        const LayoutResult result = layeredLayout(graph);
        checkLayout(graph, result);
        for (const auto& route : result.routes) {
            for (const QPointF& point : route) QVERIFY(std::abs(point.x() - result.centres[0].x()) < 0.01);
        }
    }

    void fewCrossingsAgainstAllOrders() {
        int best = 0, ours = 0, equal = 0;
        constexpr int graphs = 60;
        for (std::uint64_t seed = 0; seed < graphs; ++seed) {
            RandomStream random(seed);
            LayoutGraph graph = plain(12);  // three rows of four
            std::set<std::pair<std::int32_t, std::int32_t>> used;
            for (std::int32_t n = 4; n < 12; ++n) {
                for (std::uint64_t k = 1 + random.below(3); k > 0; --k) {
                    const auto from = std::int32_t((n / 4 - 1) * 4 + std::int32_t(random.below(4)));
                    if (used.insert({from, n}).second) graph.edges.push_back({from, n});
                }
            }
            const LayoutResult result = layeredLayout(graph);
            Rows rows;
            std::set<std::int32_t> joined;
            for (const auto& edge : graph.edges) joined.insert(edge.from), joined.insert(edge.to);
            for (std::vector<std::int32_t> row : rowsOf(result)) {
                std::erase_if(row, [&](std::int32_t n) { return !joined.contains(n); });
                if (!row.empty()) rows.push_back(row);
            }
            const int least = fewestCrossings(graph, rows), got = crossingsOf(graph, rows);
            QVERIFY(got >= least);
            best += least, ours += got, equal += got == least;
        }
        qInfo("crossings: %d of at best %d; optimal in %d of %d graphs", ours, best, equal, graphs);
        QVERIFY(best > 50);
        QVERIFY(equal >= graphs * 9 / 10);
        QVERIFY(ours <= best * 1.03);
    }

    void sameGraphSamePicture() {
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const LayoutGraph graph = randomGraph(seed, true);
            const LayoutResult a = layeredLayout(graph), b = layeredLayout(graph);
            QVERIFY(a.centres == b.centres && a.routes == b.routes && a.frames == b.frames);
        }
    }

    void stoppedLayoutIsStillSound() {
        std::stop_source stop;
        stop.request_stop();
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            const LayoutGraph graph = randomGraph(seed, true);
            checkLayout(graph, layeredLayout(graph, stop.get_token()));
        }
    }

    void nodesWithoutEdgesDoNotMakeOneRow() {
        const LayoutGraph graph = plain(400);
        const LayoutResult result = layeredLayout(graph);
        checkLayout(graph, result);
        QVERIFY(result.bounds.width() < 4 * result.bounds.height());
    }

    void modelsAreDrawnSoundly() {
        for (const char* id : {"gpt-3-175b", "resnet-50", "stable-diffusion-1.5", "dlrm"}) {
            const auto workload = loadWorkload({.source = id, .options = {}, .whatIfs = {}});
            QVERIFY(workload.has_value());
            for (const int most : {20, 300}) {
                for (const bool across : {false, true}) {
                    LayoutGraph graph = ofModel((*workload)->graph, most);
                    graph.leftToRight = across;
                    checkLayout(graph, layeredLayout(graph));
                }
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestLayeredLayout)
#include "tst_layered_layout.moc"
