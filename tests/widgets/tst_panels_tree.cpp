// Does the tree of a design ask for exactly the edits that the mouse and the keys meant, and refuse the impossible ones
// where the person is looking?

#include "hardware/files/hardware_yaml.h"
#include "support/drag.h"
#include "support/panels_fixture.h"
#include "widgets/common/theme.h"
#include "widgets/library/component_palette.h"
#include "widgets/tree/component_tree.h"

#include <QtTest>
#include <QtWidgets>

#include <random>

using namespace orrery;
using namespace orrery::ui;

namespace {

QModelIndex rowNamed(const QAbstractItemModel* model, const QString& name, const QModelIndex& above = {}) {
    for (int row = 0; row < model->rowCount(above); ++row) {
        const QModelIndex index = model->index(row, 0, above);
        if (index.data().toString() == name) return index;
        if (const QModelIndex inside = rowNamed(model, name, index); inside.isValid()) return inside;
    }
    return {};
}

struct Bench {
    QWidget window;
    ComponentTreeView view{&window};
    ComponentPalette palette{&window};
    ComponentSelection selection;
    HardwarePtr hardware = fixture::hardware();

    Bench() {
        auto* row = new QHBoxLayout(&window);
        row->addWidget(&palette);
        row->addWidget(&view);
        window.resize(800, 900);
        view.setSelection(&selection);
        view.setHardware(hardware);
        window.show();
        window.activateWindow();
        (void)QTest::qWaitForWindowActive(&window);
    }
    QTreeView* tree() { return view.tree(); }
    ComponentPath path(const char* name) { return *findComponent(hardware->root, name); }
    QModelIndex row(const char* name) { return rowNamed(tree()->model(), QString::fromUtf8(name)); }
    QPoint at(const char* name) {
        const QRect box = tree()->visualRect(row(name));
        return {box.left() + 30, box.center().y()};
    }
    void click(const char* name, Qt::KeyboardModifiers keys = {}) {
        QTest::mouseClick(tree()->viewport(), Qt::LeftButton, keys, at(name));
    }
    QLineEdit* editor() { return tree()->viewport()->findChild<QLineEdit*>("componentTree.name"); }
};

}  // namespace

