// Do components survive the clipboard: within a design, into another project, and as text of any editor?

#include "support/canvas_fixture.h"
#include "widgets/canvas/clipboard.h"

#include <QClipboard>
#include <QMimeData>

using namespace orrery;
using namespace orrery::ui;
using namespace orrery::ui::test;

class TestCanvasClipboard : public QObject {
    Q_OBJECT
private slots:
    void copiedTextIsYaml();
    void pasteIntoAnotherProjectKeepsPartsLinksAndPlaces();
    void pasteWithoutTheMouseGoesWhereTheSelectionIs();
    void cutRemovesAndPasteBringsBack();
    void textOfAnEditorIsPasted();
    void badTextIsRefusedAndChangesNothing_data();
    void badTextIsRefusedAndChangesNothing();
    void whatMayNotStandThereIsRefused();
    void placementsRoundTrip();
};

void TestCanvasClipboard::copiedTextIsYaml() {
    Board board;
    board.selection.select({board.path("gpu0")});
    board.key(Qt::Key_C, Qt::ControlModifier);
    const QString text = QGuiApplication::clipboard()->text();
    QVERIFY2(text.contains("kind: package") && text.contains("hbm0"), qPrintable(text));
    QCOMPARE(board.editor.asked, 0);
}

void TestCanvasClipboard::pasteIntoAnotherProjectKeepsPartsLinksAndPlaces() {
    Board from;
    from.selection.select({from.path("gpu0"), from.path("sw")});
    from.view.copySelected();
    const QPointF apart = from.box("sw").topLeft() - from.box("gpu0").topLeft();
    Hardware other;
    other.name = "Other";
    other.root = part(ComponentKind::System, "other", {part(ComponentKind::Node, "big")});
    Board to(other);
    to.view.show();
    QTest::mouseMove(&to.view, to.middle("big"));
    to.moveTo(to.middle("big"));
    QEnterEvent enter(to.middle("big"), to.middle("big"), to.view.mapToGlobal(to.middle("big")));
    QApplication::sendEvent(&to.view, &enter);
    to.view.setAttribute(Qt::WA_UnderMouse);
    to.key(Qt::Key_V, Qt::ControlModifier);
    QCOMPARE(to.editor.entries.size(), std::size_t(1));
    QCOMPARE(to.parentOf("gpu0"), std::string("big"));
    QCOMPARE(to.parentOf("sw"), std::string("big"));
    QCOMPARE(*componentAt(to.editor.hardware->root, to.path("gpu0")),
             *componentAt(from.editor.hardware->root, from.path("gpu0")));
    const auto links = linkEnds(to.editor.hardware->root);
    QCOMPARE(links.size(), std::size_t(1));
    QVERIFY(!links.front().broken);
    QCOMPARE(to.box("sw").topLeft() - to.box("gpu0").topLeft(), apart);
}

void TestCanvasClipboard::pasteWithoutTheMouseGoesWhereTheSelectionIs() {
    Board board;
    board.selection.select({board.path("gpu9")});
    board.view.copySelected();
    board.selection.select({board.path("node0")});
    board.view.setAttribute(Qt::WA_UnderMouse, false);
    board.view.paste();
    QCOMPARE(componentAt(board.editor.hardware->root, board.path("node0"))->children.back().kind,
             ComponentKind::Package);
    QCOMPARE(board.editor.entries.size(), std::size_t(1));
}

void TestCanvasClipboard::cutRemovesAndPasteBringsBack() {
    Board board;
    board.selection.select({board.path("gpu9")});
    board.key(Qt::Key_X, Qt::ControlModifier);
    QVERIFY(!findComponent(board.editor.hardware->root, "gpu9"));
    board.selection.select({board.path("node1")});
    board.view.setAttribute(Qt::WA_UnderMouse, false);
    board.view.paste();
    QCOMPARE(board.parentOf("gpu9"), std::string("node1"));
    QCOMPARE(*board.editor.hardware, cluster());
}

void TestCanvasClipboard::textOfAnEditorIsPasted() {
    Board board;
    QGuiApplication::clipboard()->setText("- {kind: package, name: npu}\n- {kind: switch, name: leaf}\n");
    board.selection.select({board.path("node1")});
    board.view.setAttribute(Qt::WA_UnderMouse, false);
    board.view.paste();
    QCOMPARE(board.parentOf("npu"), std::string("node1"));
    QCOMPARE(board.parentOf("leaf"), std::string("node1"));
}

void TestCanvasClipboard::badTextIsRefusedAndChangesNothing_data() {
    QTest::addColumn<QString>("text");
    QTest::newRow("nothing") << "";
    QTest::newRow("prose") << "Dear all, the meeting is at ten.";
    QTest::newRow("unclosed") << "- {kind: core";
    QTest::newRow("unknown kind") << "- {kind: flux_capacitor}";
    QTest::newRow("number") << "42";
    QTest::newRow("binary") << QString(QChar(1)).repeated(40);
}

void TestCanvasClipboard::badTextIsRefusedAndChangesNothing() {
    QFETCH(QString, text);
    Board board;
    QSignalSpy refused(&board.view, &CanvasView::refused);
    QGuiApplication::clipboard()->setText(text);
    board.view.paste();
    QCOMPARE(refused.count(), 1);
    const auto why = refused.front().front().value<Diagnostic>();
    QVERIFY(!why.code.empty() && !why.message.empty());
    QCOMPARE(board.editor.asked, 0);
}

void TestCanvasClipboard::whatMayNotStandThereIsRefused() {
    Hardware design;
    design.root = part(ComponentKind::System, "s");  // holds all but another system
    Board board(design);
    QSignalSpy refused(&board.view, &CanvasView::refused);
    QGuiApplication::clipboard()->setText("- {kind: system, name: another}");
    board.view.paste();
    QCOMPARE(refused.count(), 1);
    QCOMPARE(board.editor.asked, 0);
}

void TestCanvasClipboard::placementsRoundTrip() {
    Placement place{12.5, -3, 100, 0, true, false, true};
    const Clip clip{{part(ComponentKind::Core, "c"), part(ComponentKind::Core, "d")}, {place, Placement{}}};
    const auto data = toMimeData(clip);
    const auto back = fromMimeData(data.get());
    QVERIFY(back);
    QCOMPARE(back->places, clip.places);
    QCOMPARE(back->parts.size(), std::size_t(2));
    // Edited as text by another program: the places no longer fit and are left alone.
    data->setText("- {kind: core, name: only}");
    QVERIFY(fromMimeData(data.get())->places.empty());
}

QTEST_MAIN(TestCanvasClipboard)
#include "tst_canvas_clipboard.moc"
