// Does the automatic layout put parts where an architect looks for them, apart from each other, in a fair shape?
#include "widgets/canvas/layout.h"

#include <QRectF>
#include <QtTest/QtTest>

#include <random>

using namespace orrery;
using namespace orrery::ui;

class TestCanvasLayout : public QObject {
    Q_OBJECT
private slots:
    void noneOverlap();
    void networksAboveMemoriesOutside();
    void fairShape();
    void linkedStandTogether();
    void linksPastOthersHaveRoom();
};

void TestCanvasLayout::noneOverlap() {
    std::mt19937 random(3);
    for (int round = 0; round < 200; ++round) {
        std::vector<LayoutItem> items(random() % 40);
        for (LayoutItem& item : items) {
            item.kind = static_cast<ComponentKind>(random() % componentKindCount);
            if (random() % 10) item.size = QSizeF(8 + random() % 500, 8 + random() % 300);
        }
        const std::vector<QPointF> at = arrange(items);
        QCOMPARE(at.size(), items.size());
        for (std::size_t i = 0; i < items.size(); ++i) {
            QVERIFY(at[i].x() >= 0 && at[i].y() >= 0);
            for (std::size_t k = i + 1; k < items.size(); ++k) {
                if (items[i].size.isEmpty() || items[k].size.isEmpty()) continue;
                QVERIFY(!QRectF(at[i], items[i].size).adjusted(-8, -8, 8, 8).intersects(QRectF(at[k], items[k].size)));
            }
        }
    }
}

void TestCanvasLayout::networksAboveMemoriesOutside() {
    using enum ComponentKind;
    const std::vector<LayoutItem> items{
        {Die, {400, 300}}, {Die, {400, 300}}, {Switch, {120, 64}}, {Dram, {120, 64}}, {Cache, {120, 64}}};
    const std::vector<QPointF> at = arrange(items);
    QVERIFY(at[2].y() + 64 < std::min({at[0].y(), at[1].y(), at[3].y(), at[4].y()}));
    // DRAM, then the cache, then the dies: left to right, or top to bottom.
    const bool across = at[3].x() < at[4].x() && at[4].x() < std::min(at[0].x(), at[1].x());
    const bool down = at[3].y() < at[4].y() && at[4].y() < std::min(at[0].y(), at[1].y());
    QVERIFY(across || down);
}

void TestCanvasLayout::fairShape() {
    for (const int count : {8, 16, 72, 500, 5000}) {
        const std::vector<LayoutItem> items(static_cast<std::size_t>(count), {ComponentKind::Core, {112, 64}});
        double right = 0;
        double bottom = 0;
        for (const QPointF& at : arrange(items)) {
            right = std::max(right, at.x() + 112);
            bottom = std::max(bottom, at.y() + 64);
        }
        QVERIFY2(right / bottom > 1.0 && right / bottom < 2.9,
                 qPrintable(QStringLiteral("%1 parts: %2 x %3").arg(count).arg(right).arg(bottom)));
        QVERIFY(right * bottom < 1.8 * count * 128 * 80);
    }
}

void TestCanvasLayout::linkedStandTogether() {
    const std::vector<LayoutItem> items(3, {ComponentKind::Core, {400, 40}});
    const std::vector<std::pair<int, int>> ends{{0, 2}, {0, 2}};
    const std::vector<QPointF> at = arrange(items, ends, 0.5);
    const auto away = [&](int a, int b) {
        return (at[static_cast<std::size_t>(a)] - at[static_cast<std::size_t>(b)]).manhattanLength();
    };
    QVERIFY(away(0, 2) < away(0, 1) + away(1, 2));
    QVERIFY(away(0, 2) <= std::min(away(0, 1), away(1, 2)));
}

// Two columns of four: what joins neighbours needs no more room than there is, what passes others does.
void TestCanvasLayout::linksPastOthersHaveRoom() {
    const std::vector<LayoutItem> items(8, {ComponentKind::Die, {200, 60}});
    const auto corridor = [&](const std::vector<std::pair<int, int>>& links) {
        const std::vector<QPointF> at = arrange(items, links);
        std::vector<double> lefts;
        for (const QPointF& each : at) lefts.push_back(each.x());
        std::ranges::sort(lefts);
        lefts.erase(std::ranges::unique(lefts).begin(), lefts.end());
        return lefts.size() == 2 ? lefts[1] - lefts[0] - 200 : -1.0;
    };
    QCOMPARE(corridor({{0, 1}, {2, 3}, {4, 5}, {6, 7}}), linkGap);
    std::vector<std::pair<int, int>> all;
    for (int a = 0; a < 8; ++a)
        for (int b = a + 1; b < 8; ++b) all.emplace_back(a, b);
    // Of 28 links 10 join neighbours.
    QVERIFY2(corridor(all) >= 18 * lineGap, qPrintable(QString::number(corridor(all))));
}

QTEST_APPLESS_MAIN(TestCanvasLayout)
#include "tst_canvas_layout.moc"
