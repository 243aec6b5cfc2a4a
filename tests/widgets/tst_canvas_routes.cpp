#include "widgets/canvas/route_around.h"
#include "widgets/canvas/routing.h"

#include <QtTest/QtTest>

#include <random>
#include <vector>

// Do links go around parts?

using namespace orrery::ui;

namespace {

bool through(const QPolygonF& line, const QRectF& box) {
    for (qsizetype i = 0; i + 1 < line.size(); ++i) {
        const QRectF part = QRectF(line[i], line[i + 1]).normalized();
        const QRectF inside = box.adjusted(1, 1, -1, -1);
        if (part.left() < inside.right() && part.right() > inside.left() && part.top() < inside.bottom() &&
            part.bottom() > inside.top())
            return true;
    }
    return false;
}

bool orthogonal(const QPolygonF& line) {
    for (qsizetype i = 0; i + 1 < line.size(); ++i)
        if (line[i].x() != line[i + 1].x() && line[i].y() != line[i + 1].y()) return false;
    return line.size() >= 2;
}

bool onBorder(const QRectF& box, const QPointF& at) {
    const bool x = at.x() >= box.left() - 0.01 && at.x() <= box.right() + 0.01;
    const bool y = at.y() >= box.top() - 0.01 && at.y() <= box.bottom() + 0.01;
    const bool onX = std::abs(at.x() - box.left()) < 0.01 || std::abs(at.x() - box.right()) < 0.01;
    const bool onY = std::abs(at.y() - box.top()) < 0.01 || std::abs(at.y() - box.bottom()) < 0.01;
    return (onX && y) || (onY && x);
}

}  // namespace

class TestCanvasRoutes : public QObject {
    Q_OBJECT
private slots:
    /// Boxes of any size in the cells of a grid, so that there is always a way between them.
    void linesGoAroundParts() {
        std::mt19937 random(5);
        const auto in = [&](double low, double high) { return std::uniform_real_distribution(low, high)(random); };
        for (int round = 0; round < 200; ++round) {
            const int columns = 2 + int(random() % 4), rows = 2 + int(random() % 4);
            std::vector<QRectF> boxes;
            for (int row = 0; row < rows; ++row)
                for (int column = 0; column < columns; ++column)
                    boxes.emplace_back(column * 100 + in(10, 30), row * 80 + in(10, 25), in(30, 55), in(20, 40));
            for (int link = 0; link < 20; ++link) {
                const std::size_t a = random() % boxes.size(), b = random() % boxes.size();
                if (a == b) continue;
                RouteRequest request;
                request.from = boxes[a];
                request.to = boxes[b];
                request.fromAlong = in(0.1, 0.9);
                request.toAlong = in(0.1, 0.9);
                request.lane = in(-20, 20);
                std::vector<QRectF> others;
                for (std::size_t i = 0; i < boxes.size(); ++i)
                    if (i != a && i != b) others.push_back(boxes[i]);
                const QPolygonF line = routeLine(request, others);
                QVERIFY(orthogonal(line));
                QVERIFY(onBorder(boxes[a], line.first()) && onBorder(boxes[b], line.last()));
                for (const QRectF& box : boxes) QVERIFY2(!through(line, box), qPrintable(QString::number(round)));
            }
        }
    }

    /// As the PCIe link of an A100: the nearest border lies behind the memory.
    void aWayOutGoesPastWhatStandsBefore() {
        const QRectF border(0, 0, 400, 150), pcie(110, 40, 60, 30), memory(20, 40, 60, 35), cache(220, 20, 160, 120);
        const std::vector<QRectF> parts{memory, cache};
        const QPolygonF line = routeOut(pcie, border, 0.5, parts, false);
        QVERIFY(orthogonal(line) && onBorder(pcie, line.first()) && onBorder(border, line.last()));
        for (const QRectF& part : parts) QVERIFY(!through(line, part));
        QVERIFY2(line.last().y() > 0.01, "not through the caption");
        // Nothing in the way: straight to the nearest border, as before.
        QCOMPARE(routeOut(pcie, border, 0.5, {}, false), QPolygonF({{110, 55}, {0, 55}}));
        // Walled in on all sides but for a gap: around.
        const std::vector<QRectF> walls{{90, 20, 6, 100}, {184, 20, 6, 100}, {90, 84, 80, 6}};
        const QPolygonF around = routeOut(pcie, border, 0.5, walls, false);
        QVERIFY(orthogonal(around) && onBorder(border, around.last()));
        for (const QRectF& wall : walls) QVERIFY(!through(around, wall));
    }

    void noWayIsNoWay() {
        const std::vector<RouteEnd> from{{{50, 50}, Side::Right}}, to{{{300, 50}, Side::Left}};
        // A closed ring around the beginning.
        const std::vector<QRectF> ring{{0, 0, 100, 5}, {0, 95, 100, 5}, {0, 0, 5, 100}, {95, 0, 5, 100}};
        QVERIFY(routeAround(from, to, ring, 3, 24).isEmpty());
        const QPolygonF open = routeAround(from, to, std::span(ring).first(3), 3, 24);
        QCOMPARE(open.first(), QPointF(50, 50));
        QCOMPARE(open.last(), QPointF(300, 50));
        QVERIFY(routeAround({}, to, ring, 3, 24).isEmpty());
    }
};

QTEST_GUILESS_MAIN(TestCanvasRoutes)
#include "tst_canvas_routes.moc"
