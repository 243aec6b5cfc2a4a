// Heat on the graph: which numbers there are, what folded groups have of them, and scales. Expectations are sums and
// formulas written here, for any folding.

#include "support/plots_fixture.h"
#include "widgets/graph/heat.h"
#include "widgets/graph/measured_times.h"

#include <QtTest/QtTest>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>

using namespace orrery;
using namespace orrery::ui;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

const HeatMetric* metric(const std::vector<HeatMetric>& all, const QString& id) {
    for (const HeatMetric& each : all) {
        if (each.id == id) return &each;
    }
    return nullptr;
}

/// A snapshot whose operators are linked, so that they can be drawn.
SnapshotPtr linked() {
    auto snapshot = std::make_shared<Snapshot>(*fixture::snapshot());
    auto workload = std::make_shared<Workload>(*snapshot->scenario.workload);
    TensorId last = workload->graph.addTensor({"input", DType::F16, {Dim(8)}, true, TensorRole::Input});
    for (Operator& op : workload->graph.operators) {
        op.inputs = {last};
        last = workload->graph.addTensor({op.name + ":0", DType::F16, {Dim(8), Dim(4096)}});
        op.outputs = {last};
    }
    snapshot->scenario.workload = workload;
    return snapshot;
}

std::vector<bool> randomFolding(std::mt19937& random, std::size_t groups) {
    std::vector<bool> open(groups);
    for (std::size_t g = 0; g < groups; ++g) open[g] = random() % 2 == 0;
    return open;
}

double sum(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0,
                           [](double a, double b) { return std::isnan(b) ? a : a + b; });
}

QString writeFile(QTemporaryDir& folder, const char* text) {
    const QString path = folder.filePath(QStringLiteral("times.csv"));
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write(text);
    return path;
}

}  // namespace

class TestGraphHeat : public QObject {
    Q_OBJECT
private slots:
    void sumsAreTheSameForEveryFolding() {
        const SnapshotPtr snapshot = linked();
        const Graph& graph = snapshot->scenario.workload->graph;
        const GraphHierarchy hierarchy = hierarchyOf(graph);
        QVERIFY(hierarchy.groups.size() >= 4);
        const auto metrics = heatMetrics(*snapshot);
        std::mt19937 random(7);
        int checked = 0;
        for (int round = 0; round < 50; ++round) {
            const VisibleGraph visible = visibleGraph(graph, hierarchy, randomFolding(random, hierarchy.groups.size()));
            for (const HeatMetric& each : metrics) {
                if (!each.additive) continue;
                const double total = sum(each.values), shown = sum(nodeValues(each, visible));
                QVERIFY2(std::abs(shown - total) <= 1e-9 * std::abs(total), qPrintable(each.id));
                ++checked;
            }
        }
        QVERIFY(checked >= 50 * 6);
    }

    void meansOfAGroupAreRatiosOfItsSums() {
        const SnapshotPtr snapshot = linked();
        const auto& graph = snapshot->scenario.workload->graph;
        const auto metrics = heatMetrics(*snapshot);
        const OperatorEstimates& a = snapshot->answers[0].estimate->operators;
        const OperatorEstimates& b = snapshot->answers[1].estimate->operators;
        VisibleGraph one;  // all in one group
        one.nodes = {{-1, 0}};
        one.nodeOf.assign(graph.operators.size(), 0);
        const HeatMetric* intensity = metric(metrics, "intensity/roofline");
        QVERIFY(intensity);
        QCOMPARE(nodeValues(*intensity, one).front(), sum(a.flops) / sum(a.bytes));
        const HeatMetric* ratio = metric(metrics, "ratio/roofline/hierarchical-roofline");
        QVERIFY(ratio);
        QCOMPARE(nodeValues(*ratio, one).front(), sum(b.seconds) / sum(a.seconds));
        const HeatMetric* share = metric(metrics, "share/roofline");
        QVERIFY(share);
        QCOMPARE(nodeValues(*share, one).front(), 1.0);
    }

