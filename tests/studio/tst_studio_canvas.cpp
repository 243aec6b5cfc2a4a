// Drawing, as a stranger does it: from "Draw your own" with mouse and keys on the real window, does the document hold
// what was drawn, and does it survive undo, saving and reading?

#include "app/document/commands/project_edits.h"
#include "app/window/actions.h"
#include "app/window/hardware/canvas_pane.h"
#include "app/window/hardware/design_bar.h"
#include "hardware/network/links.h"
#include "support/studio_window.h"
#include "widgets/library/library.h"

#include <set>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioCanvas : public QObject, private StudioWindow {
    Q_OBJECT
private slots:
    void initTestCase() { prepare(); }
    void init() { startDrawing(); }
    void cleanup() { window.reset(); }

    void anEmptySheetSaysWhatToDo();
    void aPartIsPlacedByMouse();
    void twoNodesOverAFatTree();
    void linksAreDrawnByMouse();
    void anotherDesignIsComparedSideBySide();
    void networksPlacedTwiceHaveNamesOfTheirOwn();
    void aDesignIsDerivedFromAPreset();
    void theMenuOfTheLibraryDerives();
    void aMethodThatDoesNotApplyIsNoError();
    void partsWithoutNumbersAreFilledIn();
    void theListOfKeysHasTheCanvas();
    void noTwoCommandsShareAKey();
    void everyControlIsNamed();

private:
    /// Chooses in the palette and clicks at a place of the canvas, given in shares of its size.
    void placeAt(const QString& id, double x, double y) { place(id, {}, roomIn({}, {x, y})); }
};

void TestStudioCanvas::anEmptySheetSaysWhatToDo() {
    QVERIFY(root().children.empty());
    auto* hint = window->findChild<QLabel*>("canvas.empty");
    QVERIFY(hint->isVisible());
    QVERIFY(hint->text().contains("palette"));
    // It gives way to the words of what is being placed.
    Component chip;
    chip.kind = ComponentKind::Package;
    chip.name = "chip";
    canvas()->startPlacing(chip);
    QVERIFY(!hint->isVisible());
    QTest::keyClick(canvas(), Qt::Key_Escape);
    QVERIFY(hint->isVisible());
    QVERIFY(!window->isWindowModified());
    STEP(picture("empty"));
}

void TestStudioCanvas::aPartIsPlacedByMouse() {
    STEP(placeAt("part.accelerator", 0.5, 0.5));
    QCOMPARE(root().children.size(), std::size_t(1));
    QCOMPARE(root().children.front().kind, ComponentKind::Package);
    QCOMPARE(window->document().undoStack()->count(), 1);
    QVERIFY(!window->findChild<QLabel*>("canvas.empty")->isVisible());
    QCOMPARE(window->components().paths(), ComponentPaths{{0}});
    canvas()->setFocus();
    QTest::keyClick(canvas(), Qt::Key_Delete);
    QVERIFY(root().children.empty());
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(root().children.size(), std::size_t(1));
}

void TestStudioCanvas::twoNodesOverAFatTree() {
    STEP(placeAt("part.switched-node", 0.5, 0.5));
    QCOMPARE(root().children.size(), std::size_t(1));
    canvas()->setFocus();
    QTest::keyClick(canvas(), Qt::Key_D, Qt::ControlModifier);
    QCOMPARE(root().children.size(), std::size_t(2));
    window->components().select({ComponentPath{}});
    window->actions().find("insert.topology.fat-tree")->trigger();
    QCOMPARE(root().children.size(), std::size_t(3));
    QCOMPARE(root().children[0].kind, ComponentKind::Node);
    QCOMPARE(root().children[1].kind, ComponentKind::Node);
    QCOMPARE(root().children[2].kind, ComponentKind::Topology);
    QVERIFY(root().children[0].name != root().children[1].name);
    canvas()->fitAll();
    STEP(picture("two-nodes"));
    STEP(savesAndReads());
}

