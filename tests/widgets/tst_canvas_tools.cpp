// Does each tool do what its gesture says, in one entry, and nothing at all when it is cancelled midway?

#include "hardware/check/validate.h"
#include "support/canvas_fixture.h"
#include "widgets/canvas/find_bar.h"
#include "widgets/canvas/free_place.h"
#include "widgets/canvas/ports.h"
#include "widgets/canvas/tools/measure.h"

#include <QLineEdit>

using namespace orrery;
using namespace orrery::ui;
using namespace orrery::ui::test;

class TestCanvasTools : public QObject {
    Q_OBJECT
private slots:
    void aClickSelectsTheInnermost();
    void shiftAndCtrlToggle();
    void aClickOnOneOfManySelectsItAlone();
    void aDragMovesTheBoxAndNothingElse();
    void aDragSnapsUnlessShiftIsHeld();
    void aDragOfSeveralIsOneEntry();
    void aDropIntoAnotherNodeMovesThere();
    void altKeepsItInItsParent();
    void whatNothingMayHoldIsRefused();
    void ctrlCopies();
    void theBandTakesWhatLiesInside();
    void theBandBackwardsTakesWhatItTouches();
    void placingPutsItUnderTheCursor();
    void whatIsPlacedByKeyIsSeen();
    void placingClimbsToWhatMayHoldIt();
    void shiftKeepsPlacing();
    void aLinkByDragAndByTwoClicks();
    void aLinkToItsOwnInsideIsRefusedInWords();
    void aLinkFromDotToDotKeepsItsPorts();
    void aTakenPortIsNotOffered();
    void placingFindsAFreePlace();
    void aGrownContainerPushesItsNeighboursAside();
    void aDragAtTheBorderScrolls();
    void theSearchMarksAllMatches();
    void aHandleResizesButNeverBelowTheContents();
    void middleButtonAndSpacePan();
    void measureCountsHops();
    void doubleClickEnters();
    void renamingInPlace();
    void cancelledMidwayLeavesNothing_data();
    void cancelledMidwayLeavesNothing();
    void anEditMidDragEndsIt();
};

void TestCanvasTools::aClickSelectsTheInnermost() {
    Board board;
    QTest::mouseClick(&board.view, Qt::LeftButton, {}, board.middle("hbm0"));
    QCOMPARE(board.selection.paths(), std::vector<ComponentPath>{board.path("hbm0")});
    QTest::mouseClick(&board.view, Qt::LeftButton, {}, board.grip("gpu1"));
    QCOMPARE(board.selection.paths(), std::vector<ComponentPath>{board.path("gpu1")});
    QTest::mouseClick(&board.view, Qt::LeftButton, {}, {2, 2});
    QVERIFY(board.selection.paths().empty());
    QCOMPARE(board.editor.asked, 0);
}

void TestCanvasTools::shiftAndCtrlToggle() {
    Board board;
    QTest::mouseClick(&board.view, Qt::LeftButton, {}, board.grip("gpu0"));
    QTest::mouseClick(&board.view, Qt::LeftButton, Qt::ShiftModifier, board.grip("gpu1"));
    QCOMPARE(board.selection.paths().size(), std::size_t(2));
    QTest::mouseClick(&board.view, Qt::LeftButton, Qt::ControlModifier, board.grip("gpu0"));
    QCOMPARE(board.selection.paths(), std::vector<ComponentPath>{board.path("gpu1")});
}

void TestCanvasTools::aClickOnOneOfManySelectsItAlone() {
    Board board;
    board.selection.select({board.path("gpu0"), board.path("gpu1")});
    QTest::mouseClick(&board.view, Qt::LeftButton, {}, board.grip("gpu0"));
    QCOMPARE(board.selection.paths(), std::vector<ComponentPath>{board.path("gpu0")});
}

