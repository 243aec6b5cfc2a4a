// Lines of a corridor, side by side: told apart, still orthogonal, their ends where they were, nothing run through.

#include "widgets/canvas/spread_lines.h"

#include <cmath>
#include <ctime>
#include <random>
#include <vector>

using namespace orrery::ui;

namespace {

constexpr double gap = 5;
const QRectF border(-200, -200, 1400, 1400);

bool through(const QPolygonF& line, const QRectF& box) {
    for (qsizetype i = 0; i + 1 < line.size(); ++i) {
        const QRectF part = QRectF(line[i], line[i + 1]).normalized();
        if (part.left() < box.right() && part.right() > box.left() && part.top() < box.bottom() &&
            part.bottom() > box.top())
            return true;
    }
    return false;
}

/// Length over which inner parts of one line run within `gap` of parts of another.
double overlapOf(const std::vector<QPolygonF>& lines) {
    double sum = 0;
    for (std::size_t a = 0; a < lines.size(); ++a)
        for (std::size_t b = 0; b < lines.size(); ++b) {
            if (a == b) continue;
            for (qsizetype i = 1; i + 2 < lines[a].size(); ++i)
                for (qsizetype k = 0; k + 1 < lines[b].size(); ++k) {
                    const QRectF one = QRectF(lines[a][i], lines[a][i + 1]).normalized();
                    const QRectF two = QRectF(lines[b][k], lines[b][k + 1]).normalized();
                    if ((one.width() == 0) != (two.width() == 0)) continue;
                    const bool upright = one.width() == 0;
                    const double away = upright ? one.x() - two.x() : one.y() - two.y();
                    const double shared = upright
                                              ? std::min(one.bottom(), two.bottom()) - std::max(one.top(), two.top())
                                              : std::min(one.right(), two.right()) - std::max(one.left(), two.left());
                    if (std::abs(away) < gap - 0.1 && shared > 2) sum += shared;
                }
        }
    return sum;
}

void spread(std::vector<QPolygonF>& lines, const std::vector<QRectF>& obstacles) {
    std::vector<QPolygonF*> all;
    for (QPolygonF& line : lines) all.push_back(&line);
    spreadLines(all, obstacles, border, gap);
}

/// From the right of boxes at the left to the left of boxes at the right, all by the middle.
std::vector<QPolygonF> bundle(int count, double middle) {
    std::vector<QPolygonF> lines;
    for (int i = 0; i < count; ++i) {
        const double from = 40.0 * i, to = 40.0 * (count - 1 - i) + 20;
        lines.push_back({{{100, from}, {middle, from}, {middle, to}, {300, to}}});
    }
    return lines;
}

}  // namespace

class TestSpreadLines : public QObject {
    Q_OBJECT
private slots:
    void aBundleIsToldApart() {
        std::vector<QPolygonF> lines = bundle(6, 200);
        const std::vector<QPolygonF> before = lines;
        QVERIFY(overlapOf(lines) > 100);
        spread(lines, {{0, -20, 100, 300}, {300, -20, 100, 300}});
        QCOMPARE(overlapOf(lines), 0.0);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            QCOMPARE(lines[i].first(), before[i].first());
            QCOMPARE(lines[i].last(), before[i].last());
            QCOMPARE(lines[i].size(), before[i].size());
            QVERIFY(std::abs(lines[i][1].x() - 200) <= 3 * gap);  // by no more than it needs
        }
    }
    // Where it has no room it stays: over another is better than through a part.
    void aNarrowCorridorIsLeft() {
        std::vector<QPolygonF> lines = bundle(6, 200);
        const std::vector<QRectF> walls{{110, -100, 85, 500}, {205, -100, 85, 500}};
        // The lines come through gates of these walls: what matters is the corridor between them.
        spread(lines, walls);
        for (const QPolygonF& line : lines) QVERIFY(line[1].x() > 195 && line[1].x() < 205);
    }
    void linesApartAreNotTouched() {
        std::vector<QPolygonF> lines{{{{0, 0}, {50, 0}, {50, 100}, {200, 100}}},
                                     {{{0, 20}, {90, 20}, {90, 140}, {200, 140}}}};
        const std::vector<QPolygonF> before = lines;
        spread(lines, {});
        QVERIFY(lines == before);
    }
    // A component's links are spread whenever something in it has moved: by each key that nudges a box, too. As many
    // links as are spread at all, with eight steps each, in a corridor that has no room for them.
    void aFullCorridorIsSpreadAtOnce() {
        constexpr int count = 64, steps = 8;
        std::vector<QRectF> boxes;
        for (int i = 0; i < 2 * count; ++i)
            for (const double x : {0.0, 130.0}) boxes.emplace_back(x, 40.0 * i - 10, 100, 24);
        std::vector<QPolygonF> lines;
        for (int i = 0; i < count; ++i) {
            const double from = 40.0 * i, rise = (40.0 * (count - 1 - i) + 20 - from) / steps;
            QPolygonF line{{{100, from}, {95, from}}};
            for (int k = 1; k <= steps; ++k) {
                line << QPointF(line.last().x(), from + k * rise);
                line << QPointF(k == steps ? 130.0 : k % 2 == 0 ? 95.0 + k : 104.0 + k, line.last().y());
            }
            lines.push_back(std::move(line));
        }
        std::vector<QPolygonF*> all;
        for (QPolygonF& line : lines) all.push_back(&line);
        const std::clock_t begun = std::clock();
        spreadLines(all, boxes, {-200, -200, 3000, 12000}, gap);
        const double seconds = double(std::clock() - begun) / CLOCKS_PER_SEC;
        qInfo("%.0f ms", seconds * 1000);
        QVERIFY2(seconds < 0.5, qPrintable(QString::number(seconds)));
    }
    void anyLinesKeepTheirEndsAndWhatTheyWentAround() {
        std::mt19937 random(7);
        const auto at = [&](int most) { return double(random() % std::uint32_t(most)) * 4; };
        double before = 0, after = 0;
        for (int round = 0; round < 200; ++round) {
            std::vector<QRectF> boxes;
            for (int i = 0; i < 6; ++i) boxes.emplace_back(at(200), at(200), 20 + at(20), 20 + at(20));
            std::vector<QPolygonF> lines;
            for (int i = 0; i < 12; ++i) {
                const QPointF a(at(240), at(240)), b(at(240), at(240));
                const double middle = 40.0 * double(random() % 24);
                lines.push_back({{a, {middle, a.y()}, {middle, b.y()}, b}});
            }
            const std::vector<QPolygonF> were = lines;
            spread(lines, boxes);
            before += overlapOf(were), after += overlapOf(lines);
            for (std::size_t i = 0; i < lines.size(); ++i) {
                QCOMPARE(lines[i].first(), were[i].first());
                QCOMPARE(lines[i].last(), were[i].last());
                for (qsizetype k = 0; k + 1 < lines[i].size(); ++k)
                    QVERIFY(lines[i][k].x() == lines[i][k + 1].x() || lines[i][k].y() == lines[i][k + 1].y());
                for (const QRectF& box : boxes)
                    if (!through(were[i], box)) QVERIFY(!through(lines[i], box.adjusted(1, 1, -1, -1)));
            }
            std::vector<QPolygonF> again = were;
            spread(again, boxes);
            QVERIFY(again == lines);
        }
        QVERIFY2(after < before / 3, qPrintable(QStringLiteral("%1 of %2").arg(after).arg(before)));
    }
};

QTEST_GUILESS_MAIN(TestSpreadLines)
#include "tst_spread_lines.moc"
