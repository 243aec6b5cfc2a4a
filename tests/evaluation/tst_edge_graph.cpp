#include "evaluation/edge/edge_judge.h"
#include "learning/edge/graph_features.h"
#include "support/edge_fixture.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace orrery;

namespace {

// Devices that run the branches of a cell side by side: the longest way decides, which no sum of operators says.
EdgeTable overlapping(std::size_t devices, std::size_t rows) {
    EdgeTable table = madeTable(devices, rows, 0, false);
    RandomStream random(23);
    for (std::size_t d = 0; d < devices; ++d) {
        const double one = 0.3 + 0.2 * random.uniform(), three = 1 + random.uniform(), pool = 0.2 + random.uniform();
        for (std::size_t r = 0; r < rows; ++r) {
            const auto cell = *readNasBench201(table.networks[r]);
            std::array<double, 4> until{};
            for (std::size_t e = 0; e < 6; ++e) {
                const auto from = static_cast<std::size_t>(cell.from[e]), to = static_cast<std::size_t>(cell.to[e]);
                const double own = cell.edges[e] == NasBench201Cell::Conv1   ? one
                                   : cell.edges[e] == NasBench201Cell::Conv3 ? three
                                   : cell.edges[e] == NasBench201Cell::Pool  ? pool
                                                                             : 0;
                until[to] = std::max(until[to], until[from] + own);
            }
            table.values[d][r] = 1 + until[3];
        }
    }
    return table;
}

}  // namespace

