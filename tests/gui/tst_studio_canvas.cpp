// Drawing, as a stranger does it: from "Draw your own" with mouse and keys on the real window, does the document hold
// what was drawn, and does it survive undo, saving and reading?

#include "app/window/actions.h"
#include "app/window/canvas_pane.h"
#include "app/window/design_bar.h"
#include "app/window/hardware_page.h"
#include "app/window/main_window.h"
#include "hardware/links.h"
#include "support/studio_fixture.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/common/theme.h"
#include "widgets/panels/component_palette.h"

#include <QtWidgets>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioCanvas : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        ui::initialiseApplicationLook();
        qputenv("ORRERY_CONFIG_HOME", home_.path().toUtf8());
    }
    void init() {
        QFile::remove(home_.filePath("orrery.ini"));
        window_ = std::make_unique<MainWindow>();
        window_->resize(1600, 1000);
        window_->show();
        window_->activateWindow();
        QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
        QTRY_VERIFY(window_->isReady());
        ui::Theme::instance().setAnimated(false);
        auto* draw = window_->findChild<QAbstractButton*>("welcome.new");
        QVERIFY(draw && draw->isVisible());
        QTest::mouseClick(draw, Qt::LeftButton);
        QTRY_VERIFY(canvas()->isVisible());
    }
    void cleanup() { window_.reset(); }

    void anEmptySheetSaysWhatToDo();
    void aPartIsPlacedByMouse();
    void twoNodesOverAFatTree();
    void linksAreDrawnByMouse();
    void anotherDesignIsComparedSideBySide();
    void noTwoCommandsShareAKey();
    void everyControlIsNamed();

private:
    ui::CanvasView* canvas() { return window_->hardwarePage().canvas(); }
    const Component& root() { return window_->document().hardware()->root; }
    void picture(const char* name) {
        QDir().mkpath(ORRERY_TEST_OUTPUT "/studio");
        QVERIFY(window_->grab().save(QStringLiteral(ORRERY_TEST_OUTPUT "/studio/%1.png").arg(name)));
    }
    /// Chooses in the palette and clicks at a place of the canvas, given in shares of its size.
    void place(const QString& id, double x, double y) {
        auto* palette = window_->findChild<ui::ComponentPalette*>();
        QVERIFY2(palette && palette->isVisible(), "the palette is in view");
        const QModelIndex item = palette->indexOf(id);
        QVERIFY2(item.isValid(), qPrintable(id));
        palette->list()->scrollTo(item);
        QTest::mouseClick(palette->list()->viewport(), Qt::LeftButton, Qt::NoModifier,
                          palette->list()->visualRect(item).center());
        QCOMPARE(canvas()->tool(), ui::CanvasView::Tool::Place);
        const QPoint at(int(canvas()->width() * x), int(canvas()->height() * y));
        QTest::mouseMove(canvas(), at);
        QTest::mouseClick(canvas(), Qt::LeftButton, Qt::NoModifier, at);
    }
    QPoint middleOf(const ComponentPath& path) {
        const auto& node = canvas()->scene().nodes()[std::size_t(canvas()->scene().find(path))];
        return canvas()->toView(node.box.center()).toPoint();
    }
    void savesAndReads() {
        const QString file = home_.filePath("drawn.yaml");
        QVERIFY_DONE(window_->document().saveAs(file));
        const std::string saved = window_->document().yaml();
        QVERIFY_DONE(window_->document().load(file));
        QCOMPARE(window_->document().yaml(), saved);
    }

    QTemporaryDir home_;
    std::unique_ptr<MainWindow> window_;
};

void TestStudioCanvas::anEmptySheetSaysWhatToDo() {
    QVERIFY(root().children.empty());
    auto* hint = window_->findChild<QLabel*>("canvas.empty");
    QVERIFY(hint->isVisible());
    QVERIFY(hint->text().contains("palette"));
    QVERIFY(!window_->isWindowModified());
    picture("empty");
}