    void differencesAreAntisymmetric() {
        const SnapshotPtr snapshot = linked();
        auto swapped = std::make_shared<Snapshot>(*snapshot);
        std::swap(swapped->answers[0], swapped->answers[1]);
        const auto there = heatMetrics(*snapshot), back = heatMetrics(*swapped);
        const HeatMetric* x = metric(there, "difference/roofline/hierarchical-roofline");
        const HeatMetric* y = metric(back, "difference/hierarchical-roofline/roofline");
        const HeatMetric* p = metric(there, "ratio/roofline/hierarchical-roofline");
        const HeatMetric* q = metric(back, "ratio/hierarchical-roofline/roofline");
        QVERIFY(x && y && p && q);
        QVERIFY(sum(x->values) != 0);
        for (std::size_t i = 0; i < x->values.size(); ++i) {
            QCOMPARE(x->values[i], -y->values[i]);
            QCOMPARE(p->values[i] * q->values[i], 1.0);
        }
        const HeatScale one = heatScale(*x, x->values), other = heatScale(*y, y->values);
        QCOMPARE(one.position(x->values[3]), 1 - other.position(y->values[3]));
    }

    void aFewOutliersDoNotWashOutTheRest() {
        HeatMetric difference{"d", "d", Dimension::Time};
        difference.diverging = true;
        std::vector<double> values;
        for (int i = -20; i <= 20; ++i) values.push_back(i * 1e-6);
        const HeatScale plain = heatScale(difference, values);
        QVERIFY(!plain.clipped);
        QCOMPARE(plain.high, 20e-6);
        values.push_back(5e-3);
        const HeatScale scale = heatScale(difference, values);
        QVERIFY(scale.clipped);
        QVERIFY(scale.high <= 20e-6 && scale.high >= 15e-6);
        QCOMPARE(scale.low, -scale.high);
        QCOMPARE(scale.position(5e-3), 1.0);
        QCOMPARE(scale.position(0), 0.5);
        values.resize(8);
        values.push_back(5e-3);  // too few to say what is usual
        QCOMPARE(heatScale(difference, values).high, 5e-3);
    }

    void storedAnswersStandBesideThoseOfNow() {
        const SnapshotPtr snapshot = linked();
        const Answer& now = snapshot->answers[0];
        auto slower = std::make_shared<Estimate>(*now.estimate);
        for (double& seconds : slower->operators.seconds) seconds *= 2;
        Answer then = now;
        then.estimate = slower;
        const auto metrics = heatMetrics(*snapshot, {}, {{"run-3-0", "run 3", {then}}});
        const HeatMetric* time = metric(metrics, "time/run-3-0/roofline");
        QVERIFY(time);
        QVERIFY(time->title.contains("run 3"));
        QCOMPARE(sum(time->values), 2 * sum(now.estimate->operators.seconds));
        const HeatMetric* ratio = metric(metrics, "ratio/run-3-0/roofline/roofline");
        QVERIFY(ratio);
        for (const double value : ratio->values) QVERIFY(std::isnan(value) || std::abs(value - 0.5) < 1e-12);
        QVERIFY(!metric(metrics, "ratio/run-3-0/roofline/hierarchical-roofline"));
        then.estimate = std::make_shared<Estimate>();  // of another workload
        QVERIFY(!metric(heatMetrics(*snapshot, {}, {{"run-3-0", "run 3", {then}}}), "time/run-3-0/roofline"));
    }

    void whatAMethodDoesNotPredictIsNotListed() {
        const SnapshotPtr snapshot = linked();
        const auto metrics = heatMetrics(*snapshot);
        QVERIFY(!metric(metrics, "energy/roofline"));  // the fixture predicts none
        QVERIFY(!metric(metrics, "measured"));
        QVERIFY(!metric(metrics, "error/roofline"));
        auto failed = std::make_shared<Snapshot>(*snapshot);
        failed->answers[1].estimate = nullptr;
        for (const HeatMetric& each : heatMetrics(*failed))
            QVERIFY2(!each.id.contains("hierarchical"), qPrintable(each.id));
    }