void TestCanvasTools::aDragMovesTheBoxAndNothingElse() {
    Board board;
    const QRectF sw = board.box("sw"), gpu0 = board.box("gpu0"), hbm0 = board.box("hbm0");
    board.dragHolding(board.grip("gpu1"), board.grip("gpu1") + QPoint(7, 61), Qt::ShiftModifier | Qt::AltModifier);
    QCOMPARE(board.editor.entries.size(), std::size_t(1));
    QCOMPARE(board.editor.entries.back().words, QString("Move gpu1"));
    QCOMPARE(board.box("sw"), sw);
    QCOMPARE(board.box("gpu0"), gpu0);
    QCOMPARE(board.box("hbm0"), hbm0);
    const Placements after = *board.editor.placements;
    QVERIFY(after.find("node0/gpu1"));
    board.editor.undo();
    QVERIFY(board.editor.placements->at.empty());
    QCOMPARE(board.box("sw"), sw);
}

void TestCanvasTools::aDragSnapsUnlessShiftIsHeld() {
    Board board;
    board.dragHolding(board.grip("gpu9"), board.grip("gpu9") + QPoint(203, 101), Qt::AltModifier);
    Placement place = *board.editor.placements->find("node1/gpu9");
    QCOMPARE(std::fmod(place.x, gridStep), 0.0);
    board.editor.undo();
    const QPointF before = board.box("gpu9").topLeft();
    const QPointF node = board.box("node1").topLeft();
    board.dragHolding(board.grip("gpu9"), board.grip("gpu9") + QPoint(13, 9), Qt::ShiftModifier | Qt::AltModifier);
    QCOMPARE((board.box("gpu9").topLeft() - board.box("node1").topLeft()) - (before - node), QPointF(13, 9));
}

void TestCanvasTools::aDragOfSeveralIsOneEntry() {
    Board board;
    board.selection.select({board.path("gpu0"), board.path("gpu1")});
    const QPointF apart = board.box("gpu1").topLeft() - board.box("gpu0").topLeft();
    board.dragHolding(board.grip("gpu0"), board.grip("gpu0") + QPoint(40, 32), Qt::AltModifier);
    QCOMPARE(board.editor.entries.size(), std::size_t(1));
    QCOMPARE(board.editor.entries.back().words.contains('2'), true);
    QCOMPARE(board.box("gpu1").topLeft() - board.box("gpu0").topLeft(), apart);
}

void TestCanvasTools::aDropIntoAnotherNodeMovesThere() {
    Board board;
    QCOMPARE(board.parentOf("gpu1"), std::string("node0"));
    board.drag(board.grip("gpu1"), board.onView(board.box("node1").bottomRight() - QPointF(6, 6)));
    QCOMPARE(board.parentOf("gpu1"), std::string("node1"));
    QCOMPARE(board.parentOf("gpu9"), std::string("node1"));
    QCOMPARE(board.editor.entries.size(), std::size_t(1));
    QCOMPARE(board.selection.paths(), std::vector<ComponentPath>{board.path("gpu1")});
    board.editor.undo();
    QCOMPARE(*board.editor.hardware, cluster());
}

void TestCanvasTools::altKeepsItInItsParent() {
    Board board;
    board.dragHolding(board.grip("gpu1"), board.onView(board.box("node1").bottomRight() - QPointF(6, 6)),
                      Qt::AltModifier);
    QCOMPARE(board.parentOf("gpu1"), std::string("node0"));
    QCOMPARE(board.editor.entries.size(), std::size_t(1));
}

void TestCanvasTools::whatNothingMayHoldIsRefused() {
    Hardware design;
    design.root = part(ComponentKind::System, "s",
                       {part(ComponentKind::Dram, "pim",
                             {part(ComponentKind::Core, "core", {part(ComponentKind::RegisterFile, "regs")}),
                              part(ComponentKind::Buffer, "buf")})});
    Board board(design);
    QSignalSpy refused(&board.view, &CanvasView::refused);
    // A register file may stand in a core, not in a DRAM, and what lies outside of the DRAM is not entered.
    board.view.enter(board.path("pim"));
    board.drag(board.middle("regs"), board.onView(board.box("buf").bottomRight() + QPointF(3, 3)));
    QCOMPARE(refused.count(), 1);
    QCOMPARE(board.editor.asked, 0);
    QCOMPARE(*board.editor.hardware, design);
}