void TestStudioCanvas::linksAreDrawnByMouse() {
    for (int part = 0; part < 4; ++part) {
        window->components().select({ComponentPath{}});
        window->actions().find("insert.package")->trigger();
    }
    QCOMPARE(root().children.size(), std::size_t(4));
    canvas()->fitAll();
    const std::vector<std::pair<int, int>> wanted = {{0, 1}, {1, 2}, {0, 3}};
    for (const auto& [from, to] : wanted) {
        STEP(drawLink(boxOf({from}).center().toPoint(), boxOf({to}).center().toPoint()));
    }
    const std::vector<LinkEnds> links = linkEnds(root());
    QCOMPARE(links.size(), wanted.size());
    for (std::size_t at = 0; at < links.size(); ++at) {
        QVERIFY(!links[at].broken);
        QCOMPARE(*links[at].from, ComponentPath{wanted[at].first});
        QCOMPARE(*links[at].to, ComponentPath{wanted[at].second});
    }
    STEP(picture("links"));
    STEP(savesAndReads());
}

void TestStudioCanvas::anotherDesignIsComparedSideBySide() {
    STEP(placeAt("part.accelerator", 0.5, 0.5));
    const std::string first = window->document().hardware()->name;
    window->actions().find("designDerive")->trigger();
    QCOMPARE(window->document().state()->hardware.size(), std::size_t(2));
    QVERIFY(window->document().hardware()->name != first);
    QVERIFY(window->page<HardwarePage>().secondPane() && window->page<HardwarePage>().secondPane()->isVisible());
    QCOMPARE(window->page<HardwarePage>().designs()->tabs()->count(), 2);
    STEP(picture("compare"));
    window->page<HardwarePage>().compareWith(-1);
    QVERIFY(!window->page<HardwarePage>().secondPane()->isVisible());
}

void TestStudioCanvas::networksPlacedTwiceHaveNamesOfTheirOwn() {
    for (const char* part : {"node", "topology.ring", "topology.ring", "topology.ring", "topology.fat-tree"}) {
        window->components().select({ComponentPath{}});
        window->actions().find(QLatin1String("insert.") + part)->trigger();
    }
    std::set<std::string> names;
    for (const Component& child : root().children) names.insert(child.name);
    QCOMPARE(names.size(), std::size_t(5));
    QVERIFY(names.contains("ring") && names.contains("fat-tree"));
    QVERIFY(!window->findChild<ui::ComponentPalette*>()->indexOf("system").isValid());
}

void TestStudioCanvas::aDesignIsDerivedFromAPreset() {
    auto* presets = window->findChild<QMenu*>("menuPresets");
    QVERIFY(presets);
    emit presets->aboutToShow();
    QAction* chosen = nullptr;
    for (QMenu* group : presets->findChildren<QMenu*>())
        for (QAction* action : group->actions())
            if (action->text().contains("A100 SXM 80")) chosen = action;
    QVERIFY(chosen && !chosen->toolTip().isEmpty());
    chosen->trigger();
    const auto& designs = window->document().state()->hardware;
    QCOMPARE(designs.size(), std::size_t(2));  // the empty sheet gave way
    QCOMPARE(window->document().hardware()->derivedFrom, std::string("NVIDIA A100 SXM 80 GB"));
    QVERIFY(window->page<HardwarePage>().secondPane() && window->page<HardwarePage>().secondPane()->isVisible());
    QCOMPARE(window->document().undoStack()->count(), 1);
    window->document().undoStack()->undo();
    QCOMPARE(window->document().state()->hardware.size(), std::size_t(1));
}

void TestStudioCanvas::theMenuOfTheLibraryDerives() {
    window->docks().reveal("library");
    auto* library = window->findChild<ui::LibraryPanel*>();
    QVERIFY(library);
    QTimer::singleShot(0, library, [] {
        (void)QTest::qWaitFor([] { return QApplication::activePopupWidget() != nullptr; }, 3000);
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        if (!menu) return;
        for (QAction* action : menu->actions()) {
            if (!action->text().contains("Derive")) continue;
            menu->setActiveAction(action);
            return QTest::keyClick(menu, Qt::Key_Return);
        }
        menu->close();
    });
    emit library->list()->customContextMenuRequested(
        library->list()->visualRect(library->list()->model()->index(0, 0)).center());
    QCOMPARE(window->document().state()->hardware.size(), std::size_t(2));
    QVERIFY(!window->document().hardware()->derivedFrom.empty());
}

