// The geometry of the drawn graph: culling and picking against brute force, frames, terminals.

#include "widgets/graph/graph_build.h"
#include "widgets/graph/graph_paint.h"

#include <QtTest/QtTest>

#include <random>
#include <set>

using namespace orrery;
using namespace orrery::ui;

namespace {

WorkloadPtr load(const char* id) {
    auto workload = loadWorkload({id, {}, {}});
    return workload ? *workload : nullptr;
}

GraphPicturePtr picture(const WorkloadPtr& workload, std::optional<std::vector<bool>> open = {}) {
    GraphRequest request;
    request.workload = workload;
    request.open = std::move(open);
    request.widths = graphTextWidths();
    return makePicture(request, {});
}

}  // namespace

class TestGraphScene : public QObject {
    Q_OBJECT
private slots:
    void gridFindsAllThatBruteForceFinds() {
        std::mt19937 random(3);
        std::uniform_real_distribution<double> at(-4000, 9000), size(0, 700);
        std::vector<GridIndex::Part> parts;
        for (int i = 0; i < 800; ++i) parts.emplace_back(i, QRectF(at(random), at(random), size(random), size(random)));
        const GridIndex index(parts.size(), parts);
        int seen = 0;
        for (int round = 0; round < 200; ++round) {
            const QRectF area(at(random), at(random), size(random) + 1, size(random) + 1);
            const auto found = index.in(area);
            QVERIFY(std::is_sorted(found.begin(), found.end()));
            const std::set<std::int32_t> set(found.begin(), found.end());
            QCOMPARE(set.size(), found.size());
            for (const auto& [id, rect] : parts) {
                if (!rect.intersects(area)) continue;
                QVERIFY(set.contains(id));
                ++seen;
            }
        }
        QVERIFY(seen > 100);
        QVERIFY(GridIndex().in(QRectF(0, 0, 10, 10)).empty());
    }

    void everyOperatorHasABoxAndNoTwoBoxesOverlap() {
        const WorkloadPtr workload = load("resnet-50");
        QVERIFY(workload);
        const auto drawn = picture(workload);
        QVERIFY(drawn);
        const GraphScene& scene = drawn->scene;
        QCOMPARE(scene.nodeOf.size(), workload->graph.operators.size());
        for (std::size_t op = 0; op < scene.nodeOf.size(); ++op) {
            QVERIFY(scene.nodeOf[op] >= 0);
            const auto& node = scene.nodes[std::size_t(scene.nodeOf[op])];
            QVERIFY(node.op == int(op) || node.group >= 0);
        }
        for (std::size_t a = 0; a < scene.nodes.size(); ++a) {
            QVERIFY(!scene.nodes[a].box.isEmpty());
            QVERIFY(scene.bounds.contains(scene.nodes[a].box));
            for (std::size_t b = 0; b < a; ++b) {
                QVERIFY2(!scene.nodes[a].box.intersects(scene.nodes[b].box),
                         qPrintable(scene.nodes[a].title + " on " + scene.nodes[b].title));
            }
        }
    }

    void whatIsDrawnIsWhatIsHit() {
        const auto drawn = picture(load("resnet-50"));
        const GraphScene& scene = drawn->scene;
        for (std::size_t n = 0; n < scene.nodes.size(); ++n) {
            const GraphHit hit = hitAt(scene, scene.nodes[n].box.center(), 3);
            QCOMPARE(hit.index, int(n));
            QVERIFY(hit.what == GraphHit::What::Node);
            if (scene.nodes[n].kind != GraphScene::NodeKind::Group) continue;
            QVERIFY(hitAt(scene, scene.expander(scene.nodes[n]).center(), 3).what == GraphHit::What::Expander);
        }
        int hit = 0;
        for (std::size_t e = 0; e < scene.edges.size(); ++e) {
            const GraphHit found = hitAt(scene, scene.edges[e].path.pointAtPercent(0.5), 2);
            hit += found.what == GraphHit::What::Edge && found.index == int(e);
        }
        QVERIFY2(hit * 10 >= int(scene.edges.size()) * 7, qPrintable(QString::number(hit)));
        QVERIFY(hitAt(scene, scene.bounds.topLeft() - QPointF(500, 500), 3).what == GraphHit::What::Nothing);
    }

