// Does looking around keep what one looks at, and is what is painted piecewise the same as painted at once?

#include "support/canvas_fixture.h"
#include "widgets/canvas/breadcrumbs.h"
#include "widgets/canvas/find_bar.h"
#include "widgets/canvas/minimap.h"
#include "widgets/canvas/painter.h"
#include "widgets/common/theme.h"

#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QToolButton>

using namespace orrery;
using namespace orrery::ui;
using namespace orrery::ui::test;

namespace {

void wheel(CanvasView& view, const QPointF& at, int turns, Qt::KeyboardModifiers held = {}) {
    QWheelEvent event(at, view.mapToGlobal(at), {}, {0, 120 * turns}, Qt::NoButton, held, Qt::NoScrollPhase, false);
    QApplication::sendEvent(&view, &event);
}

/// The same drawing at the same place, painted afresh.
QImage afresh(Board& board) {
    CanvasView other(&board.selection);
    other.setEditor(&board.editor);
    other.resize(board.view.size());
    other.setDesign(board.editor.hardware, board.editor.placements);
    other.enter(board.view.entered());
    other.setZoom(board.view.zoom(), {0, 0});
    other.centreOn(board.view.toScene(QRectF(board.view.rect()).center()));
    board.view.clearFocus();
    return other.grab().toImage();
}

}  // namespace

class TestCanvasNavigation : public QObject {
    Q_OBJECT
private slots:
    void theWheelZoomsAtTheCursor();
    void shiftWheelGoesSideways();
    void fitAllShowsAll();
    void allStaysShownWhileItGrows();
    void aDragFromElsewherePassesTheBorder();
    void whatIsLeftIsShownLarge();
    void aBoxOpensForTheLargerOfTwo();
    void panningPaintsAsAFreshView();
    void editsPaintAsAFreshView();
    void selectingPaintsAsAFreshView();
    void theMinimapCentres();
    void breadcrumbsGoOut();
    void findByNameKindAndValue();
    void findWalksTheMatches();
    void ensureVisibleBringsItIn();
    void everyControlIsNamed();
    void picturesAreWritten();
};

void TestCanvasNavigation::theWheelZoomsAtTheCursor() {
    Board board;
    const QPointF at(411, 257), held = board.view.toScene(at);
    wheel(board.view, at, 3);
    QVERIFY(board.view.zoom() > 1.5);
    QVERIFY((board.view.toView(held) - at).manhattanLength() <= 1.01);
    wheel(board.view, at, -9);
    QVERIFY((board.view.toView(held) - at).manhattanLength() <= 2.01);
    wheel(board.view, at, -900);
    wheel(board.view, at, 900);  // limits hold, nothing becomes NaN
    QVERIFY(std::isfinite(board.view.zoom()) && board.view.zoom() > 1);
}

void TestCanvasNavigation::shiftWheelGoesSideways() {
    Board board;
    const QPointF before = board.view.toView({0, 0});
    wheel(board.view, {100, 100}, 1, Qt::ShiftModifier);
    QCOMPARE(board.view.toView({0, 0}).y(), before.y());
    QVERIFY(board.view.toView({0, 0}).x() > before.x());
    QCOMPARE(board.view.zoom(), 1.0);
}

void TestCanvasNavigation::fitAllShowsAll() {
    Board board;
    board.view.setZoom(9, {0, 0});
    board.view.fitAll();
    QVERIFY(board.view.visibleArea().contains(board.view.scene().bounds()));
}

void TestCanvasNavigation::allStaysShownWhileItGrows() {
    Board board;
    const auto grow = [&](int by) {
        Hardware grown = *board.editor.hardware;
        for (int i = 0; i < by; ++i)
            grown.root.children.push_back(part(ComponentKind::Node, "more" + std::to_string(grown.root.children.size()),
                                               {part(ComponentKind::Package, "gpu")}));
        board.editor.hardware = std::make_shared<const Hardware>(std::move(grown));
        board.view.setDesign(board.editor.hardware, board.editor.placements);
    };
    board.view.fitAll();
    grow(8);
    QVERIFY(board.view.visibleArea().contains(board.view.scene().bounds()));
    // Whoever has chosen where to look keeps it.
    wheel(board.view, {200, 200}, 2);
    const QRectF seen = board.view.visibleArea();
    grow(8);
    QCOMPARE(board.view.visibleArea(), seen);
    QVERIFY(!seen.contains(board.view.scene().bounds()));
}

