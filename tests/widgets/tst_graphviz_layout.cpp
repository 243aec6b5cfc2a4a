#include "base/random.h"
#include "support/layout_checks.h"
#include "widgets/graph/graphviz_layout.h"

#include <QElapsedTimer>
#include <QProcess>
#include <QtTest/QtTest>

#include <csignal>

using namespace orrery;
using namespace orrery::ui;
using orrery::test::checkLayout;

namespace {

LayoutGraph randomGraph(std::uint64_t seed, std::int32_t nodes, std::int32_t frames) {
    RandomStream random(seed);
    LayoutGraph graph;
    for (std::int32_t f = 0; f < frames; ++f) {
        graph.frameParent.push_back(std::int32_t(random.below(std::uint64_t(f) + 1)) - 1);
        graph.frameWidth.push_back(100);
    }
    for (std::int32_t n = 0; n < nodes; ++n) {
        graph.sizes.push_back(QSizeF(30 + double(random.below(90)), 20 + double(random.below(20))));
        graph.frame.push_back(frames ? std::int32_t(random.below(std::uint64_t(frames) + 1)) - 1 : -1);
    }
    for (std::int32_t n = 1; n < nodes; ++n) {
        graph.edges.push_back({std::int32_t(random.below(std::uint64_t(n))), n});
        if (random.below(3) == 0) graph.edges.push_back({std::int32_t(random.below(std::uint64_t(n))), n});
    }
    return graph;
}

/// Processes of that program that this one started and that are still there (zombies too).
int helpers() {
    int count = 0;
    for (const QString& id : QDir("/proc").entryList({"[0-9]*"}, QDir::Dirs)) {
        QFile file("/proc/" + id + "/stat");
        if (!file.open(QIODevice::ReadOnly)) continue;
        const QByteArray stat = file.readAll();
        const QList<QByteArray> rest = stat.mid(stat.lastIndexOf(')') + 2).split(' ');
        if (stat.contains("(orrery-layout)") && rest.value(1).toLongLong() == QCoreApplication::applicationPid())
            ++count;
    }
    return count;
}

struct Outcome {
    explicit Outcome(GraphvizLayout& layout) {
        QObject::connect(&layout, &GraphvizLayout::finished, &layout, [this](const LayoutResult& r) {
            result = r;
            ++finished;
        });
        QObject::connect(&layout, &GraphvizLayout::failed, &layout, [this](const QString& w) {
            why = w;
            ++failed;
        });
        QObject::connect(&layout, &GraphvizLayout::progress, &layout,
                         [this](double, const QString& stage) { stages << stage; });
    }
    LayoutResult result;
    QString why;
    QStringList stages;
    int finished = 0, failed = 0;
};

}  // namespace