// What a graph network learned from known devices says of a new one.
class TestEdgeGraph : public QObject {
    Q_OBJECT

private slots:
    void tenSamplesTellAnAdditiveDevice() {
        const EdgeTable table = madeTable(8, 600, 0.01, false);
        EdgeProtocol protocol;
        protocol.model = EdgeModel::Graph;
        protocol.targets = {"device0", "device1"};
        protocol.repeats = 5;
        const auto ten = judgeEdge(table, table, protocol);
        QVERIFY2(ten, ten ? "" : ten.error().message.c_str());
        QVERIFY2(ten->mean.spearman > 0.97, qPrintable(QString::number(ten->mean.spearman)));
        QVERIFY2(ten->mean.coverage > 0.75, qPrintable(QString::number(ten->mean.coverage)));
        QCOMPARE(ten->knownDevices, std::size_t{6});
        QVERIFY(ten->targets.front().deadCode.empty());  // told from counts alone
        const auto again = judgeEdge(table, table, protocol);
        QCOMPARE(again->mean.mape, ten->mean.mape);
        QCOMPARE(again->last.back().predicted.high, ten->last.back().predicted.high);
    }
    // Where branches hide each other a sum is wrong: there a network over the graph pays.
    void itPaysWhereSumsAreWrong() {
        const EdgeTable table = overlapping(8, 800);
        EdgeProtocol protocol;
        protocol.targets = {"device0", "device1"};
        protocol.repeats = 5;
        const auto sums = judgeEdge(table, table, protocol);
        protocol.model = EdgeModel::Graph;
        const auto graph = judgeEdge(table, table, protocol);
        QVERIFY(sums && graph);
        qInfo("mean error %.3f, of sums %.3f", graph->mean.mape, sums->mean.mape);
        QVERIFY2(graph->mean.mape < 0.95 * sums->mean.mape,
                 qPrintable(QString("%1 of %2").arg(graph->mean.mape).arg(sums->mean.mape)));
        QVERIFY(graph->mean.spearman > sums->mean.spearman);
    }
    // The times of the judged device teach nothing: without them the network is the same.
    void theTargetsOwnTimesAreNotSeen() {
        EdgeTable table = madeTable(6, 300, 0.01, false);
        EdgeProtocol protocol;
        protocol.model = EdgeModel::Graph;
        protocol.targets = {"device0"};
        protocol.samples = 0;
        const auto before = judgeEdge(table, table, protocol);
        std::reverse(table.values[0].begin(), table.values[0].end());
        const auto after = judgeEdge(table, table, protocol);
        QVERIFY(before && after);
        for (std::size_t i = 0; i < before->last.size(); ++i)
            QCOMPARE(after->last[i].predicted.mean, before->last[i].predicted.mean);
    }
    void rowsHaveCountsInFront() {
        const EdgeTable table = madeTable(5, 120, 0.01, false);
        const auto counts = edgeFeatures(table);
        const auto networks = edgeGraphs(table, EdgeModel::Graph);
        QVERIFY(counts && networks);
        const auto graphs = GraphFeatures::learn(*networks, table.values, {.rounds = 2});
        QVERIFY(graphs);
        const FeatureRows made = graphs->rows(*networks, &*counts);
        const FeatureRows* const rows = &made;
        QCOMPARE(rows->rows(), table.networks.size());
        constexpr std::size_t learned = GraphFeatures::learned;
        QCOMPARE(rows->columns, 2 * (5 + learned + 1));
        QCOMPARE(rows->half, rows->columns / 2);
        std::size_t alive = 0;
        for (std::size_t r = 0; r < rows->rows(); ++r) {
            const auto a = rows->row(r), b = counts->row(r);
            for (std::size_t c = 0; c < 5; ++c) {
                QCOMPARE(a[c], b[c]);
                QCOMPARE(a[rows->half + c], b[counts->half + c]);
            }
            QCOMPARE(a[rows->nothing], b[counts->nothing]);
            QVERIFY(std::all_of(a.begin(), a.end(), [](double each) { return std::isfinite(each); }));
            // A cell without dead code is the same when it is folded, and so is what is made of it.
            if (!std::equal(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(counts->half),
                            b.begin() + static_cast<std::ptrdiff_t>(counts->half)) ||
                table.networks[r].find("none") != std::string::npos)
                continue;
            ++alive;
            for (std::size_t c = 0; c < learned; ++c) QCOMPARE(a[5 + c], a[rows->half + 5 + c]);
        }
        QVERIFY2(alive >= 10 && alive < rows->rows(), qPrintable(QString::number(alive)));
        QVERIFY(!graphs->row(table.space, {}, "|none~0|"));
        // One network alone has the row that it has among others.
        const auto alone = graphs->row(table.space, {}, "nasbench201:" + table.networks[7]);
        QVERIFY(alone);
        for (std::size_t c = 0; c < rows->columns; ++c) QVERIFY(std::abs(alone->values[c] - rows->row(7)[c]) < 1e-4);
    }
    void whatIsNoGraphIsRefused() {
        EdgeTable table = madeTable(4, 60, 0.01, false);
        EdgeProtocol protocol;
        protocol.model = EdgeModel::Graph;
        protocol.targets = {"device0"};
        protocol.prior = false;
        QCOMPARE(judgeEdge(table, table, protocol).error().code, std::string("edge.no-devices"));
        QCOMPARE(graphOfCode("ofa", {}, "", GraphForm::Words, false).error().code, std::string("edge.no-graph"));
        for (std::size_t d = 1; d < 4; ++d)
            std::fill(table.values[d].begin() + 10, table.values[d].end(), std::numeric_limits<double>::quiet_NaN());
        protocol.prior = true;
        QCOMPARE(judgeEdge(table, table, protocol).error().code, std::string("edge.no-devices"));
        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(GraphFeatures::learn(*edgeGraphs(table, EdgeModel::Graph), std::span(table.values).first(1),
                                      {.stop = stop.get_token()})
                     .error()
                     .code,
                 std::string("edge.stopped"));
        table.space.clear();
        QCOMPARE(judgeEdge(table, table, protocol).error().code, std::string("edge.no-graph"));
    }
};

QTEST_GUILESS_MAIN(TestEdgeGraph)
#include "tst_edge_graph.moc"