void TestStudioCanvas::aPartIsPlacedByMouse() {
    place("part.accelerator", 0.5, 0.5);
    QCOMPARE(root().children.size(), std::size_t(1));
    QCOMPARE(root().children.front().kind, ComponentKind::Package);
    QCOMPARE(window_->document().undoStack()->count(), 1);
    QVERIFY(!window_->findChild<QLabel*>("canvas.empty")->isVisible());
    QCOMPARE(window_->components().paths(), ComponentPaths{{0}});
    canvas()->setFocus();
    QTest::keyClick(canvas(), Qt::Key_Delete);
    QVERIFY(root().children.empty());
    QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(root().children.size(), std::size_t(1));
}

void TestStudioCanvas::twoNodesOverAFatTree() {
    place("part.switched-node", 0.5, 0.5);
    QCOMPARE(root().children.size(), std::size_t(1));
    canvas()->setFocus();
    QTest::keyClick(canvas(), Qt::Key_D, Qt::ControlModifier);
    QCOMPARE(root().children.size(), std::size_t(2));
    window_->components().select({ComponentPath{}});
    window_->actions().find("insert.topology.fat-tree")->trigger();
    QCOMPARE(root().children.size(), std::size_t(3));
    QCOMPARE(root().children[0].kind, ComponentKind::Node);
    QCOMPARE(root().children[1].kind, ComponentKind::Node);
    QCOMPARE(root().children[2].kind, ComponentKind::Topology);
    QVERIFY(root().children[0].name != root().children[1].name);
    canvas()->fitAll();
    picture("two-nodes");
    savesAndReads();
}

void TestStudioCanvas::linksAreDrawnByMouse() {
    for (int part = 0; part < 4; ++part) {
        window_->components().select({ComponentPath{}});
        window_->actions().find("insert.package")->trigger();
    }
    QCOMPARE(root().children.size(), std::size_t(4));
    canvas()->fitAll();
    const std::vector<std::pair<int, int>> wanted = {{0, 1}, {1, 2}, {0, 3}};
    for (const auto& [from, to] : wanted) {
        window_->components().clear();
        canvas()->setFocus();
        QTest::keyClick(canvas(), Qt::Key_L);
        QCOMPARE(canvas()->tool(), ui::CanvasView::Tool::Link);
        const QPoint a = middleOf({from}), b = middleOf({to});
        QTest::mousePress(canvas(), Qt::LeftButton, Qt::NoModifier, a);
        for (int step = 1; step <= 8; ++step) QTest::mouseMove(canvas(), a + (b - a) * step / 8);
        QTest::mouseRelease(canvas(), Qt::LeftButton, Qt::NoModifier, b);
        canvas()->setTool(ui::CanvasView::Tool::Select);
    }
    const std::vector<LinkEnds> links = linkEnds(root());
    QCOMPARE(links.size(), wanted.size());
    for (std::size_t at = 0; at < links.size(); ++at) {
        QVERIFY(!links[at].broken);
        QCOMPARE(*links[at].from, ComponentPath{wanted[at].first});
        QCOMPARE(*links[at].to, ComponentPath{wanted[at].second});
    }
    picture("links");
    savesAndReads();
}

void TestStudioCanvas::anotherDesignIsComparedSideBySide() {
    place("part.accelerator", 0.5, 0.5);
    const std::string first = window_->document().hardware()->name;
    window_->actions().find("designDerive")->trigger();
    QCOMPARE(window_->document().state()->hardware.size(), std::size_t(2));
    QVERIFY(window_->document().hardware()->name != first);
    QVERIFY(window_->hardwarePage().secondPane() && window_->hardwarePage().secondPane()->isVisible());
    QCOMPARE(window_->hardwarePage().designs()->tabs()->count(), 2);
    picture("compare");
    window_->hardwarePage().compareWith(-1);
    QVERIFY(!window_->hardwarePage().secondPane()->isVisible());
}

void TestStudioCanvas::noTwoCommandsShareAKey() {
    QMap<QKeySequence, QString> taken;
    for (QAction* action : window_->actions().list()) {
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
    for (auto* button : window_->hardwarePage().findChildren<QAbstractButton*>()) {
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
