// The graph view under mouse and keys: what is selected, folded, found, and where the view stands. With
// ORRERY_GRAPH_PICTURES=<folder> it also writes pictures of well-known models.

#include "app/window/workload/graph_model.h"
#include "app/window/workload/what_if_strip.h"
#include "app/window/workload/workload_page.h"
#include "base/executor.h"
#include "methods/method.h"
#include "support/studio_fixture.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/graph/graph_view.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLineEdit>
#include <QMenu>
#include <QSlider>
#include <QTableView>
#include <QToolButton>
#include <QtTest/QtTest>

#include <set>

using namespace orrery;
using namespace orrery::ui;
using orrery::app::WorkloadPage;

namespace {

WorkloadPtr load(const std::string& id, const WorkloadOptions& options = {}) {
    auto workload = loadWorkload({id, options, {}});
    if (!workload) qWarning("%s", orrery::toText(workload.error()).c_str());
    return workload ? *workload : nullptr;
}

class Shown {
public:
    explicit Shown(const WorkloadPtr& workload, QSize size = {1000, 700}) : view(&selection) {
        Theme::instance().setAnimated(false);
        view.resize(size);
        view.show();
        view.setWorkload(workload);
    }
    bool settle() {
        return QTest::qWaitFor([this] { return view.isSettled() && !view.scene().nodes.empty(); }, 10000);
    }
    QPoint at(int node) { return view.toView(view.scene().nodes[std::size_t(node)].box.center()).toPoint(); }
    /// A node of this sort that is well inside the view, -1 if none.
    int visibleNode(GraphScene::NodeKind kind) {
        for (std::size_t n = 0; n < view.scene().nodes.size(); ++n) {
            if (view.scene().nodes[n].kind == kind && view.rect().adjusted(40, 40, -300, -120).contains(at(int(n))))
                return int(n);
        }
        return -1;
    }
    void click(const QPoint& point, Qt::KeyboardModifiers keys = Qt::NoModifier) {
        QTest::mouseClick(&view, Qt::LeftButton, keys, point);
    }
    void drag(const QPoint& from, const QPoint& to, Qt::MouseButton button = Qt::LeftButton,
              Qt::KeyboardModifiers keys = Qt::NoModifier) {
        QTest::mousePress(&view, button, keys, from);
        for (int i = 1; i <= 4; ++i) {
            const QPointF at = QPointF(from) + QPointF(to - from) * i / 4;
            QMouseEvent move(QEvent::MouseMove, at, view.mapToGlobal(at), Qt::NoButton, button, keys);
            QApplication::sendEvent(&view, &move);
        }
        QTest::mouseRelease(&view, button, keys, to);
    }

    Selection selection;
    GraphView view;
};

SnapshotPtr answered(const WorkloadPtr& workload, const char* device = "h100-sxm") {
    auto snapshot = std::make_shared<Snapshot>();
    const auto hardware = loadHardware(device);
    if (!hardware) return nullptr;
    snapshot->scenario.workload = workload;
    snapshot->scenario.hardware = std::make_shared<const Hardware>(hardware->hardware);
    const auto executor = makeSerialExecutor();
    int colour = 0;
    for (const char* id : {"roofline", "hierarchical-roofline"}) {
        const Method* found = findMethod(id);
        if (!found) continue;
        EstimateContext context{*executor, {}, nullptr, 0, false};
        auto answered = estimate(*found, snapshot->scenario, context);
        Answer answer{id, qs(found->card.title), nullptr, std::nullopt, colour++};
        if (answered) answer.estimate = std::make_shared<const Estimate>(std::move(*answered));
        snapshot->answers.push_back(answer);
    }
    return snapshot;
}

}  // namespace