void TestStudioCanvas::aMethodThatDoesNotApplyIsNoError() {
    window->openExample("resnet-50-two-gpus");
    QVERIFY_DONE(window->document().apply(setMethodsEdit(*window->document().state(), {"roofline", "llm-inference"})));
    const auto find = [&] {
        const Diagnostics all = window->currentProblems();
        const auto found = std::ranges::find(all, std::string("method.not-applicable"), &Diagnostic::code);
        return found == all.end() ? std::optional<Severity>() : found->severity;
    };
    QTRY_VERIFY_WITH_TIMEOUT(find().has_value(), 20000);
    QCOMPARE(*find(), Severity::Note);
}

// A device of parts without one number: the view that cannot answer offers usual ones, in one step.
void TestStudioCanvas::partsWithoutNumbersAreFilledIn() {
    STEP(placeAt("part.accelerator", 0.5, 0.5));
    QVERIFY_DONE(window->document().apply(
        addWorkloadEdit(*window->document().state(), {"ResNet", {"resnet-50", {}}, {}})));
    window->docks().reveal("roofline");
    const auto offer = [&] { return window->findChild<QPushButton*>("roofline-empty-action"); };
    QTRY_VERIFY_WITH_TIMEOUT(offer() && offer()->isVisible() && offer()->text() == "Set usual values", 20000);
    const Component drawn = root();
    QTest::mouseClick(offer(), Qt::LeftButton);
    QVERIFY(root() != drawn);
    QTRY_VERIFY_WITH_TIMEOUT(!offer()->isVisible(), 20000);
    for (const Diagnostic& problem : window->currentProblems())
        QVERIFY2(problem.code != "hardware.missing-attribute", toText(problem).c_str());
    QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
    QVERIFY(root() == drawn);
}

void TestStudioCanvas::theListOfKeysHasTheCanvas() {
    window->actions().find("helpShortcuts")->trigger();
    auto* list = window->findChild<QTreeWidget*>("shortcutsList");
    QVERIFY(list);
    const auto groups = list->findItems("Canvas", Qt::MatchExactly);
    QCOMPARE(groups.size(), 1);
    QVERIFY(groups.front()->childCount() >= 12);
    const QImage shown = list->grab().toImage();
    QVERIFY(!shown.isNull());
}

void TestStudioCanvas::noTwoCommandsShareAKey() {
    QMap<QKeySequence, QString> taken;
    for (QAction* action : window->actions().list()) {
        for (const QKeySequence& key : action->shortcuts()) {
            QVERIFY2(!taken.contains(key),
                     qPrintable(
                         QStringLiteral("%1: %2 and %3").arg(key.toString(), taken.value(key), action->objectName())));
            taken[key] = action->objectName();
        }
        QVERIFY2(!action->toolTip().isEmpty(), qPrintable(action->objectName()));
    }
    QVERIFY(taken.size() > 40);
}

void TestStudioCanvas::everyControlIsNamed() {
    int controls = 0;
    for (auto* button : window->page<HardwarePage>().findChildren<QAbstractButton*>()) {
        if (button->objectName().startsWith("qt_") || button->inherits("QTabBarPrivate")) continue;
        if (qobject_cast<QTabBar*>(button->parentWidget())) continue;  // Qt's own scroll buttons
        if (qobject_cast<QLineEdit*>(button->parentWidget())) continue;
        ++controls;
        const QByteArray where = button->objectName().toUtf8() + " " + button->text().toUtf8();
        QVERIFY2(!button->objectName().isEmpty(), where);
        QVERIFY2(!button->accessibleName().isEmpty() || !button->text().isEmpty(), where);
        QVERIFY2(!button->toolTip().isEmpty(), where);
    }
    QVERIFY(controls > 10);
}

QTEST_MAIN(TestStudioCanvas)
#include "tst_studio_canvas.moc"