class TestGraphvizLayout : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (!GraphvizLayout::isAvailable()) QSKIP("built without Graphviz");
    }

    void dotDrawsSoundly_data() {
        QTest::addColumn<int>("nodes");
        QTest::addColumn<int>("frames");
        QTest::addColumn<bool>("leftToRight");
        QTest::newRow("plain") << 40 << 0 << false;
        QTest::newRow("plain, left to right") << 40 << 0 << true;
        QTest::newRow("frames") << 40 << 6 << false;
        QTest::newRow("frames, left to right") << 40 << 6 << true;
        QTest::newRow("nothing") << 0 << 0 << false;
        QTest::newRow("one") << 1 << 1 << false;
    }
    void dotDrawsSoundly() {
        QFETCH(int, nodes);
        QFETCH(int, frames);
        QFETCH(bool, leftToRight);
        LayoutGraph graph = randomGraph(3, nodes, frames);
        graph.leftToRight = leftToRight;
        GraphvizLayout layout;
        Outcome outcome(layout);
        layout.start(graph, GraphvizLayout::Engine::Dot);
        QVERIFY(layout.isRunning());
        QTRY_VERIFY_WITH_TIMEOUT(outcome.finished + outcome.failed == 1, 30000);
        QVERIFY2(outcome.failed == 0, qPrintable(outcome.why));
        QVERIFY(!layout.isRunning());
        checkLayout(graph, outcome.result, 2.5);
        if (nodes > 1) QVERIFY(outcome.stages.size() > 1);  // Graphviz named what it did
    }

    void neatoSpreadsNodesWithoutOverlap() {
        const LayoutGraph graph = randomGraph(5, 30, 0);
        for (const auto engine : {GraphvizLayout::Engine::Neato, GraphvizLayout::Engine::Circo}) {
            GraphvizLayout layout;
            Outcome outcome(layout);
            layout.start(graph, engine);
            QTRY_VERIFY_WITH_TIMEOUT(outcome.finished + outcome.failed == 1, 30000);
            QVERIFY2(outcome.failed == 0, qPrintable(outcome.why));
            checkLayout(graph, outcome.result, 2.5);
        }
    }

    void cancellingAHugeGraphIsQuickAndLeavesNoProcess() {
        const LayoutGraph graph = randomGraph(7, 8000, 0);
        GraphvizLayout layout;
        Outcome outcome(layout);
        layout.start(graph, GraphvizLayout::Engine::Dot);
        QTRY_VERIFY_WITH_TIMEOUT(outcome.stages.size() > 1, 60000);  // it computes
        QCOMPARE(helpers(), 1);
        QElapsedTimer timer;
        timer.start();
        layout.cancel();
        const qint64 took = timer.elapsed();
        QVERIFY2(took <= 100, qPrintable(QString::number(took)));
        QVERIFY(!layout.isRunning());
        QTRY_COMPARE(helpers(), 0);
        QCoreApplication::processEvents();
        QCOMPARE(outcome.finished + outcome.failed, 0);
    }

    void aNewStartReplacesTheOld() {
        GraphvizLayout layout;
        Outcome outcome(layout);
        layout.start(randomGraph(7, 4000, 0), GraphvizLayout::Engine::Dot);
        const LayoutGraph small = randomGraph(8, 5, 0);
        layout.start(small, GraphvizLayout::Engine::Dot);
        QTRY_VERIFY_WITH_TIMEOUT(outcome.finished + outcome.failed == 1, 30000);
        QCOMPARE(outcome.result.centres.size(), small.sizes.size());
        QTRY_COMPARE(helpers(), 0);
    }

    void aKilledHelperIsAFailure() {
        GraphvizLayout layout;
        Outcome outcome(layout);
        layout.start(randomGraph(7, 8000, 0), GraphvizLayout::Engine::Dot);
        QTRY_VERIFY_WITH_TIMEOUT(outcome.stages.size() > 1, 60000);
        for (const QString& id : QDir("/proc").entryList({"[0-9]*"}, QDir::Dirs)) {
            QFile file("/proc/" + id + "/stat");
            if (!file.open(QIODevice::ReadOnly)) continue;
            const QByteArray stat = file.readAll();
            const QList<QByteArray> rest = stat.mid(stat.lastIndexOf(')') + 2).split(' ');
            if (stat.contains("(orrery-layout)") && rest.value(1).toLongLong() == QCoreApplication::applicationPid())
                ::kill(id.toInt(), SIGKILL);
        }
        QTRY_COMPARE_WITH_TIMEOUT(outcome.failed, 1, 10000);
        QVERIFY(!outcome.why.isEmpty());
        QVERIFY(!layout.isRunning());
    }

    void whatIsNotAGraphIsRefused_data() {
        QTest::addColumn<QByteArray>("request");
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("no json") << QByteArray("digraph { a -> b }");
        QTest::newRow("no such node") << QByteArray(R"({"nodes":[[8,8,-1]],"edges":[[0,1]]})");
        QTest::newRow("negative size") << QByteArray(R"({"nodes":[[-8,8,-1]],"edges":[]})");
        QTest::newRow("frame in itself") << QByteArray(R"({"nodes":[],"edges":[],"frames":[[0,10]]})");
        QTest::newRow("another engine") << QByteArray(R"({"engine":"rm","nodes":[],"edges":[]})");
        QTest::newRow("deep") << QByteArray(200000, '[');
    }
    void whatIsNotAGraphIsRefused() {
        QFETCH(QByteArray, request);
        QProcess process;
        process.start(QCoreApplication::applicationDirPath() + "/../bin/orrery-layout", QStringList());
        QVERIFY(process.waitForStarted());
        process.write(request);
        process.closeWriteChannel();
        QVERIFY(process.waitForFinished(10000));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 2);
        QVERIFY(process.readAllStandardError().startsWith("orrery-layout: "));
    }
};

QTEST_GUILESS_MAIN(TestGraphvizLayout)
#include "tst_graphviz_layout.moc"