// A part that is dragged from a palette comes in through the border: the drawing scrolls only when it goes back there.
void TestCanvasNavigation::aDragFromElsewherePassesTheBorder() {
    Board board;
    board.view.fitAll();
    QMimeData data;
    data.setData("application/x-orrery-component", "- {kind: package, name: late}\n");
    const auto move = [&](const QPoint& at, int wait) {
        QDragMoveEvent event(at, Qt::CopyAction, &data, Qt::LeftButton, {});
        QApplication::sendEvent(&board.view, &event);
        QTest::qWait(wait);
    };
    const QRectF seen = board.view.visibleArea();
    QDragEnterEvent enter({3, 400}, Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(&board.view, &enter);
    QVERIFY(enter.isAccepted());
    move({4, 400}, 60);
    move({20, 400}, 60);
    QCOMPARE(board.view.visibleArea(), seen);
    const QPoint inside = board.middle("node1");
    move(inside, 20);
    QDropEvent drop(inside, Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(&board.view, &drop);
    QCOMPARE(board.editor.entries.size(), std::size_t{1});
    QVERIFY(board.view.visibleArea().contains(board.view.scene().bounds()));

    QApplication::sendEvent(&board.view, &enter);
    move(inside, 20);
    const QRectF before = board.view.visibleArea();
    move({4, 400}, 80);  // and back: now it asks for what lies there
    QVERIFY(board.view.visibleArea() != before);
    QDragLeaveEvent leave;
    QApplication::sendEvent(&board.view, &leave);
}

void TestCanvasNavigation::whatIsLeftIsShownLarge() {
    Board board;
    const HardwarePtr small = board.editor.hardware;
    Hardware grown = *small;
    for (int i = 0; i < 24; ++i)
        grown.root.children.push_back(
            part(ComponentKind::Node, "more" + std::to_string(i), {part(ComponentKind::Package, "gpu")}));
    const auto large = std::make_shared<const Hardware>(std::move(grown));
    board.view.fitAll();
    const double near = board.view.zoom();
    board.view.setDesign(large, board.editor.placements);
    const double far = board.view.zoom();
    QVERIFY(far < 0.7 * near);
    board.view.setDesign(small, board.editor.placements);  // all undone
    QCOMPARE(board.view.zoom(), near);
    // Whoever has chosen where to look keeps it.
    board.view.setDesign(large, board.editor.placements);
    wheel(board.view, {200, 200}, -1);
    const QRectF seen = board.view.visibleArea();
    board.view.setDesign(small, board.editor.placements);
    QCOMPARE(board.view.visibleArea(), seen);
}

// A chip of a memory and a die is drawn with its inside as soon as the die can be read.
void TestCanvasNavigation::aBoxOpensForTheLargerOfTwo() {
    using K = ComponentKind;
    Hardware design;
    design.name = "Chip";
    design.root = part(K::System, "system",
                       {part(K::Package, "chip",
                             {part(K::Dram, "hbm"),
                              part(K::Die, "die", {part(K::Core, "a"), part(K::Core, "b"), part(K::Core, "c")})})});
    Board board(std::move(design));
    const QRectF die = board.box("die"), hbm = board.box("hbm");
    QVERIFY(hbm.width() < 0.8 * die.width());
    const double zoom = 48 / (0.5 * (hbm.width() + die.width()));  // the die is wide enough, the memory is not
    QVERIFY(showsInside(board.view.scene(), board.node("chip"), zoom));
    QVERIFY(!showsInside(board.view.scene(), board.node("chip"), 40 / die.width()));
}

void TestCanvasNavigation::panningPaintsAsAFreshView() {
    Board board;
    board.view.grab();
    for (const QPoint& to : {QPoint(431, 260), QPoint(300, 555), QPoint(377, 301)}) {
        board.drag({400, 300}, to, {}, Qt::MiddleButton);
        board.view.grab();
    }
    const QImage expected = afresh(board);
    QCOMPARE(board.view.grab().toImage(), expected);
}

void TestCanvasNavigation::editsPaintAsAFreshView() {
    Board board;
    board.view.grab();
    for (const char* name : {"gpu1", "sw", "gpu9", "gpu0"}) {
        board.dragHolding(board.grip(name), board.grip(name) + QPoint(16, 40), Qt::ControlModifier);
        board.view.grab();
    }
    QVERIFY(board.editor.entries.size() >= 3);
    board.selection.clear();
    QEvent leave(QEvent::Leave);
    QApplication::sendEvent(&board.view, &leave);
    const QImage expected = afresh(board);
    QCOMPARE(board.view.grab().toImage(), expected);
}

void TestCanvasNavigation::selectingPaintsAsAFreshView() {
    Board board;
    board.view.grab();
    for (const char* name : {"gpu0", "node1", "a", "hbm1"}) {
        board.selection.select({board.path(name)});
        board.view.grab();
    }
    const QImage expected = afresh(board);
    QCOMPARE(board.view.grab().toImage(), expected);
}

void TestCanvasNavigation::theMinimapCentres() {
    Board board;
    Minimap map(&board.view);
    map.resize(200, 140);
    map.show();
    board.view.setZoom(4, {0, 0});
    const QPoint at(60, 50);
    QTest::mouseClick(&map, Qt::LeftButton, {}, at);
    const QPointF middle = board.view.toScene(QRectF(board.view.rect()).center());
    QVERIFY((middle - map.toScene(at)).manhattanLength() < 1.0);
    QVERIFY(map.viewport().contains(at));
    QVERIFY(!map.grab().isNull());
}

void TestCanvasNavigation::breadcrumbsGoOut() {
    Board board;
    Breadcrumbs crumbs(&board.view);
    crumbs.show();
    board.view.enter(board.path("gpu0"));
    QTRY_COMPARE(crumbs.findChildren<QToolButton*>().size(), 3);
    QCOMPARE(crumbs.findChild<QToolButton*>("canvasCrumb2")->text(), QString("gpu0"));
    crumbs.findChild<QToolButton*>("canvasCrumb1")->click();
    QCOMPARE(board.view.entered(), board.path("node0"));
    QTRY_COMPARE(crumbs.findChildren<QToolButton*>().size(), 2);
}

void TestCanvasNavigation::findByNameKindAndValue() {
    Hardware design = cluster();
    design.root.children[0].children[0].children[0] =
        setAttribute(design.root.children[0].children[0].children[0], "capacity", "80 GB")
            ? design.root.children[0].children[0].children[0]
            : Component{};
    const auto names = [&](const QString& words) { return findInDesign(design.root, words).size(); };
    QCOMPARE(names("gpu"), std::size_t(3 + 2));  // three packages and two links that name one
    QCOMPARE(names("DRAM"), std::size_t(2));
    QCOMPARE(names("capacity 80"), std::size_t(1));
    QCOMPARE(names("package gpu9"), std::size_t(1));
    QCOMPARE(names(""), std::size_t(0));
    QCOMPARE(names("nothing like it"), std::size_t(0));
}

void TestCanvasNavigation::findWalksTheMatches() {
    Board board;
    FindBar bar(&board.view);
    bar.open();
    QTest::keyClicks(bar.findChild<QLineEdit*>("canvasFindWords"), "dram");
    QCOMPARE(bar.found().size(), std::size_t(2));
    QCOMPARE(board.selection.current(), board.path("hbm0"));
    QCOMPARE(bar.findChild<QLabel*>("canvasFindCount")->text(), QString("1 of 2"));
    bar.next();
    QCOMPARE(board.selection.current(), board.path("hbm1"));
    bar.next();
    QCOMPARE(board.selection.current(), board.path("hbm0"));
    bar.previous();
    QCOMPARE(board.selection.current(), board.path("hbm1"));
    QTest::keyClick(bar.findChild<QLineEdit*>("canvasFindWords"), Qt::Key_Escape);
    QVERIFY(bar.isHidden());
}

void TestCanvasNavigation::ensureVisibleBringsItIn() {
    Board board;
    board.view.setZoom(2, {0, 0});
    board.view.centreOn({-5000, -5000});
    board.view.ensureVisible(board.path("gpu9"));
    QVERIFY(board.view.visibleArea().contains(board.box("gpu9").center()));
}

void TestCanvasNavigation::everyControlIsNamed() {
    Board board;
    Minimap map(&board.view);
    Breadcrumbs crumbs(&board.view);
    FindBar bar(&board.view);
    for (QWidget* root : std::initializer_list<QWidget*>{&map, &crumbs, &bar, &board.view}) {
        QList<QWidget*> all = root->findChildren<QWidget*>();
        all.prepend(root);
        for (const QWidget* widget : all) {
            if (widget->focusPolicy() == Qt::NoFocus) continue;
            if (widget->objectName().startsWith("qt_")) continue;
            QVERIFY2(!widget->objectName().isEmpty(), widget->metaObject()->className());
            QVERIFY2(!widget->accessibleName().isEmpty(), qPrintable(widget->objectName()));
            // The canvas itself shows cards of what is under the cursor instead.
            if (widget != &board.view) QVERIFY2(!widget->toolTip().isEmpty(), qPrintable(widget->objectName()));
        }
    }
}

void TestCanvasNavigation::picturesAreWritten() {
    Board board;
    QTemporaryDir folder;
    for (const char* ending : {"svg", "png", "pdf"}) {
        const QString file = folder.filePath(QString("drawing.") + ending);
        QCOMPARE(board.view.exportTo(file), QString());
        QVERIFY(QFileInfo(file).size() > 500);
    }
    // Its text names fonts that others have, and not the one that the window made for itself.
    QFile svg(folder.filePath("drawing.svg"));
    QVERIFY(svg.open(QIODevice::ReadOnly));
    const QByteArray drawing = svg.readAll();
    QVERIFY(drawing.contains("font-family=\"Inter, Helvetica, Arial, sans-serif\""));
    QVERIFY(!drawing.contains("Intab"));
    QVERIFY(!board.view.exportTo(folder.filePath("drawing.bmp")).isEmpty());
    QVERIFY(!board.view.exportTo("/nonexistent/drawing.svg").isEmpty());
    QVERIFY(!QImage(folder.filePath("drawing.png")).isNull());
}

QTEST_MAIN(TestCanvasNavigation)
#include "tst_canvas_navigation.moc"
