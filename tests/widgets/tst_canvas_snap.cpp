// Does a dragged box go where a person would put it, and say why?

#include "widgets/canvas/snap.h"

#include <QtTest/QtTest>

using namespace orrery::ui;

class TestCanvasSnap : public QObject {
    Q_OBJECT
private slots:
    void withoutNeighboursTheGridDecides();
    void theGridCountsFromTheParentsOrigin();
    void anEdgeWithinReachPullsAndIsDrawn();
    void beyondReachOnlyTheGridPulls();
    void theNearerOfTwoWins();
    void centresAlign();
    void equalGapsBetweenTwoAndAfterTwo();
    void aGapNeedsBoxesBesideIt();
    void aPortMakesTheLinkStraight();
    void onlyTheDraggedEdgeSnaps();
    void snappingTwiceChangesNothing();
};

void TestCanvasSnap::withoutNeighboursTheGridDecides() {
    const Snapped snapped = snapBox({13, 19, 40, 20}, {{}, {}, 8, {}, 6});
    QCOMPARE(snapped.by, QPointF(3, -3));
    QVERIFY(snapped.guides.empty());
    QCOMPARE(snapBox({13, 19, 40, 20}, {}).by, QPointF());  // no grid, nothing at all
}

void TestCanvasSnap::theGridCountsFromTheParentsOrigin() {
    QCOMPARE(snapBox({13, 19, 40, 20}, {{}, {}, 8, {5, 5}, 6}).by, QPointF(0, 2));
}

void TestCanvasSnap::anEdgeWithinReachPullsAndIsDrawn() {
    // Left edge 103 beside a box whose left edge is 100; 103 alone would go to 104 by the grid.
    const Snapped snapped = snapBox({103, 200, 30, 20}, {{QRectF(100, 0, 50, 50)}, {}, 8, {}, 6});
    QCOMPARE(snapped.by.x(), -3.0);
    QCOMPARE(snapped.by.y(), 0.0);
    QCOMPARE(snapped.guides.size(), std::size_t(1));
    QCOMPARE(snapped.guides.front().kind, SnapKind::Edge);
    QCOMPARE(snapped.guides.front().line, QLineF(100, 0, 100, 220));  // over both boxes
}

void TestCanvasSnap::beyondReachOnlyTheGridPulls() {
    const Snapped snapped = snapBox({107, 200, 60, 20}, {{QRectF(100, 0, 50, 50)}, {}, 8, {}, 6});
    QCOMPARE(snapped.by.x(), -3.0);  // 104
    QVERIFY(snapped.guides.empty());
}

void TestCanvasSnap::theNearerOfTwoWins() {
    const std::vector<QRectF> boxes{QRectF(100, 0, 300, 50), QRectF(105, 60, 300, 50)};
    QCOMPARE(snapBox({104, 200, 30, 20}, {boxes, {}, 0, {}, 6}).by.x(), 1.0);
    QCOMPARE(snapBox({102, 200, 30, 20}, {boxes, {}, 0, {}, 6}).by.x(), -2.0);
}

void TestCanvasSnap::centresAlign() {
    // Centres 125 and 123: two apart; no edges are near.
    const Snapped snapped = snapBox({118, 200, 10, 20}, {{QRectF(100, 0, 50, 50)}, {}, 8, {}, 6});
    QCOMPARE(snapped.by.x(), 2.0);
    QCOMPARE(snapped.guides.front().kind, SnapKind::Centre);
    QCOMPARE(snapped.guides.front().line.x1(), 125.0);
}

void TestCanvasSnap::equalGapsBetweenTwoAndAfterTwo() {
    const std::vector<QRectF> pair{QRectF(0, 0, 40, 40), QRectF(60, 0, 40, 40)};  // 20 apart
    const Snapped after = snapBox({123, 5, 30, 27}, {pair, {}, 0, {}, 6});
    QCOMPARE(after.by.x(), -3.0);  // 120 = 100 + 20
    int gaps = 0;
    for (const SnapGuide& guide : after.guides) {
        if (guide.kind != SnapKind::Gap) continue;
        ++gaps;
        QCOMPARE(guide.line.length(), 20.0);
    }
    QCOMPARE(gaps, 2);
    const std::vector<QRectF> wide{QRectF(0, 0, 40, 40), QRectF(150, 0, 40, 40)};  // 110 between, 30 wide: 40 each
    QCOMPARE(snapBox({77, 5, 30, 27}, {wide, {}, 0, {}, 6}).by.x(), 3.0);
}

void TestCanvasSnap::aGapNeedsBoxesBesideIt() {
    const std::vector<QRectF> pair{QRectF(0, 0, 40, 40), QRectF(60, 0, 40, 40)};
    QCOMPARE(snapBox({123, 300, 30, 27}, {pair, {}, 0, {}, 6}).by.x(), 0.0);
}

void TestCanvasSnap::aPortMakesTheLinkStraight() {
    const Snapped snapped = snapBox({0, 100, 40, 40}, {{}, {QPointF(300, 123)}, 8, {}, 6});
    QCOMPARE(snapped.by.y(), 3.0);
    QCOMPARE(snapped.guides.size(), std::size_t(1));
    QCOMPARE(snapped.guides.front().kind, SnapKind::Port);
    QCOMPARE(snapped.guides.front().line, QLineF(0, 123, 300, 123));
}

void TestCanvasSnap::onlyTheDraggedEdgeSnaps() {
    const SnapTargets targets{{QRectF(100, 0, 50, 50)}, {}, 0, {}, 6};
    // The left edge is 2 from 100, the right one 3 from 150: each by itself.
    QCOMPARE(snapEdges({102, 200, 45, 20}, -1, 0, targets).by, QPointF(-2, 0));
    QCOMPARE(snapEdges({102, 200, 45, 20}, 1, 0, targets).by, QPointF(3, 0));
    QCOMPARE(snapEdges({102, 200, 45, 20}, 0, 0, targets).by, QPointF(0, 0));
}

void TestCanvasSnap::snappingTwiceChangesNothing() {
    const SnapTargets targets{{QRectF(3, 5, 61, 33)}, {QPointF(200, 71)}, 0, {}, 6};
    int pulled = 0;
    for (int i = 0; i < 500; ++i) {
        QRectF box(i * 7 % 211, i * 13 % 173, 20 + i % 37, 16 + i % 23);
        const QPointF by = snapBox(box, targets).by;
        pulled += by != QPointF();
        QVERIFY(std::abs(by.x()) <= 6 && std::abs(by.y()) <= 6);
        const QPointF again = snapBox(box.translated(by), targets).by;
        QVERIFY2(again.manhattanLength() < 1e-9, qPrintable(QString::number(i)));
    }
    QVERIFY(pulled > 50);
}

QTEST_GUILESS_MAIN(TestCanvasSnap)
#include "tst_canvas_snap.moc"