    void missingNumbersStayMissing() {
        HeatMetric times{"t", "t", Dimension::Time, {1, none, 3, none}};
        times.additive = true;
        VisibleGraph visible;
        visible.nodes = {{0, -1}, {1, -1}, {-1, 0}};
        visible.nodeOf = {0, 1, 2, 2};
        auto values = nodeValues(times, visible);
        QCOMPARE(values[0], 1.0);
        QVERIFY(std::isnan(values[1]));
        QCOMPARE(values[2], 3.0);
        times.additive = false;
        times.weights = {1, 1, 0, 0};  // nothing weighs: no mean
        QVERIFY(std::isnan(nodeValues(times, visible)[2]));
        QCOMPARE(heatText(times, none), QStringLiteral("–"));
        const HeatScale empty = heatScale(times, {none, none});
        QVERIFY(std::isnan(empty.position(none)));
        QVERIFY(empty.low < empty.high);
    }

    void boundOfAGroupIsWhatTakesMostOfItsTime() {
        HeatMetric bound{"b", "b"};
        bound.values = {0, 1, 1};
        bound.weights = {5, 2, 2};
        bound.choices = {"compute", "memory"};
        bound.bounds = {{BoundKind::Compute, -1}, {BoundKind::Memory, 0}};
        VisibleGraph visible;
        visible.nodes = {{-1, 0}};
        visible.nodeOf = {0, 0, 0};
        QCOMPARE(nodeValues(bound, visible).front(), 0.0);
        QCOMPARE(heatText(bound, 0), QStringLiteral("compute"));
        bound.weights = {3, 2, 2};
        QCOMPARE(nodeValues(bound, visible).front(), 1.0);
    }

    void scalesAreMonotonicAndTheirTicksLieWithin_data() {
        QTest::addColumn<bool>("logarithmic");
        QTest::addColumn<bool>("diverging");
        QTest::addColumn<QVector<double>>("values");
        QTest::newRow("linear") << false << false << QVector<double>{1e-6, 3e-6, 7.3e-4};
        QTest::newRow("log") << true << false << QVector<double>{1e-9, 3e-6, 7.3e-4};
        QTest::newRow("difference") << false << true << QVector<double>{-2e-6, 0, 7e-6};
        QTest::newRow("ratio") << true << true << QVector<double>{0.5, 1, 1.7};
        QTest::newRow("one value") << false << false << QVector<double>{4, 4};
        QTest::newRow("all the same ratio") << true << true << QVector<double>{1.35, 1.35};
    }
    void scalesAreMonotonicAndTheirTicksLieWithin() {
        QFETCH(bool, logarithmic);
        QFETCH(bool, diverging);
        QFETCH(QVector<double>, values);
        HeatMetric each{"m", "m", Dimension::Time};
        each.logarithmic = logarithmic;
        each.diverging = diverging;
        const HeatScale scale = heatScale(each, {values.begin(), values.end()});
        for (qsizetype i = 1; i < values.size(); ++i)
            QVERIFY(scale.position(values[i]) >= scale.position(values[i - 1]));
        QCOMPARE(scale.position(values.back() * (diverging ? 1 : 1)), scale.position(values.back()));
        if (diverging) QCOMPARE(scale.position(logarithmic ? 1.0 : 0.0), 0.5);
        const std::vector<double> ticks = scale.ticks();
        QVERIFY(ticks.size() >= 2 && ticks.size() <= 12);
        for (std::size_t i = 0; i < ticks.size(); ++i) {
            QVERIFY(ticks[i] >= scale.low * (1 - 1e-9) - 1e-300 ||
                    ticks[i] >= scale.low - 1e-9 * (scale.high - scale.low));
            QVERIFY(ticks[i] <= scale.high + 1e-9 * (scale.high - scale.low));
            if (i) QVERIFY(ticks[i] > ticks[i - 1]);
        }
        for (double at = 0; at <= 1; at += 0.25) QVERIFY(std::abs(scale.position(scale.valueAt(at)) - at) < 1e-9);
    }