class TestPanelsTree : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { initialiseApplicationLook(); }

    void renamesInPlace() {
        Bench bench;
        QSignalSpy spy(&bench.view, &ComponentTreeView::nameEntered);
        bench.click("hbm3");
        QTest::keyClick(bench.tree(), Qt::Key_F2);
        QVERIFY(bench.editor());
        QCOMPARE(bench.editor()->text(), "hbm3");
        bench.editor()->selectAll();
        QTest::keyClicks(bench.editor(), "hbm3e");
        QTest::keyClick(bench.editor(), Qt::Key_Return);
        QTRY_COMPARE(spy.size(), 1);
        QCOMPARE(spy[0][0].value<ComponentPath>(), bench.path("hbm3"));
        QCOMPARE(spy[0][1].toString(), "hbm3e");
        QCOMPARE(bench.row("hbm3").data().toString(), "hbm3");  // until the owner shows it
    }

    void refusesNamesWhereTheyAreTyped_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("says");
        QTest::newRow("taken") << "l2"
                               << "already";
        QTest::newRow("slash") << "a/b"
                               << "/";
        QTest::newRow("empty") << ""
                               << "needs a name";
    }
    void refusesNamesWhereTheyAreTyped() {
        QFETCH(QString, name);
        QFETCH(QString, says);
        Bench bench;
        QSignalSpy entered(&bench.view, &ComponentTreeView::nameEntered);
        QSignalSpy refused(&bench.view, &ComponentTreeView::refused);
        const QModelIndex l2 = bench.row("l2"), sibling = l2.siblingAtRow(l2.row() == 0 ? 1 : 0);
        const ComponentPath path =
            bench.view.model()->path(qobject_cast<QAbstractProxyModel*>(bench.tree()->model())->mapToSource(sibling));
        bench.view.editName(path);
        QVERIFY(bench.editor());
        bench.editor()->selectAll();
        QTest::keyClick(bench.editor(), Qt::Key_Backspace);
        QTest::keyClicks(bench.editor(), name);
        QTest::keyClick(bench.editor(), Qt::Key_Return);
        QCOMPARE(refused.size(), 1);
        const auto why = refused[0][0].value<Diagnostic>();
        QVERIFY2(why.message.find(says.toStdString()) != std::string::npos, why.message.c_str());
        QVERIFY(bench.editor() && bench.editor()->isVisible());  // stays for mending
        QTest::keyClick(bench.editor(), Qt::Key_Escape);
        QCoreApplication::processEvents();
        QCOMPARE(entered.size(), 0);
    }

    void selectionIsSharedBothWays() {
        Bench bench;
        bench.click("hbm3");
        QCOMPARE(bench.selection.paths(), ComponentPaths{bench.path("hbm3")});
        bench.click("l2", Qt::ControlModifier);
        QCOMPARE(bench.selection.paths().size(), 2u);
        QCOMPARE(bench.selection.current(), bench.path("l2"));
        bench.selection.select({bench.path("smem"), bench.path("sm")});
        QCOMPARE(bench.view.selectedPaths().size(), 2u);
        QCOMPARE(bench.view.current(), bench.path("sm"));
        QSignalSpy spy(&bench.selection, &ComponentSelection::changed);
        QTest::keyClick(bench.tree(), Qt::Key_Down);
        QCOMPARE(spy.size(), 1);
        QCOMPARE(bench.selection.paths().size(), 1u);
    }

    void selectionSurvivesAnotherShape() {
        Bench bench;
        bench.selection.select({bench.path("hbm3"), bench.path("l2")});
        Hardware next = *bench.hardware;
        next.root.children.push_back({.kind = ComponentKind::Dram, .name = "ddr"});
        bench.hardware = std::make_shared<const Hardware>(next);
        bench.view.setHardware(bench.hardware);
        QCOMPARE(bench.view.selectedPaths().size(), 2u);
        QCOMPARE(bench.selection.paths().size(), 2u);  // showing selects nothing by itself
    }

    void foldedStaysFoldedWhenTheShapeChanges() {
        Bench bench;
        bench.tree()->collapse(bench.row("sm"));
        Hardware next = *bench.hardware;
        next.root.children.push_back({.kind = ComponentKind::Dram, .name = "ddr"});
        bench.view.setHardware(std::make_shared<const Hardware>(next));
        QVERIFY(!bench.tree()->isExpanded(bench.row("sm")));
        QVERIFY(bench.tree()->isExpanded(bench.row("h100")));
    }

    void dragMovesIntoWhatMayContain() {
        Bench bench;
        QSignalSpy spy(&bench.view, &ComponentTreeView::moveRequested);
        const ComponentPath from = bench.path("smem"), to = bench.path("h100");
        const auto data = fixture::dragged(bench.tree(), {bench.row("smem")});
        QVERIFY(data);
        QVERIFY(!fixture::dragged(bench.tree(), {bench.tree()->model()->index(0, 0)}));  // the root stays
        QVERIFY(!fixture::dropAt(bench.tree()->viewport(), bench.at("l2"), data.get(), Qt::MoveAction) ||
                spy.front()[1].value<ComponentPath>() != bench.path("l2"));  // a cache holds nothing
        spy.clear();
        QVERIFY(fixture::dropAt(bench.tree()->viewport(), bench.at("h100"), data.get(), Qt::MoveAction));
        QCOMPARE(spy.size(), 1);
        QCOMPARE(spy[0][0].value<ComponentPaths>(), ComponentPaths{from});
        QCOMPARE(spy[0][1].value<ComponentPath>(), to);
        QVERIFY(bench.row("smem").isValid());  // the owner moves it, not the view
    }

    void dropsThatNestingForbidsAreRefused() {
        Bench bench;
        ComponentTreeModel* model = bench.view.model();
        const auto can = [&](const char* what, const char* into) {
            const std::unique_ptr<QMimeData> data(model->mimeData({model->index(bench.path(what))}));
            return model->canDropMimeData(data.get(), Qt::MoveAction, -1, -1, model->index(bench.path(into)));
        };
        QVERIFY(can("smem", "h100"));
        QVERIFY(!can("h100", "sm"));    // a package in a core
        QVERIFY(!can("sm", "sm"));      // into itself
        QVERIFY(!can("hbm3", "smem"));  // a buffer holds nothing
        // Paths of another design's tree mean nothing here: its component is copied instead.
        ComponentTreeModel other;
        other.setHardware(fixture::hardware("tpu-v4"));
        const QModelIndex foreign = other.index(0, 0, other.index(0, 0));
        const std::unique_ptr<QMimeData> data(other.mimeData({foreign}));
        QSignalSpy moved(model, &ComponentTreeModel::moveDropped), copied(model, &ComponentTreeModel::componentDropped);
        QVERIFY(model->dropMimeData(data.get(), Qt::MoveAction, -1, -1, model->index(ComponentPath{})));
        QTRY_COMPARE(copied.size(), 1);
        QCOMPARE(moved.size(), 0);
        QVERIFY(model->mimeData({model->index(ComponentPath{})}) == nullptr);  // the root stays
    }

    void paletteDropsIntoTheTree() {
        Bench bench;
        QSignalSpy spy(&bench.view, &ComponentTreeView::componentDropped);
        const QModelIndex item = bench.palette.indexOf("cache");
        const auto data = fixture::dragged(bench.palette.list(), {item});
        QVERIFY(!fixture::dropAt(bench.tree()->viewport(), bench.at("l2"), data.get(), Qt::CopyAction) ||
                spy.front()[1].value<ComponentPath>() != bench.path("l2"));  // a cache holds no cache
        spy.clear();
        QVERIFY(fixture::dropAt(bench.tree()->viewport(), bench.at("sm"), data.get(), Qt::CopyAction));
        QCOMPARE(spy.size(), 1);
        QCOMPARE(spy[0][0].value<Component>().kind, ComponentKind::Cache);
        QCOMPARE(spy[0][1].value<ComponentPath>(), bench.path("sm"));
    }

    void keysAskForEditsOfAllSelected() {
        Bench bench;
        QSignalSpy spy(&bench.view, &ComponentTreeView::actionRequested);
        bench.click("hbm3");
        QTest::keyClick(bench.tree(), Qt::Key_Delete);
        QCOMPARE(spy.size(), 1);
        QCOMPARE(spy[0][0].value<ComponentTreeView::Action>(), ComponentTreeView::Action::Delete);
        bench.click("l2", Qt::ControlModifier);
        QTest::keyClick(bench.tree(), Qt::Key_D, Qt::ControlModifier);
        QCOMPARE(spy.size(), 2);
        QCOMPARE(spy[1][0].value<ComponentTreeView::Action>(), ComponentTreeView::Action::Duplicate);
        QCOMPARE(spy[1][1].value<ComponentPaths>().size(), 2u);
        bench.tree()->setCurrentIndex(bench.tree()->model()->index(0, 0));
        QTest::keyClick(bench.tree(), Qt::Key_Delete);
        QCOMPARE(spy.size(), 2);  // the root is not deleted
    }

    void menuOffersWhatIsPossible() {
        Bench bench;
        bench.click("hbm3");
        emit bench.tree()->customContextMenuRequested(bench.at("hbm3"));
        auto* menu = bench.view.findChild<QMenu*>("componentTree.menu");
        QVERIFY(menu);
        const auto action = [menu](ComponentTreeView::Action what) {
            return menu->findChild<QAction*>(QStringLiteral("componentTree.action.%1").arg(int(what)));
        };
        QVERIFY(action(ComponentTreeView::Action::Delete)->isEnabled());
        QVERIFY(!action(ComponentTreeView::Action::Link)->isEnabled());
        QVERIFY(!action(ComponentTreeView::Action::ReplaceByParts));
        for (const QAction* item : menu->actions())
            QVERIFY2(item->isSeparator() || !item->toolTip().isEmpty(), qPrintable(item->text()));
        QSignalSpy spy(&bench.view, &ComponentTreeView::actionRequested);
        action(ComponentTreeView::Action::Duplicate)->trigger();
        QCOMPARE(spy.size(), 1);
        menu->close();
    }

    void badgesTellWhatIsWrongAndWhere() {
        Bench bench;
        bench.view.setProblems(fixture::problems());
        const auto role = [&](const char* name, int which) { return bench.row(name).data(which).toInt(); };
        QCOMPARE(role("smem", ComponentTreeModel::ProblemRole), int(Severity::Error));
        QCOMPARE(role("hbm3", ComponentTreeModel::ProblemRole), int(Severity::Warning));
        QCOMPARE(role("h100", ComponentTreeModel::ProblemRole), -1);
        QCOMPARE(role("h100", ComponentTreeModel::InsideRole), int(Severity::Error));
        QVERIFY(bench.row("smem").data(Qt::ToolTipRole).toString().contains("A buffer without a capacity"));
        bench.view.setProblems({});
        QCOMPARE(role("smem", ComponentTreeModel::ProblemRole), -1);
    }

    void modelStaysSoundUnderRandomShapes() {
        ComponentTreeModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
        std::mt19937 random(20261121);
        Hardware design = *fixture::hardware();
        for (int step = 0; step < 200; ++step) {
            Component* at = &design.root;
            while (!at->children.empty() && random() % 3) at = &at->children[random() % at->children.size()];
            if (random() % 2 || at->children.empty())
                at->children.push_back({.kind = ComponentKind::Buffer, .name = "b" + std::to_string(step)});
            else
                at->children.erase(at->children.begin() + static_cast<long>(random() % at->children.size()));
            if (random() % 4 == 0) at->count = 1 + static_cast<int>(random() % 9);
            model.setHardware(std::make_shared<const Hardware>(design));
            model.setProblems(random() % 2 ? fixture::problems() : Diagnostics{});
            QCOMPARE(model.rowCount(model.index(ComponentPath{})), int(design.root.children.size()));
        }
    }
};

QTEST_MAIN(TestPanelsTree)
#include "tst_panels_tree.moc"