// A drag that begins with Alt goes to the window manager, which moves the window.
void TestCanvasTools::ctrlCopies() {
    Board board;
    board.press(board.grip("gpu9"), Qt::ControlModifier);
    board.moveTo(board.grip("gpu9") + QPoint(20, 6));
    board.release(board.grip("gpu9") + QPoint(20, 6));
    QCOMPARE(board.editor.entries.size(), std::size_t(1));
    QCOMPARE(componentAt(board.editor.hardware->root, board.path("node1"))->children.size(), std::size_t(2));
}

void TestCanvasTools::theBandTakesWhatLiesInside() {
    Board board;
    const QRectF area = board.box("gpu0") | board.box("gpu1");
    const QPointF from = area.topLeft() - QPointF(5, 5);
    board.drag(board.onView(from), board.onView(area.bottomRight() + QPointF(3, 3)), Qt::ShiftModifier);
    QVERIFY(board.selection.contains(board.path("gpu0")));
    QVERIFY(board.selection.contains(board.path("gpu1")));
    QVERIFY(!board.selection.contains(board.path("hbm0")));  // it comes with its package
    QVERIFY(!board.selection.contains(board.path("node0")));
    QCOMPARE(board.editor.asked, 0);
}

void TestCanvasTools::theBandBackwardsTakesWhatItTouches() {
    Board board;
    const QRectF gpu = board.box("gpu0");
    const QPointF outside(gpu.left() - 6, gpu.top() + 4), inside(gpu.left() + 5, gpu.top() + 12);
    board.drag(board.onView(outside), board.onView(inside), Qt::ShiftModifier);
    QVERIFY(!board.selection.contains(board.path("gpu0")));  // left to right: not wholly inside
    const QPointF right(gpu.right() + 6, gpu.top() + 4), left(gpu.right() - 5, gpu.top() + 12);
    board.drag(board.onView(right), board.onView(left), Qt::ShiftModifier);
    QVERIFY(board.selection.contains(board.path("gpu0")));
}

void TestCanvasTools::placingPutsItUnderTheCursor() {
    Board board;
    board.view.setSnaps(false);
    board.view.startPlacing(part(ComponentKind::Package, "tpu"));
    QCOMPARE(board.view.tool(), CanvasView::Tool::Place);
    const QPoint at = board.onView(board.box("node1").bottomRight() - QPointF(8, 8));
    const QPointF wanted = board.view.toScene(at) - board.box("node1").topLeft();
    board.moveTo(at);
    QTest::mouseClick(&board.view, Qt::LeftButton, {}, at);
    QCOMPARE(board.parentOf("tpu"), std::string("node1"));
    QCOMPARE(board.editor.entries.size(), std::size_t(1));
    QCOMPARE(board.view.tool(), CanvasView::Tool::Select);
    const QPointF centre = board.box("tpu").center() - board.box("node1").topLeft();
    QVERIFY2((centre - wanted).manhattanLength() < 2, qPrintable(QString("%1 %2").arg(centre.x()).arg(wanted.x())));
}

void TestCanvasTools::whatIsPlacedByKeyIsSeen() {
    Board board;
    board.selection.select({board.path("node1")});
    board.view.centreOn(board.box("node0").topLeft() - QPointF(4000, 4000));  // as far away as one may have scrolled
    board.view.startPlacing(part(ComponentKind::Package, "tpu"));
    QTest::keyClick(&board.view, Qt::Key_Return);
    QCOMPARE(board.parentOf("tpu"), std::string("node1"));
    QVERIFY(board.view.visibleArea().contains(board.box("tpu").center()));
}

void TestCanvasTools::placingClimbsToWhatMayHoldIt() {
    Board board;
    board.view.startPlacing(part(ComponentKind::Package, "tpu"));
    QTest::mouseClick(&board.view, Qt::LeftButton, {}, board.middle("sw"));  // a switch holds no package, its node does
    QCOMPARE(board.parentOf("tpu"), std::string("node0"));
}