    void measuredTimesGiveErrors() {
        const SnapshotPtr snapshot = linked();
        const auto& seconds = snapshot->answers[0].estimate->operators.seconds;
        std::vector<double> measured(seconds.size(), none);
        measured[1] = seconds[1] / 2;  // predicted twice too long
        const auto metrics = heatMetrics(*snapshot, measured);
        const HeatMetric* error = metric(metrics, "error/roofline");
        QVERIFY(error && metric(metrics, "measured"));
        QCOMPARE(error->values[1], 1.0);
        QVERIFY(std::isnan(error->values[2]));
        QCOMPARE(heatText(*error, error->values[1]), QStringLiteral("+100 %"));
    }

    void measuredTimesAreReadInTheirUnits_data() {
        QTest::addColumn<QByteArray>("csv");
        QTest::newRow("unit in header") << QByteArray("operator,time (us)\nembed,1900\nlm_head,5\n");
        QTest::newRow("unit after underscore") << QByteArray("name,time_us\nembed,1900\nlm_head,5\n");
        QTest::newRow("unit in cells") << QByteArray("operator,time\nembed,1.9ms\nlm_head,5 us\n");
        QTest::newRow("seconds") << QByteArray("operator,time\nembed,0.0019\nlm_head,5e-6\n");
        QTest::newRow("added up") << QByteArray("operator,time (ms)\nembed,0.9\nembed,1\nlm_head,0.005\nnobody,3\n");
    }
    void measuredTimesAreReadInTheirUnits() {
        QFETCH(QByteArray, csv);
        QTemporaryDir folder;
        const SnapshotPtr snapshot = linked();
        const Graph& graph = snapshot->scenario.workload->graph;
        const auto times = readMeasuredTimes(writeFile(folder, csv.constData()).toStdString(), graph);
        QVERIFY2(times.has_value(), times ? "" : toText(times.error()).c_str());
        QCOMPARE(times->matched, 2);
        QVERIFY(std::abs(times->seconds.front() - 1.9e-3) < 1e-12);
        QVERIFY(std::abs(sum(times->seconds) - 1.905e-3) < 1e-12);
        QCOMPARE(times->unmatched.size(), csv.contains("nobody") ? std::size_t(1) : std::size_t(0));
    }

    void badMeasuredTimesAreRefusedWithTheirLine_data() {
        QTest::addColumn<QByteArray>("csv");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("line");
        QTest::newRow("columns") << QByteArray("op,seconds\nembed,1\n") << "measured.columns" << 1;
        QTest::newRow("unit") << QByteArray("operator,time (bananas)\nembed,1\n") << "measured.unit" << 1;
        QTest::newRow("cell") << QByteArray("operator,time\nembed,1\nlm_head,fast\n") << "measured.time" << 3;
        QTest::newRow("negative") << QByteArray("operator,time\nembed,-1\n") << "measured.time" << 2;
        QTest::newRow("nobody") << QByteArray("operator,time\nnobody,1\n") << "measured.no-match" << 0;
        QTest::newRow("short") << QByteArray("operator,time\nembed\n") << "measured.short-row" << 2;
    }
    void badMeasuredTimesAreRefusedWithTheirLine() {
        QFETCH(QByteArray, csv);
        QFETCH(QString, code);
        QFETCH(int, line);
        QTemporaryDir folder;
        const auto times =
            readMeasuredTimes(writeFile(folder, csv.constData()).toStdString(), linked()->scenario.workload->graph);
        QVERIFY(!times);
        if (times.error().code.rfind("reference.", 0) != 0) {  // the reader of CSV may refuse a ragged file itself
            QCOMPARE(QString::fromStdString(times.error().code), code);
            QCOMPARE(times.error().place.line, line);
        }
    }
};

QTEST_MAIN(TestGraphHeat)
#include "tst_graph_heat.moc"