    void framesHoldTheirNodesAndTheirCaptionsAreHit() {
        const WorkloadPtr workload = load("bert-large");
        QVERIFY(workload);
        const GraphHierarchy hierarchy = hierarchyOf(workload->graph);
        const auto drawn = picture(workload, std::vector<bool>(hierarchy.groups.size(), true));
        const GraphScene& scene = drawn->scene;
        QCOMPARE(scene.frames.size(), hierarchy.groups.size());
        QVERIFY(!scene.frames.empty());
        for (std::size_t op = 0; op < scene.nodeOf.size(); ++op) {
            const auto& node = scene.nodes[std::size_t(scene.nodeOf[op])];
            for (std::int32_t g = hierarchy.groupOf[op]; g >= 0; g = hierarchy.groups[std::size_t(g)].parent) {
                const GraphScene::Frame* frame = scene.frameOf(g);
                QVERIFY(frame);
                QVERIFY2(frame->box.contains(node.box), qPrintable(frame->caption + " lacks " + node.title));
                QVERIFY2(!scene.caption(*frame).intersects(node.box), qPrintable(node.title));
            }
        }
        for (std::size_t f = 0; f < scene.frames.size(); ++f) {
            const GraphHit hit = hitAt(scene, scene.caption(scene.frames[f]).topLeft() + QPointF(12, 12), 2);
            QVERIFY(hit.what == GraphHit::What::Caption);
            QCOMPARE(hit.index, int(f));
        }
    }

    void foldedGroupsSayHowManyOperatorsTheyHold() {
        const WorkloadPtr workload = load("gpt-3-175b");
        QVERIFY(workload);
        const GraphHierarchy hierarchy = hierarchyOf(workload->graph);
        const auto drawn = picture(workload, std::vector<bool>(hierarchy.groups.size(), false));
        double executed = 0;
        bool repeated = false;
        for (const auto& node : drawn->scene.nodes) {
            if (node.group < 0) continue;
            repeated = repeated || node.title.contains(QStringLiteral("×96"));
            executed += QString(node.second).remove(QLatin1Char(',')).section(QLatin1Char(' '), 0, 0).toDouble();
        }
        double expected = 0;
        for (const Operator& op : workload->graph.operators) expected += double(op.repeat);
        for (const auto& node : drawn->scene.nodes) {
            if (node.op >= 0) executed += double(workload->graph.operators[std::size_t(node.op)].repeat);
        }
        QVERIFY(repeated);
        QCOMPARE(executed, expected);
    }

    void askedToStopItGivesNothing() {
        std::stop_source stop;
        stop.request_stop();
        GraphRequest request;
        request.workload = load("resnet-50");
        QVERIFY(!makePicture(request, stop.get_token()));
    }

    void theNewestRequestWins() {
        GraphWorker worker;
        const WorkloadPtr first = load("resnet-50"), last = load("bert-large");
        std::vector<WorkloadPtr> arrived;
        connect(&worker, &GraphWorker::made, this,
                [&](const GraphPicturePtr& made) { arrived.push_back(made->workload); });
        for (int i = 0; i < 20; ++i) {
            GraphRequest request;
            request.workload = i == 19 ? last : first;
            worker.start(std::move(request));
        }
        QVERIFY(worker.isBusy());
        QTRY_VERIFY(!worker.isBusy());
        QCOMPARE(arrived.size(), std::size_t(1));
        QCOMPARE(arrived.front(), last);
    }
};

QTEST_MAIN(TestGraphScene)
#include "tst_graph_scene.moc"