void TestCanvasTools::shiftKeepsPlacing() {
    Board board;
    board.view.startPlacing(part(ComponentKind::Package, "tpu"));
    QTest::mouseClick(&board.view, Qt::LeftButton, Qt::ShiftModifier, board.middle("node1"));
    QCOMPARE(board.view.tool(), CanvasView::Tool::Place);
    QTest::mouseClick(&board.view, Qt::LeftButton, {}, board.onView(board.box("node1").bottomLeft() + QPointF(5, -5)));
    QCOMPARE(board.view.tool(), CanvasView::Tool::Select);
    QCOMPARE(board.editor.entries.size(), std::size_t(2));
}

void TestCanvasTools::aLinkByDragAndByTwoClicks() {
    Board board;
    board.view.setTool(CanvasView::Tool::Link);
    board.drag(board.grip("gpu0"), board.grip("gpu1"));
    QCOMPARE(board.editor.entries.size(), std::size_t(1));
    const auto links = linkEnds(board.editor.hardware->root);
    QCOMPARE(links.size(), std::size_t(3));
    QCOMPARE(*links.back().from, board.path("gpu0"));
    QCOMPARE(*links.back().to, board.path("gpu1"));
    board.selection.clear();
    QTest::mouseClick(&board.view, Qt::LeftButton, {}, board.grip("gpu9"));
    QTest::mouseClick(&board.view, Qt::LeftButton, {}, board.grip("gpu0"));
    QCOMPARE(board.editor.entries.size(), std::size_t(2));
    QCOMPARE(linkEnds(board.editor.hardware->root).size(), std::size_t(4));
}

void TestCanvasTools::aLinkToItsOwnInsideIsRefusedInWords() {
    Board board;
    board.view.setTool(CanvasView::Tool::Link);
    QTest::mouseClick(&board.view, Qt::LeftButton, {}, board.grip("gpu0"));
    QTest::mouseClick(&board.view, Qt::LeftButton, {}, board.grip("gpu0"));
    QCOMPARE(board.editor.entries.size(), std::size_t(0));  // to itself: nothing
}

void TestCanvasTools::aHandleResizesButNeverBelowTheContents() {
    Board board;
    board.view.setSnaps(false);
    board.selection.select({board.path("gpu0")});
    const QRectF before = board.box("gpu0");
    board.drag(board.onView(before.bottomRight()), board.onView(before.bottomRight() + QPointF(40, 24)));
    QCOMPARE(board.editor.entries.size(), std::size_t(1));
    QCOMPARE(board.editor.entries.back().words, QString("Resize gpu0"));
    QVERIFY((board.box("gpu0").size() - before.size() - QSizeF(40, 24)).width() < 1.5);
    QVERIFY(board.box("gpu0").width() > before.width() + 30);
    board.drag(board.onView(board.box("gpu0").bottomRight()), board.onView(board.box("gpu0").topLeft()));
    QVERIFY(board.box("gpu0").contains(board.box("hbm0")));
}

void TestCanvasTools::middleButtonAndSpacePan() {
    Board board;
    const QPointF held = board.view.toScene({300, 300});
    board.drag({300, 300}, {350, 270}, {}, Qt::MiddleButton);
    QCOMPARE(board.view.toView(held).toPoint(), QPoint(350, 270));
    QTest::keyPress(&board.view, Qt::Key_Space);
    board.drag({350, 270}, {340, 280});
    QTest::keyRelease(&board.view, Qt::Key_Space);
    QCOMPARE(board.view.toView(held).toPoint(), QPoint(340, 280));
    QCOMPARE(board.editor.asked, 0);
}

void TestCanvasTools::measureCountsHops() {
    Board board;
    const auto near = fewestHops(board.view.scene(), board.node("gpu0"), board.node("sw"));
    QVERIFY(near);
    QCOMPARE(near->links.size(), std::size_t(1));
    const auto far = fewestHops(board.view.scene(), board.node("hbm0"), board.node("hbm1"));
    QVERIFY(far);  // a part is linked as its package is
    QCOMPARE(far->links.size(), std::size_t(2));
    QCOMPARE(far->nodes[1], board.node("sw"));
    QVERIFY(!fewestHops(board.view.scene(), board.node("gpu0"), board.node("gpu9")));
    board.view.setTool(CanvasView::Tool::Measure);
    board.drag(board.grip("gpu0"), board.grip("gpu1"));
    QCOMPARE(board.editor.asked, 0);
}

