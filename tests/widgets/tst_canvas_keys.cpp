// Can everything be done without a mouse, with repeated nudges in one entry?

#include "support/canvas_fixture.h"

#include <QAccessible>

using namespace orrery;
using namespace orrery::ui;
using namespace orrery::ui::test;

class TestCanvasKeys : public QObject {
    Q_OBJECT
private slots:
    void nudgesMergeWhileRepeated();
    void shiftNudgesByOne();
    void anotherSelectionBeginsAnotherEntry();
    void deleteTakesTheLinksAlong();
    void duplicateGroupAndUngroup();
    void selectAllTakesTheSiblings();
    void tabWalksAndWrapsAround();
    void enterGoesInAndBackspaceOut();
    void tabLeavesTheCanvasWithNothingSelected();
    void placingByKeyboard();
    void linkingByKeyboard();
    void zoomKeys();
    void escapePeelsOneLayerAtATime();
    void assistiveTechnologyHearsWhatIsCurrent();
    void withoutAnEditorNothingIsEdited();
};

void TestCanvasKeys::nudgesMergeWhileRepeated() {
    Board board;
    const QPointF before = board.box("gpu9").topLeft() - board.box("node1").topLeft();
    board.selection.select({board.path("gpu9")});
    for (int i = 0; i < 5; ++i) board.key(Qt::Key_Right);
    board.key(Qt::Key_Down);
    QCOMPARE(board.editor.entries.size(), std::size_t(1));
    QCOMPARE(board.box("gpu9").topLeft() - board.box("node1").topLeft() - before, QPointF(5 * gridStep, gridStep));
    board.editor.undo();
    QCOMPARE(board.box("gpu9").topLeft() - board.box("node1").topLeft(), before);
}

void TestCanvasKeys::shiftNudgesByOne() {
    Board board;
    board.selection.select({board.path("gpu9")});
    const double before = board.box("gpu9").left() - board.box("node1").left();
    board.key(Qt::Key_Right, Qt::ShiftModifier);
    QCOMPARE(board.box("gpu9").left() - board.box("node1").left(), before + 1);
}

void TestCanvasKeys::anotherSelectionBeginsAnotherEntry() {
    Board board;
    board.selection.select({board.path("gpu9")});
    board.key(Qt::Key_Right);
    board.selection.select({board.path("gpu1")});
    board.key(Qt::Key_Right);
    QCOMPARE(board.editor.entries.size(), std::size_t(2));
}

void TestCanvasKeys::deleteTakesTheLinksAlong() {
    Board board;
    board.selection.select({board.path("sw")});
    board.key(Qt::Key_Delete);
    QVERIFY(!findComponent(board.editor.hardware->root, "sw"));
    QVERIFY(linkEnds(board.editor.hardware->root).empty());
    QVERIFY(board.selection.paths().empty());
    board.editor.undo();
    QCOMPARE(*board.editor.hardware, cluster());
}

