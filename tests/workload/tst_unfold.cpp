#include "workload/hierarchy.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <set>

using namespace orrery;

class TestUnfold : public QObject {
    Q_OBJECT
private slots:
    void totalsStay_data() {
        QTest::addColumn<QString>("id");
        for (const char* id : {"gpt-3-175b", "llama-2-7b", "bert-base", "mixtral-8x7b", "deepseek-v3", "gemma-2-9b",
                               "mamba-2.8b", "dit-xl-2", "vit-b-16", "resnet-50"})
            QTest::newRow(id) << id;
    }
    void totalsStay() {
        QFETCH(QString, id);
        for (const Phase phase : {Phase::Forward, Phase::Decode}) {
            const WorkloadInfo* info = builtinWorkload(id.toStdString());
            WorkloadOptions options = info->usual;
            if (info->hasPhases) options.phase = phase;
            const auto workload = loadWorkload({.source = id.toStdString(), .options = options, .whatIfs = {}});
            QVERIFY(workload.has_value());
            Graph graph = (*workload)->graph;
            const std::size_t count = graph.operators.size();
            const std::size_t added = unfoldRepeats(graph);
            QCOMPARE(added, graph.operators.size() - count);
            std::set<std::string> names;
            for (const Operator& op : graph.operators) {
                QCOMPARE(op.repeat, std::int64_t{1});
                QVERIFY(op.block.empty());
                QVERIFY2(names.insert(op.name).second, op.name.c_str());
            }
            const CostTotals& before = (*workload)->totals;
            const auto same = [&](const Graph& g) {
                const CostTotals after = costTotals(g, costTable(g));
                QCOMPARE(after.operators, before.operators);
                QCOMPARE(after.flops, before.flops);
                QCOMPARE(after.macs, before.macs);
                QCOMPARE(after.parameters, before.parameters);
                QCOMPARE(after.weightBytes, before.weightBytes);
                QCOMPARE(after.weightBytesRead, before.weightBytesRead);
                QCOMPARE(after.kvBytes, before.kvBytes);
                QCOMPARE(after.activationBytes, before.activationBytes);
                QCOMPARE(after.peakActivationBytes, before.peakActivationBytes);
            };
            same(graph);
            QVERIFY(sortTopologically(graph));
            foldRepeats(graph);
            same(graph);
            // It folds again; blocks that write caches are not folded by foldRepeats at all.
            if (before.kvBytes == 0 && count * 4 < names.size()) QVERIFY(graph.operators.size() < names.size() / 2);
        }
    }

    void blocksBeyondTheLimitStayFolded() {
        const auto workload = loadWorkload({.source = "gpt-3-175b", .options = {}, .whatIfs = {}});
        Graph graph = (*workload)->graph;
        QCOMPARE(unfoldRepeats(graph, 500), std::size_t{0});
        QCOMPARE(unfoldRepeats(graph, 1061), std::size_t{95 * 11});  // 96 blocks of 11, and 5 around them
        const GraphHierarchy hierarchy = hierarchyOf(graph);
        QCOMPARE(hierarchy.groups[0].alike, 96);
        QCOMPARE(hierarchy.groups[1].name, std::string("layers.0"));
    }
};

QTEST_GUILESS_MAIN(TestUnfold)
#include "tst_unfold.moc"