void TestCanvasTools::doubleClickEnters() {
    Board board;
    QSignalSpy entered(&board.view, &CanvasView::enteredChanged);
    QTest::mouseDClick(&board.view, Qt::LeftButton, {}, board.grip("node0"));
    QCOMPARE(board.view.entered(), board.path("node0"));
    QCOMPARE(entered.count(), 1);
    QTest::mouseClick(&board.view, Qt::LeftButton, {}, board.grip("node1"));  // outside of it: cannot be selected
    QVERIFY(!board.selection.contains(board.path("node1")));
    board.view.leave();
    QVERIFY(board.view.entered().empty());
}

void TestCanvasTools::renamingInPlace() {
    Board board;
    board.selection.select({board.path("sw")});
    board.key(Qt::Key_F2);
    auto* edit = board.view.findChild<QLineEdit*>("canvasRename");
    QVERIFY(edit);
    QCOMPARE(edit->text(), QString("sw"));
    QTest::keyClicks(edit, "nvswitch");
    QTest::keyClick(edit, Qt::Key_Return);
    QCOMPARE(board.editor.entries.size(), std::size_t(1));
    QVERIFY(findComponent(board.editor.hardware->root, "nvswitch"));
    QVERIFY(!linkEnds(board.editor.hardware->root).front().broken);
    QTRY_VERIFY(!board.view.findChild<QLineEdit*>("canvasRename"));
    board.key(Qt::Key_F2);
    edit = board.view.findChild<QLineEdit*>("canvasRename");
    QTest::keyClicks(edit, "other");
    QTest::keyClick(edit, Qt::Key_Escape);
    QCOMPARE(board.editor.entries.size(), std::size_t(1));
}

void TestCanvasTools::aLinkFromDotToDotKeepsItsPorts() {
    Board board;
    board.view.setTool(CanvasView::Tool::Link);
    const QRectF a = board.box("gpu0"), b = board.box("gpu1");
    board.drag(board.onView({a.center().x(), a.bottom()}) + QPoint(2, 3), board.onView({b.center().x(), b.bottom()}));
    const LinkEnds made = linkEnds(board.editor.hardware->root).back();
    QCOMPARE(*made.from, board.path("gpu0"));
    QCOMPARE(*made.to, board.path("gpu1"));
    QCOMPARE(made.fromPort, std::string("bottom"));
    QCOMPARE(made.toPort, std::string("bottom"));
    const SceneLink& line = board.view.scene().links().back();
    QCOMPARE(line.line.first(), QPointF(a.center().x(), a.bottom()));
    QCOMPARE(line.line.last(), QPointF(b.center().x(), b.bottom()));
    board.drag(board.grip("gpu9"), board.grip("gpu0"));  // in the boxes: any port
    const LinkEnds any = linkEnds(board.editor.hardware->root).back();
    QVERIFY(any.fromPort.empty() && any.toPort.empty());
}

void TestCanvasTools::aTakenPortIsNotOffered() {
    Hardware design = cluster();
    Component& sw = design.root.children[0].children[2];
    sw.attributes = {{"ports", Measure{4, false, "4"}, {}, {}}};
    Board board(design);
    const auto ports = portsOf(sw, board.box("sw"));
    QCOMPARE(ports.size(), std::size_t(4));
    QVERIFY(portsOf(sw, board.box("sw"), 1000).empty());
    for (const BoxPort& port : ports) {
        const auto again = portNamed(sw, board.box("sw"), port.name);
        QVERIFY(again && again->at == port.at);
        const QRectF& box = board.box("sw");
        const bool onBorder = port.at.x() == box.left() || port.at.x() == box.right() || port.at.y() == box.top() ||
                              port.at.y() == box.bottom();
        QVERIFY(onBorder && box.adjusted(-1, -1, 1, 1).contains(port.at));
    }
    for (const char* gpu : {"gpu0", "gpu1"}) {
        board.view.setTool(CanvasView::Tool::Link);
        board.drag(board.grip(gpu), board.onView(portsOf(sw, board.box("sw"))[1].at));
        board.view.setTool(CanvasView::Tool::Select);
    }
    const auto links = linkEnds(board.editor.hardware->root);
    QCOMPARE(links[links.size() - 2].toPort, std::string("2"));
    QVERIFY(links.back().toPort != "2");
    for (const Diagnostic& problem : validate(*board.editor.hardware)) QVERIFY(problem.code != "hardware.port-used");
}