class TestGraphView : public QObject {
    Q_OBJECT
private slots:
    void theTableBelowIsAProperModel() {
        app::GraphModel model;
        const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setWorkload(load("resnet-50"));
        QVERIFY(model.rowCount() > 50);
        model.setWorkload(load("gpt-3-175b"));
        QVERIFY(model.rowCount() > 5);
        model.setWorkload(nullptr);
        QCOMPARE(model.rowCount(), 0);
    }
    void aClickSelectsAndCtrlAdds() {
        Shown shown(load("resnet-50"));
        QVERIFY(shown.settle());
        const int node = shown.visibleNode(GraphScene::NodeKind::Operator);
        QVERIFY(node >= 0);
        const int op = shown.view.scene().nodes[std::size_t(node)].op;
        shown.click(shown.at(node));
        QCOMPARE(shown.selection.operators(), QSet<int>{op});
        QCOMPARE(shown.view.currentNode(), node);
        const auto& out = shown.view.scene().outOf[std::size_t(node)];
        QVERIFY(!out.empty());
        QTest::keyClick(&shown.view, Qt::Key_Down);
        const int next = shown.view.currentNode();
        QVERIFY(next != node);
        const int nextOp = shown.view.scene().nodes[std::size_t(next)].op;
        QVERIFY(nextOp >= 0);
        QCOMPARE(shown.selection.operators(), QSet<int>{nextOp});
        shown.click(shown.at(node), Qt::ControlModifier);
        QCOMPARE(shown.selection.operators(), (QSet<int>{op, nextOp}));
        shown.click(shown.at(node), Qt::ControlModifier);
        QCOMPARE(shown.selection.operators(), QSet<int>{nextOp});
        QTest::keyClick(&shown.view, Qt::Key_Escape);
        QVERIFY(shown.selection.operators().isEmpty());
    }

    void aFoldedGroupSelectsItsOperatorsAndUnfoldsUnderTheCursor() {
        Shown shown(load("bert-large"));
        QVERIFY(shown.settle());
        shown.view.foldAll();
        QVERIFY(shown.settle());
        shown.view.fitAll();
        const int node = shown.visibleNode(GraphScene::NodeKind::Group);
        QVERIFY(node >= 0);
        const int group = shown.view.scene().nodes[std::size_t(node)].group;
        shown.click(shown.at(node));
        QSet<int> inside;
        for (std::size_t op = 0; op < shown.view.visible().nodeOf.size(); ++op) {
            if (shown.view.visible().nodeOf[op] == node) inside.insert(int(op));
        }
        QVERIFY(inside.size() > 1);
        QCOMPARE(shown.selection.operators(), inside);

        const QRectF button = shown.view.scene().expander(shown.view.scene().nodes[std::size_t(node)]);
        const QPointF before = shown.view.toView(shown.view.scene().nodes[std::size_t(node)].box.center());
        shown.click(shown.view.toView(button.center()).toPoint());
        QVERIFY(shown.settle());
        QVERIFY(!shown.view.isFolded(group));
        const GraphScene::Frame* frame = shown.view.scene().frameOf(group);
        QVERIFY(frame);
        const QPointF after = shown.view.toView(shown.view.scene().caption(*frame).center());
        QVERIFY2(QLineF(before, after).length() < 1, "the group left its place");
        shown.click(shown.view.toView(shown.view.scene().caption(*frame).topLeft() + QPointF(12, 12)).toPoint());
        QVERIFY(shown.settle());
        QVERIFY(shown.view.isFolded(group));
        const int again = shown.view.scene().nodeOfGroup(group);
        QVERIFY(again >= 0);
        QVERIFY(QLineF(after, shown.view.toView(shown.view.scene().nodes[std::size_t(again)].box.center())).length() <
                1);
    }

    void enterUnfoldsAndBackspaceFolds() {
        Shown shown(load("bert-large"));
        QVERIFY(shown.settle());
        shown.view.foldAll();
        QVERIFY(shown.settle());
        shown.view.fitAll();
        const int node = shown.visibleNode(GraphScene::NodeKind::Group);
        QVERIFY(node >= 0);
        const int group = shown.view.scene().nodes[std::size_t(node)].group;
        shown.click(shown.at(node));
        QTest::keyClick(&shown.view, Qt::Key_Return);
        QVERIFY(shown.settle());
        QVERIFY(!shown.view.isFolded(group));
        shown.view.revealOperator(*shown.selection.operators().begin());
        QVERIFY(shown.settle());
        QTest::keyClick(&shown.view, Qt::Key_Backspace);
        QVERIFY(shown.settle());
        bool anyFolded = false;
        for (const auto& each : shown.view.scene().nodes) anyFolded = anyFolded || each.group >= 0;
        QVERIFY(anyFolded);
        QSignalSpy activated(&shown.view, &GraphView::operatorActivated);
        shown.view.revealOperator(0);
        QVERIFY(shown.settle());
        QTest::keyClick(&shown.view, Qt::Key_Return);
        QCOMPARE(activated.count(), 1);
        QCOMPARE(activated.front().front().toInt(), 0);
    }