void TestCanvasKeys::duplicateGroupAndUngroup() {
    Board board;
    board.selection.select({board.path("gpu0"), board.path("gpu1")});
    board.key(Qt::Key_D, Qt::ControlModifier);
    QCOMPARE(board.selection.paths().size() >= 2, true);
    board.editor.undo();
    board.selection.select({board.path("hbm0")});
    board.key(Qt::Key_G, Qt::ControlModifier);
    QCOMPARE(board.editor.entries.size(), std::size_t(1));
    QVERIFY(board.parentOf("hbm0") != "gpu0");
    board.key(Qt::Key_G, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(board.parentOf("hbm0"), std::string("gpu0"));
}

void TestCanvasKeys::selectAllTakesTheSiblings() {
    Board board;
    board.selection.select({board.path("gpu0")});
    board.key(Qt::Key_A, Qt::ControlModifier);
    QCOMPARE(board.selection.paths().size(), std::size_t(5));
    board.key(Qt::Key_Escape);
    board.key(Qt::Key_A, Qt::ControlModifier);
    QCOMPARE(board.selection.paths(), (std::vector<ComponentPath>{{0}, {1}}));
}

void TestCanvasKeys::tabWalksAndWrapsAround() {
    Board board;
    board.selection.select({board.path("node0")});
    board.key(Qt::Key_Tab);
    QCOMPARE(board.selection.current(), board.path("node1"));
    board.key(Qt::Key_Tab);
    QCOMPARE(board.selection.current(), board.path("node0"));
    board.key(Qt::Key_Backtab, Qt::ShiftModifier);
    QCOMPARE(board.selection.current(), board.path("node1"));
}

void TestCanvasKeys::enterGoesInAndBackspaceOut() {
    Board board;
    board.key(Qt::Key_Return);
    QCOMPARE(board.selection.current(), board.path("node0"));
    board.key(Qt::Key_Return);
    QCOMPARE(board.view.entered(), board.path("node0"));
    QCOMPARE(board.selection.current(), board.path("gpu0"));
    board.key(Qt::Key_Backspace);
    QCOMPARE(board.selection.current(), board.path("node0"));
    QVERIFY(board.view.entered().empty());
}

void TestCanvasKeys::tabLeavesTheCanvasWithNothingSelected() {
    QWidget window;
    ComponentSelection selection;
    CanvasView view(&selection, &window);
    QWidget after(&window);
    after.setFocusPolicy(Qt::StrongFocus);
    window.show();
    QApplication::setActiveWindow(&window);
    view.setFocus();
    QTRY_COMPARE(QApplication::focusWidget(), &view);
    QTest::keyClick(&view, Qt::Key_Tab);
    QCOMPARE(QApplication::focusWidget(), &after);
}

void TestCanvasKeys::placingByKeyboard() {
    Board board;
    board.selection.select({board.path("node1")});
    board.view.startPlacing(part(ComponentKind::Package, "tpu"));
    board.key(Qt::Key_Return);
    QCOMPARE(board.parentOf("tpu"), std::string("node1"));
    QCOMPARE(board.selection.current(), board.path("tpu"));
    QCOMPARE(board.view.tool(), CanvasView::Tool::Select);
}

void TestCanvasKeys::linkingByKeyboard() {
    Board board;
    board.selection.select({board.path("gpu0")});
    board.key(Qt::Key_L);
    QCOMPARE(board.view.tool(), CanvasView::Tool::Link);
    board.key(Qt::Key_Tab);
    QCOMPARE(board.selection.current(), board.path("gpu1"));
    board.key(Qt::Key_Return);
    QCOMPARE(linkEnds(board.editor.hardware->root).size(), std::size_t(3));
    QCOMPARE(board.editor.entries.size(), std::size_t(1));
}

void TestCanvasKeys::zoomKeys() {
    Board board;
    board.key(Qt::Key_1, Qt::ControlModifier);
    QCOMPARE(board.view.zoom(), 1.0);
    board.selection.select({board.path("gpu0")});
    board.key(Qt::Key_F, Qt::ShiftModifier);
    QVERIFY(board.view.visibleArea().contains(board.box("gpu0")));
    const double near = board.view.zoom();
    board.key(Qt::Key_F);
    QVERIFY(board.view.visibleArea().contains(board.view.scene().bounds()));
    QVERIFY(board.view.zoom() < near);
}

void TestCanvasKeys::escapePeelsOneLayerAtATime() {
    Board board;
    board.selection.select({board.path("gpu0")});
    board.view.setTool(CanvasView::Tool::Link);  // begins at gpu0
    board.key(Qt::Key_Escape);
    QCOMPARE(board.view.tool(), CanvasView::Tool::Link);
    board.key(Qt::Key_Escape);
    QCOMPARE(board.view.tool(), CanvasView::Tool::Select);
    QVERIFY(!board.selection.paths().empty());
    board.key(Qt::Key_Escape);
    QVERIFY(board.selection.paths().empty());
}

void TestCanvasKeys::assistiveTechnologyHearsWhatIsCurrent() {
    Board board;
    QVERIFY(!board.view.accessibleName().isEmpty());
    board.selection.select({board.path("gpu0")});
    QVERIFY2(board.view.accessibleDescription().contains("gpu0"), qPrintable(board.view.accessibleDescription()));
    board.key(Qt::Key_Tab);
    QVERIFY(board.view.accessibleDescription().contains("gpu1"));
}

void TestCanvasKeys::withoutAnEditorNothingIsEdited() {
    Board board;
    board.view.setEditor(nullptr);
    board.selection.select({board.path("gpu0")});
    for (const Qt::Key key : {Qt::Key_Delete, Qt::Key_Right, Qt::Key_F2}) board.key(key);
    for (const Qt::Key key : {Qt::Key_D, Qt::Key_G, Qt::Key_X, Qt::Key_V}) board.key(key, Qt::ControlModifier);
    board.drag(board.grip("gpu1"), board.middle("node1"));
    QCOMPARE(board.editor.asked, 0);
}

QTEST_MAIN(TestCanvasKeys)
#include "tst_canvas_keys.moc"