void TestCanvasTools::placingFindsAFreePlace() {
    Board board;
    const QPoint where = board.middle("gpu9");
    for (int i = 0; i < 3; ++i) {
        board.view.startPlacing(part(ComponentKind::Package, "tpu"));
        QTest::mouseMove(&board.view, where);
        QTest::mouseClick(&board.view, Qt::LeftButton, {}, where);
    }
    QCOMPARE(board.editor.entries.size(), std::size_t(3));
    const auto family = board.view.scene().children(board.node("node1"));
    QCOMPARE(family.size(), std::size_t(4));
    for (const int a : family) {
        for (const int b : family) {
            if (a != b)
                QVERIFY(!board.view.scene().nodes()[std::size_t(a)].box.intersects(
                    board.view.scene().nodes()[std::size_t(b)].box));
        }
    }
    // The nearest: beside what is taken, not far away.
    const QRectF taken(100, 100, 80, 40);
    QCOMPARE(freePlace(QRectF(300, 300, 50, 50), {{taken}}), QPointF(300, 300));
    // Beside or below it, and level with it.
    QCOMPARE(freePlace(QRectF(170, 110, 50, 20), {{taken}}), QPointF(188, 100));
    QCOMPARE(freePlace(QRectF(110, 130, 50, 20), {{taken}}), QPointF(100, 148));
}

void TestCanvasTools::aGrownContainerPushesItsNeighboursAside() {
    Board board;
    // By hand, close to each other: nothing is laid out by itself any more.
    const Placement first{0, 0}, second{board.box("node0").width() + 8, 0};
    QVERIFY(board.editor.arrange("Place", {{board.path("node0"), first}, {board.path("node1"), second}}, 0));
    board.view.fitAll();
    const QRectF before = board.box("node1");
    const QPoint right = board.onView({board.box("node0").right() - 4, board.box("node0").center().y()});
    for (int i = 0; i < 2; ++i) {
        board.view.startPlacing(part(ComponentKind::Package, "tpu"));
        QTest::mouseMove(&board.view, right);
        QTest::mouseClick(&board.view, Qt::LeftButton, {}, right);
    }
    QCOMPARE(board.editor.entries.size(), std::size_t(3));
    QVERIFY(!board.box("node0").intersects(board.box("node1")));
    QVERIFY(board.box("node1").left() > before.left());
    board.editor.undo();
    board.editor.undo();
    QCOMPARE(board.box("node1"), before);
}

void TestCanvasTools::aDragAtTheBorderScrolls() {
    Board board;
    const QPointF seen = board.view.visibleArea().topLeft();
    board.press(board.grip("gpu9"));
    board.moveTo(board.grip("gpu9") + QPoint(60, 20));
    board.moveTo({board.view.width() - 3, board.view.height() / 2});
    QTRY_VERIFY(board.view.visibleArea().left() > seen.x() + 40);
    board.moveTo({board.view.width() / 2, board.view.height() / 2});
    QTest::qWait(60);
    const QPointF stopped = board.view.visibleArea().topLeft();
    QTest::qWait(60);
    QCOMPARE(board.view.visibleArea().topLeft(), stopped);
    board.key(Qt::Key_Escape);
    board.release({5, 5});
    QCOMPARE(board.editor.asked, 0);
}