    void aBandSelectsWhatItTouches() {
        Shown shown(load("resnet-50"));
        QVERIFY(shown.settle());
        const QPoint from(5, 5), to(700, 400);
        std::set<int> wanted;
        const QRectF area(shown.view.toScene(from), shown.view.toScene(to));
        for (const auto& node : shown.view.scene().nodes) {
            if (node.op >= 0 && node.box.intersects(area)) wanted.insert(node.op);
        }
        QVERIFY(wanted.size() > 1);
        shown.drag(from, to, Qt::LeftButton, Qt::ShiftModifier);
        QSet<int> expected(wanted.begin(), wanted.end());
        for (const int op : expected) QVERIFY(shown.selection.operators().contains(op));
    }

    void dragPansWheelZoomsAtTheCursorAndClicksOnNothingClear() {
        Shown shown(load("resnet-50"));
        QVERIFY(shown.settle());
        shown.selection.select({3});
        const QPointF before = shown.view.toScene({0, 0});
        shown.drag({20, 20}, {70, 50});
        const QPointF moved = (before - shown.view.toScene({0, 0})) * shown.view.zoom();
        QVERIFY2(QLineF(moved, QPointF(50, 30)).length() < 0.01, "the drawing does not follow the mouse");
        QCOMPARE(shown.selection.operators(), QSet<int>{3});  // a drag is no click
        const QPointF cursor(300, 200), fixed = shown.view.toScene(cursor);
        const double zoom = shown.view.zoom();
        QWheelEvent wheel(cursor, shown.view.mapToGlobal(cursor), {}, {0, 240}, Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(&shown.view, &wheel);
        QVERIFY(shown.view.zoom() > zoom * 1.2);
        QVERIFY(QLineF(shown.view.toView(fixed), cursor).length() < 0.01);
        shown.view.fitAll();
        shown.click({3, 3});
        QVERIFY(shown.selection.operators().isEmpty());
    }

    void searchGoesThroughMatchesAndUnfoldsWhatHidesThem() {
        const WorkloadPtr workload = load("bert-large");
        Shown shown(workload);
        QVERIFY(shown.settle());
        shown.view.foldAll();
        QVERIFY(shown.settle());
        shown.view.find(QStringLiteral("softmax"));
        int expected = 0;
        for (const Operator& op : workload->graph.operators) {
            expected += QString::fromStdString(op.name + "\n" + op.type).contains("softmax", Qt::CaseInsensitive);
        }
        if (expected == 0) {
            shown.view.find(QStringLiteral("attention"));
            for (const Operator& op : workload->graph.operators)
                expected += QString::fromStdString(op.name + "\n" + op.type).contains("attention", Qt::CaseInsensitive);
        }
        QVERIFY(expected > 0);
        QCOMPARE(shown.view.matches(), expected);
        QTest::keyClick(&shown.view, Qt::Key_F3);
        QVERIFY(shown.settle());
        QCOMPARE(shown.view.currentMatch(), 1);
        const int op = *shown.selection.operators().begin();
        const int node = shown.view.scene().nodeOf[std::size_t(op)];
        QCOMPARE(shown.view.scene().nodes[std::size_t(node)].op, op);  // no longer hidden in a group
        QVERIFY(shown.view.rect().contains(shown.at(node)));
        QTest::keyClick(&shown.view, Qt::Key_F3, Qt::ShiftModifier);
        QCOMPARE(shown.view.currentMatch(), expected);
        shown.view.find(QStringLiteral("no such thing"));
        QCOMPARE(shown.view.matches(), 0);
    }

    void selectionAndHoverOfOtherViewsShow() {
        Shown shown(load("resnet-50"));
        QVERIFY(shown.settle());
        const int last = int(shown.view.scene().nodeOf.size()) - 1;
        shown.selection.select({last});
        QVERIFY(shown.view.rect().contains(shown.at(shown.view.scene().nodeOf[std::size_t(last)])));
        QSignalSpy hovered(&shown.selection, &Selection::hoverChanged);
        const int node = shown.visibleNode(GraphScene::NodeKind::Operator);
        QVERIFY(node >= 0);
        QMouseEvent move(QEvent::MouseMove, shown.at(node), shown.view.mapToGlobal(shown.at(node)), Qt::NoButton,
                         Qt::NoButton, Qt::NoModifier);
        QApplication::sendEvent(&shown.view, &move);
        QCOMPARE(shown.selection.hovered(), shown.view.scene().nodes[std::size_t(node)].op);
    }

    void anotherBatchKeepsFoldingAndPlace() {
        Shown shown(load("resnet-50"));
        QVERIFY(shown.settle());
        const auto open = shown.view.visible().openGroups;
        shown.view.zoomBy(1.3);
        const double zoom = shown.view.zoom();
        WorkloadOptions larger;
        larger.batch = 8;
        shown.view.setWorkload(load("resnet-50", larger));
        QVERIFY(shown.settle());
        QCOMPARE(shown.view.visible().openGroups, open);
        QCOMPARE(shown.view.zoom(), zoom);
        bool said = false;
        for (const auto& node : shown.view.scene().nodes) said = said || node.third.startsWith(QStringLiteral("8×"));
        QVERIFY(said);
    }

    void picturesAreWritten() {
        Shown shown(load("resnet-50"));
        QVERIFY(shown.settle());
        QTemporaryDir folder;
        for (const char* ending : {"svg", "png", "pdf", "csv"}) {
            const QString file = folder.filePath(QStringLiteral("graph.") + QLatin1String(ending));
            QCOMPARE(shown.view.exportTo(file), QString());
            QVERIFY(QFileInfo(file).size() > 2000);
        }
        QFile csv(folder.filePath("graph.csv"));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        QCOMPARE(csv.readAll().count('\n'), qsizetype(shown.view.scene().nodeOf.size()) + 1);
        QVERIFY(!shown.view.exportTo(folder.filePath("graph.doc")).isEmpty());
        QVERIFY(!shown.view.exportTo("/no/such/folder/graph.svg").isEmpty());
    }

    void thePageAsksForWhatIfs() {
        Selection selection;
        WorkloadPage page(&selection);
        page.resize(1000, 700);
        page.QWidget::show();
        const WorkloadPtr workload = load("bert-large");
        page.setWorkload(workload);
        QTRY_VERIFY(page.graph()->isSettled() && !page.graph()->scene().nodes.empty());
        std::vector<WhatIf> wanted;
        connect(&page, &WorkloadPage::whatIfsRequested, this, [&](const std::vector<WhatIf>& all) { wanted = all; });
        selection.select({2, 3});
        const auto trigger = [&](const QString& name) {
            const std::unique_ptr<QMenu> menu(page.operatorMenu(&page));
            auto* action = menu->findChild<QAction*>(name);
            if (!action || !action->isEnabled()) return false;
            action->trigger();
            return true;
        };
        QVERIFY(trigger("fuseSelection"));
        QCOMPARE(wanted.size(), std::size_t(1));
        const auto fuse = std::get<FuseOperators>(wanted.front());
        QCOMPARE(fuse.operators,
                 (std::vector<std::string>{workload->graph.operators[2].name, workload->graph.operators[3].name}));
        QVERIFY(!fuse.name.empty());
        selection.select({2});
        QVERIFY(!trigger("fuseSelection"));
        QVERIFY(!trigger("unfuse"));
        QVERIFY(trigger("retype-int8"));
        const RetypeKind retype{workload->graph.operators[2].kind, DType::I8};
        QCOMPARE(std::get<RetypeKind>(wanted.back()), retype);

        // What is active stands in the strip and can be taken back one by one.
        auto changed = std::make_shared<Workload>(*workload);
        changed->recipe.whatIfs = {retype, ReshapeOperator{"x", 0, {1, 2}}};
        page.setWorkload(changed);
        auto* strip = page.findChild<app::WhatIfStrip*>();
        QVERIFY(strip && strip->isVisible());
        auto* first = strip->findChild<QToolButton*>("whatIfRemove0");
        QVERIFY(first);
        QTest::mouseClick(first, Qt::LeftButton);
        QCOMPARE(wanted, std::vector<WhatIf>{changed->recipe.whatIfs[1]});
        QVERIFY(trigger("retype-fp8"));  // the same kind again: in place of the first
        QCOMPARE(wanted.size(), std::size_t(2));
        QCOMPARE(std::get<RetypeKind>(wanted.front()).type, DType::FP8);
        page.setWorkload(workload);
        QVERIFY(!strip->isVisible());
    }

    void thePageChoosesMetricsAndSharesItsSearch() {
        Selection selection;
        WorkloadPage page(&selection);
        page.resize(1000, 700);
        page.QWidget::show();
        const WorkloadPtr workload = load("resnet-50");
        page.setWorkload(workload);
        page.setSnapshot(answered(workload));
        QTRY_VERIFY(page.graph()->isSettled() && !page.graph()->scene().nodes.empty());
        auto* chooser = page.findChild<QComboBox*>("graphMetric");
        const int time = chooser->findData("time/roofline");
        QVERIFY(time > 0);
        chooser->setCurrentIndex(time);
        Q_EMIT chooser->activated(time);
        QCOMPARE(page.graph()->metric(), QStringLiteral("time/roofline"));
        QVERIFY(page.findChild<QSlider*>("graphThreshold")->isEnabled());
        page.setSnapshot(answered(workload, "t4"));
        QCOMPARE(page.graph()->metric(), QStringLiteral("time/roofline"));  // another answer, the same question
        auto* search = page.findChild<QLineEdit*>("workloadSearch");
        QTest::keyClicks(search, "pool");
        QVERIFY(page.graph()->matches() > 0);
        QCOMPARE(page.table()->model()->rowCount(), page.graph()->matches());
        QTest::keyClick(search, Qt::Key_Return);
        QCOMPARE(page.graph()->currentMatch(), 1);
        for (const QWidget* control : page.findChildren<QWidget*>()) {
            if (!qobject_cast<const QAbstractButton*>(control) && !qobject_cast<const QComboBox*>(control) &&
                !qobject_cast<const QSlider*>(control))
                continue;
            if (control->objectName().startsWith("qt_") || !control->isVisible() || control->parent() == search)
                continue;
            if (qobject_cast<const QTableView*>(control->parent())) continue;
            QVERIFY2(!control->objectName().isEmpty() && !control->accessibleName().isEmpty() &&
                         !control->toolTip().isEmpty(),
                     qPrintable(QString::fromLatin1(control->metaObject()->className()) + control->objectName()));
        }
    }

    void gallery() {
        const QString folder = qEnvironmentVariable("ORRERY_GRAPH_PICTURES");
        if (folder.isEmpty()) QSKIP("pictures are written on request only");
        QDir().mkpath(folder);
        initialiseApplicationLook();
        const auto take = [&](const QString& name, const WorkloadPtr& workload, const QString& metric, QSize size,
                              Mode mode, bool unfold) {
            if (!workload) return;
            Theme::instance().setMode(mode);
            Selection selection;
            WorkloadPage page(&selection);
            page.resize(size);
            page.QWidget::show();
            page.setShows(WorkloadPage::Show::Graph);
            page.setWorkload(workload);
            page.setSnapshot(answered(workload));
            QTRY_VERIFY(page.graph()->isSettled() && !page.graph()->scene().nodes.empty());
            if (unfold) {
                page.graph()->unfoldAll();
                QTRY_VERIFY(page.graph()->isSettled());
            }
            auto* chooser = page.findChild<QComboBox*>("graphMetric");
            const int at = std::max(chooser->findData(metric), 0);
            chooser->setCurrentIndex(at);
            Q_EMIT chooser->activated(at);
            QVERIFY(page.grab().save(folder + "/" + name + ".png"));
            page.graph()->fitAll();
            QVERIFY(page.grab().save(folder + "/" + name + "-fit.png"));
        };
        WorkloadOptions decode;
        decode.phase = Phase::Decode;
        decode.sequence = 1024;
        take("resnet", load("resnet-50"), {}, {1280, 860}, Mode::Light, false);
        take("resnet-heat", load("resnet-50"), "time/roofline", {1280, 860}, Mode::Dark, false);
        take("llama", load("llama-2-7b", decode), {}, {1280, 860}, Mode::Light, false);
        take("llama-bound", load("llama-2-7b", decode), "bound/hierarchical-roofline", {1280, 860}, Mode::Light, false);
        take("mixtral", load("mixtral-8x7b"), "ratio/roofline/hierarchical-roofline", {1280, 860}, Mode::Light, false);
        take("mixtral-dark", load("mixtral-8x7b"), {}, {1280, 860}, Mode::Dark, false);
        auto gpt = load("gpt-3-175b");
        Graph graph = gpt->graph;
        unfoldRepeats(graph);
        take("gpt3", finishWorkload(gpt->id, gpt->name, gpt->recipe, graph, {}), "time/roofline", {1280, 860},
             Mode::Light, false);
        take("gpt3-all", finishWorkload(gpt->id, gpt->name, gpt->recipe, graph, {}), {}, {1280, 860}, Mode::Dark, true);
        take("narrow", load("resnet-50"), "intensity/roofline", {520, 640}, Mode::Light, false);
        take("swin", load(ORRERY_REFERENCE "/onnx/torchvision/swin_t.onnx"), {}, {1280, 860}, Mode::Light, false);
    }
};

QTEST_MAIN(TestGraphView)
#include "tst_graph_view.moc"