void TestCanvasTools::theSearchMarksAllMatches() {
    Board board;
    FindBar bar(&board.view);
    bar.open();
    const QImage plain = board.view.grab().toImage();
    QTest::keyClicks(bar.findChild<QLineEdit*>("canvasFindWords"), "hbm");
    QCOMPARE(board.selection.paths().size(), std::size_t(1));
    board.selection.clear();
    const QImage marked = board.view.grab().toImage();
    for (const char* name : {"hbm0", "hbm1"}) {
        const QRect around = QRectF(board.view.toView(board.box(name).topLeft()), board.box(name).size())
                                 .toRect()
                                 .adjusted(-4, -4, 4, 4);
        QVERIFY2(plain.copy(around) != marked.copy(around), name);
    }
    QTest::keyClick(bar.findChild<QLineEdit*>("canvasFindWords"), Qt::Key_Escape);
    board.selection.clear();
    QCOMPARE(board.view.grab().toImage().copy(board.view.rect().adjusted(2, 2, -2, -2)),
             plain.copy(board.view.rect().adjusted(2, 2, -2, -2)));
}

void TestCanvasTools::cancelledMidwayLeavesNothing_data() {
    QTest::addColumn<QString>("tool");
    for (const char* tool : {"move", "copy", "band", "resize", "place", "link", "pan", "measure", "rename"})
        QTest::newRow(tool) << tool;
}

void TestCanvasTools::cancelledMidwayLeavesNothing() {
    QFETCH(QString, tool);
    Board board;
    const Hardware before = *board.editor.hardware;
    const QTransform looked = board.view.transform();
    const QImage picture = board.view.grab().toImage();
    QPoint from = board.grip("gpu1"), to = board.middle("node1");
    if (tool == "band") from = {3, 3};
    if (tool == "resize") {
        board.selection.select({board.path("gpu1")});
        from = board.onView(board.box("gpu1").bottomRight());
    }
    if (tool == "place") board.view.startPlacing(part(ComponentKind::Package, "tpu"));
    if (tool == "link") board.view.setTool(CanvasView::Tool::Link);
    if (tool == "pan") board.view.setTool(CanvasView::Tool::Pan);
    if (tool == "measure") board.view.setTool(CanvasView::Tool::Measure);
    if (tool == "rename") {
        board.selection.select({board.path("gpu1")});
        board.view.renameCurrent();
        auto* edit = board.view.findChild<QLineEdit*>("canvasRename");
        QTest::keyClicks(edit, "x");
        QTest::keyClick(edit, Qt::Key_Escape);
    } else {
        board.press(from, tool == "copy" ? Qt::ControlModifier : Qt::NoModifier);
        board.moveTo((from + to) / 2);
        board.moveTo(to);
        board.view.grab();  // painting midway must be possible too
        board.key(Qt::Key_Escape);
        board.moveTo(to + QPoint(9, 9));
        board.release(to + QPoint(9, 9));
    }
    QCOMPARE(board.editor.asked, 0);
    QVERIFY(board.editor.entries.empty());
    QCOMPARE(*board.editor.hardware, before);
    QVERIFY(board.editor.placements->at.empty());
    // Esc until nothing is left: the picture is the one of before, to the pixel.
    for (int i = 0; i < 3; ++i) board.key(Qt::Key_Escape);
    board.moveTo({1, 1});
    QTest::mouseMove(&board.view, {1, 1});
    QCOMPARE(board.view.tool(), CanvasView::Tool::Select);
    QCOMPARE(board.view.transform(), looked);
    QCOMPARE(board.view.grab().toImage(), picture);
}

void TestCanvasTools::anEditMidDragEndsIt() {
    Board board;
    board.press(board.grip("gpu1"));
    board.moveTo(board.grip("gpu1") + QPoint(40, 40));
    board.view.setDesign(std::make_shared<const Hardware>(), std::make_shared<const Placements>());
    board.moveTo({200, 200});
    board.release({200, 200});
    QCOMPARE(board.editor.asked, 0);
}

QTEST_MAIN(TestCanvasTools)
#include "tst_canvas_tools.moc"
