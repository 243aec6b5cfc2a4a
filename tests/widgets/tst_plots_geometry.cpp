// Everything of the plots that is not a widget: axes, label placement, the roofline's model, the timeline's pyramid.

#include "base/random.h"
#include "support/plots_fixture.h"
#include "widgets/plots/breakdown_model.h"
#include "widgets/plots/label_placement.h"
#include "widgets/plots/operator_facts.h"
#include "widgets/plots/roofline_model.h"
#include "widgets/plots/timeline_model.h"

#include <QtTest>

#include <numeric>
#include <random>
#include <set>

using namespace orrery;
using namespace orrery::ui;

namespace {

// Spans of one row, back to back with gaps, of random length.
Timeline randomTimeline(std::size_t count, int rows, bool overlapping = false) {
    std::mt19937_64 random(7);
    Timeline timeline;
    for (int row = 0; row < rows; ++row) {
        timeline.rows.push_back(fmt::format("row {}", row));
        std::int64_t now = std::int64_t(random() % 1000);
        for (std::size_t i = 0; i < count; ++i) {
            const auto length = std::int64_t(1 + random() % 5000);
            timeline.spans.push_back({now, now + length, row, std::int32_t(random() % 50), 0});
            now += overlapping ? length / 2 : length + std::int64_t(random() % 700);
        }
    }
    return timeline;
}

}  // namespace

class TestPlotsGeometry : public QObject {
    Q_OBJECT
private slots:
    void axesMapThereAndBack() {
        const LogAxes axes{{0.1, 1000}, {1e9, 1e15}, QRectF(50, 10, 400, 300)};
        QCOMPARE(axes.toPixel(0.1, 1e9), QPointF(50, 310));
        QCOMPARE(axes.toPixel(1000, 1e15), QPointF(450, 10));
        QCOMPARE(axes.pixelX(10), 250.0);  // half of four decades
        for (const double v : {0.2, 3.0, 77.0}) QVERIFY(std::abs(axes.valueX(axes.pixelX(v)) / v - 1) < 1e-12);
        for (const double v : {2e9, 3e12}) QVERIFY(std::abs(axes.valueY(axes.pixelY(v)) / v - 1) < 1e-12);
    }
    void zoomKeepsTheValueUnderTheCursor() {
        const Range range{0.1, 1000};
        const Range in = zoomed(range, 10, 2);
        QVERIFY(std::abs(in.low - 1) < 1e-9 && std::abs(in.high - 100) < 1e-9);
        const Range back = zoomed(in, 10, 0.5);
        QVERIFY(std::abs(back.low / range.low - 1) < 1e-9 && std::abs(back.high / range.high - 1) < 1e-9);
    }

    void overlapIsExact() {
        const QPolygonF a({{0, 0}, {10, 0}, {10, 10}, {0, 10}});
        QVERIFY(!overlap(a, QPolygonF({{10, 0}, {20, 0}, {20, 10}, {10, 10}})));  // touching
        QVERIFY(overlap(a, QPolygonF({{9, 9}, {20, 9}, {20, 20}, {9, 20}})));
        // A diamond whose bounding box overlaps but that passes the corner.
        QVERIFY(!overlap(a, QPolygonF({{16, 4}, {22, 16}, {16, 22}, {4.1, 16}})));
    }
    void clippingKeepsTheInside() {
        const QRectF area(0, 0, 100, 100);
        QCOMPARE(clipped({-50, 50, 150, 50}, area), QLineF(0, 50, 100, 50));
        QCOMPARE(clipped({10, 10, 20, 20}, area), QLineF(10, 10, 20, 20));
        QVERIFY(clipped({-10, -10, -5, 200}, area).isNull());
    }
    void labelsNeverOverlapOrLeave() {
        std::mt19937 random(3);
        const QRectF area(60, 20, 500, 300);
        int placed = 0;
        for (int round = 0; round < 60; ++round) {
            std::vector<LabelRequest> requests;
            Obstacles obstacles;
            for (int i = 0; i < 8; ++i) {
                const double y = double(random() % 400) - 20, slope = double(random() % 300) / 300;
                const QLineF line(0, y + 300 * slope, 700, y - 300 * slope);
                requests.push_back({line, QSizeF(60 + random() % 120, 14), random() % 2 == 0});
                obstacles.lines.push_back(line);
            }
            obstacles.hard.push_back(QRectF(400, 290, 150, 20));
            const auto labels = placeLabels(requests, area, obstacles);
            QCOMPARE(labels.size(), requests.size());
            for (std::size_t i = 0; i < labels.size(); ++i) {
                if (!labels[i].placed) continue;
                ++placed;
                for (const QPointF& corner : labels[i].box) QVERIFY(area.contains(corner));
                QVERIFY(!overlap(labels[i].box, QPolygonF(obstacles.hard[0])));
                for (std::size_t j = 0; j < i; ++j)
                    QVERIFY(!labels[j].placed || !overlap(labels[i].box, labels[j].box));
            }
        }
        QVERIFY(placed > 100);  // giving up on all would pass the rest
    }

    // As crowded as fifteen methods on a small plane: no name on a mark or a name, each with its mark beside it or a
    // line to it; and where there is no room, none.
    void namesOfMarksNeverOverlap() {
        RandomStream random(5);
        const QRectF area(40, 20, 420, 210);
        int all = 0, apart = 0;
        for (int round = 0; round < 40; ++round) {
            std::vector<QPointF> marks;
            std::vector<QSizeF> sizes;
            for (int i = 0; i < 15; ++i) {
                marks.push_back({area.left() + 150 + 90 * random.uniform(), area.top() + 60 + 60 * random.uniform()});
                sizes.emplace_back(40 + 60 * random.uniform(), 14);
            }
            const auto names = placeNames(marks, sizes, 8, area, {});
            for (std::size_t i = 0; i < names.size(); ++i) {
                if (!names[i].placed) continue;
                ++all;
                apart += names[i].leader.isNull() ? 0 : 1;
                QVERIFY(area.contains(names[i].box));
                if (!names[i].leader.isNull()) QCOMPARE(names[i].leader.p1(), marks[i]);
                for (std::size_t j = 0; j < names.size(); ++j) {
                    QVERIFY(!names[i].box.intersects(QRectF(marks[j] - QPointF(8, 8), QSizeF(16, 16))));
                    QVERIFY(i == j || !names[j].placed || !names[i].box.intersects(names[j].box));
                }
            }
        }
        QVERIFY2(all > 40 * 13, qPrintable(QString::number(all)));
        QVERIFY(apart > 0);
        const auto none = placeNames({{50, 50}, {51, 50}}, {{60, 14}, {60, 14}}, 8, QRectF(40, 40, 80, 20), {});
        QVERIFY(!(none[0].placed && none[1].placed));
    }
    void rooflineHasEveryOperatorOnce() {
        const SnapshotPtr snapshot = fixture::snapshot();
        const RooflineModel model = rooflineModel(*snapshot);
        const Estimate& estimate = *snapshot->primaryEstimate();
        std::size_t members = 0;
        double share = 0;
        for (const RooflinePoint& point : model.points) {
            members += point.members.size();
            share += point.share;
            for (const int op : point.members) {
                const auto at = std::size_t(op);
                QVERIFY(std::abs(point.intensity / (estimate.operators.flops[at] / estimate.operators.bytes[at]) - 1) <
                        0.02);
                QVERIFY(std::abs(point.attained / (estimate.operators.flops[at] / estimate.operators.seconds[at]) - 1) <
                        0.02);
            }
        }
        QCOMPARE(members + std::size_t(model.notShown), estimate.operators.size());
        QCOMPARE(model.notShown, 5);  // embed and four kv_append
        QVERIFY(std::abs(share + model.notShownShare - 1) < 1e-9);
        // Eight repeats change neither intensity nor attained rate, and the bf16 roof leads, not the higher fp8 one.
        QCOMPARE(model.leadingCompute(), 989e12);
        QCOMPARE(model.mainMemory(), 3.35e12);
        QCOMPARE(model.roofAt(1), 3.35e12);
        QCOMPARE(model.roofAt(1e6), 989e12);
    }
    void roofsComeFromTheDeviceIfTheMethodGivesNone() {
        auto snapshot = std::make_shared<Snapshot>(*fixture::snapshot());
        snapshot->answers.clear();
        const RooflineModel model = rooflineModel(*snapshot);
        QVERIFY(model.points.empty());
        QCOMPARE(std::count_if(model.roofs.begin(), model.roofs.end(), [](const Roof& r) { return r.memory; }), 3);
        // fp16 and bf16 run at the same rate and share a roof; fp8 and fp32 have their own.
        QCOMPARE(std::count_if(model.roofs.begin(), model.roofs.end(), [](const Roof& r) { return !r.memory; }), 3);
    }
    void rangesShowEveryPointAndTheRidge() {
        for (const bool prefill : {false, true}) {
            const RooflineModel model = rooflineModel(*fixture::snapshot({.prefill = prefill}));
            QVERIFY(showsAll(fittingRanges({&model}), model));
        }
        const RooflineRanges empty = fittingRanges({});
        QVERIFY(empty.x.low > 0 && empty.x.high > empty.x.low && empty.y.high > empty.y.low);
    }
    void roofsMeetAtTheRidge() {
        const RooflineModel model = rooflineModel(*fixture::snapshot());
        const RooflineRanges ranges = fittingRanges({&model});
        for (const Roof& roof : model.roofs) {
            const RoofLine line = roofLine(model, roof, ranges);
            if (roof.memory) {
                QVERIFY(std::abs(line.y2 - model.topCompute()) < 1);
                QVERIFY(std::abs(line.y1 / line.x1 / roof.rate - 1) < 1e-9);
            } else {
                QCOMPARE(line.y1, roof.rate);
                QVERIFY(std::abs(line.x1 * model.topMemory() / roof.rate - 1) < 1e-9);
                QVERIFY(line.x2 >= ranges.x.high);
            }
        }
    }
    void glideGoesFromOneToTheOther() {
        const RooflineModel a = rooflineModel(*fixture::snapshot({.bandwidth = 2e12}));
        const RooflineModel b = rooflineModel(*fixture::snapshot({.bandwidth = 3.35e12}));
        QCOMPARE(between(a, b, 0).roofs[0].rate, 2e12);
        QCOMPARE(between(a, b, 1).roofs[0].rate, 3.35e12);
        const double half = between(a, b, 0.5).roofs[0].rate;
        QVERIFY(std::abs(half - std::sqrt(2e12 * 3.35e12)) < 1e6);  // halfway on a logarithmic axis
        QCOMPARE(between(a, b, 0.5).points.size(), b.points.size());
    }
    void pickingPrefersTheSmallerDisc() {
        RooflineModel model;
        model.points.push_back({0, {0}, 0, OperatorKind::MatMul, 10, 1e12, 0.9});
        model.points.push_back({1, {1}, 1, OperatorKind::Attention, 10.2, 1e12, 0.001});
        const LogAxes axes{{0.1, 1000}, {1e9, 1e15}, QRectF(0, 0, 400, 400)};
        QCOMPARE(pickPoint(model, axes, 30, axes.toPixel(10.2, 1e12)), 1);
        QCOMPARE(pickPoint(model, axes, 30, axes.toPixel(10, 1e12) - QPointF(20, 0)), 0);
        QCOMPARE(pickPoint(model, axes, 30, {390, 10}), -1);
        QCOMPARE(pointsInside(model, axes, axes.area).size(), std::size_t(2));
    }
    void areaIsProportionalToShare() {
        QCOMPARE(pointRadius(1, 30), 30.0);
        QCOMPARE(pointRadius(0.25, 30), 15.0);
        QCOMPARE(pointRadius(0, 30), 2.5);
    }

    void pyramidAgreesWithCounting_data() {
        QTest::addColumn<bool>("overlapping");
        QTest::newRow("one after another") << false;
        QTest::newRow("overlapping") << true;
    }
    void pyramidAgreesWithCounting() {
        QFETCH(bool, overlapping);
        const Timeline timeline = randomTimeline(3001, 2, overlapping);
        const TimelineModel model(timeline);
        std::mt19937_64 random(11);
        for (int round = 0; round < 200; ++round) {
            const auto a = std::int64_t(random() % std::uint64_t(model.end()));
            const auto b = a + 1 + std::int64_t(random() % std::uint64_t(model.end()) / (round % 7 + 1));
            for (int row = 0; row < 2; ++row) {
                SpanStatistics expected;
                for (const TimelineSpan& span : timeline.spans) {
                    if (span.row != row || span.endPs <= a || span.startPs >= b) continue;
                    const std::int64_t length = span.endPs - span.startPs;
                    expected.add({1, length, length, length});
                }
                const SpanStatistics got = model.rows()[std::size_t(row)].statistics(a, b);
                QCOMPARE(got.count, expected.count);
                QCOMPARE(got.sum, expected.sum);
                QCOMPARE(got.least, expected.least);
                QCOMPARE(got.most, expected.most);
                // What is drawn stands for the same spans, whatever the detail.
                for (const std::int64_t detail : {std::int64_t(0), (b - a) / 500, (b - a) / 10}) {
                    std::int64_t count = 0;
                    model.rows()[std::size_t(row)].visit(a, b, detail, [&](const TimelinePiece& piece) {
                        count += piece.count;
                        QVERIFY(piece.busy <= piece.end - piece.start);
                        QVERIFY(piece.end > a && piece.start < b);
                        QVERIFY(piece.span >= 0 || piece.end - piece.start <= detail);
                    });
                    QVERIFY(count >= expected.count);
                    if (detail == 0) QCOMPARE(count, expected.count);
                }
            }
        }
    }
    void aMillionSpansDrawAsFewPieces() {
        const Timeline timeline = randomTimeline(1'000'000, 1);
        const TimelineModel model(timeline);
        std::int64_t pieces = 0, spans = 0;
        model.rows()[0].visit(model.begin(), model.end(), (model.end() - model.begin()) / 1600,
                              [&](const TimelinePiece& piece) {
                                  ++pieces;
                                  spans += piece.count;
                              });
        QCOMPARE(spans, 1'000'000);
        QVERIFY2(pieces < 1600 * 8, qPrintable(QString::number(pieces)));
    }
    void emptyRowsAndTimelines() {
        Timeline timeline;
        timeline.rows = {"a", "b"};
        QVERIFY(TimelineModel(timeline).empty());
        timeline.spans = {{5, 10, 1, 3, 0}};
        const TimelineModel model(timeline);
        QCOMPARE(model.rows().size(), std::size_t(2));
        QCOMPARE(model.rows()[0].statistics(0, 100).count, 0);
        QCOMPARE(model.rows()[1].statistics(0, 100).count, 1);
        QCOMPARE(model.rows()[1].spanAt(7), 0);
        QCOMPARE(model.rows()[1].spanAt(10), -1);
        QCOMPARE(model.extent({3}), (std::pair<std::int64_t, std::int64_t>{5, 10}));
    }
    void steppingStaysInTheRow() {
        const Timeline timeline = randomTimeline(10, 2);
        const TimelineModel model(timeline);
        QCOMPARE(model.neighbour(3, 1), 4);
        QCOMPARE(model.neighbour(9, 1), -1);
        QCOMPARE(model.neighbour(10, -1), -1);
        QCOMPARE(model.nextOf({timeline.spans[0].op}, -1000), 0);
    }
    void timeMapZoomsAboutTheCursorAndStaysInside() {
        TimeMap map{0, 1000, 50, 500};
        const double under = map.time(200);
        map.zoom(4, 200, 0, 1000);
        QVERIFY(std::abs(map.time(200) - under) < 1e-9);
        QVERIFY(std::abs((map.to - map.from) - 250) < 1e-9);
        map.pan(1e9, 0, 1000);
        QVERIFY(map.to <= 1000 + 0.1 * 250 + 1e-9);
        for (int i = 0; i < 100; ++i) map.zoom(10, 300, 0, 1000);
        QVERIFY(map.to - map.from >= 9.99);
        for (int i = 0; i < 100; ++i) map.zoom(0.1, 300, 0, 1000);
        QVERIFY(map.from <= 0 && map.to >= 1000 && map.to - map.from < 1300);
    }
    void rulerTicksReadAndDiffer() {
        for (const double span : {50.0, 3.3e3, 7e6, 2e9, 5e12}) {
            for (const double from : {0.0, 1.234e9}) {
                const TimeMap map{from, from + span, 0, 800};
                const auto ticks = rulerTicks(map, 80);
                QVERIFY2(ticks.size() >= 2 && ticks.size() <= 11, qPrintable(QString::number(ticks.size())));
                for (std::size_t i = 1; i < ticks.size(); ++i) {
                    QVERIFY(map.pixel(ticks[i].time) - map.pixel(ticks[i - 1].time) >= 79.9);
                    QVERIFY2(ticks[i].label != ticks[i - 1].label, qPrintable(ticks[i].label));
                }
            }
        }
        QCOMPARE(rulerTicks({0, 4e9, 0, 400}, 90).at(1).label, QString("1 ms"));
        QCOMPARE(rulerTicks({0, 4e9, 0, 400}, 90).at(0).label, QString("0"));
    }

    void breakdownAddsUp_data() {
        QTest::addColumn<int>("by");
        QTest::newRow("kind") << int(BreakdownBy::Kind);
        QTest::newRow("block") << int(BreakdownBy::Block);
        QTest::newRow("bound") << int(BreakdownBy::Bound);
    }
    void breakdownAddsUp() {
        QFETCH(int, by);
        const SnapshotPtr snapshot = fixture::snapshot({.layers = 20});
        const BreakdownModel model = breakdownModel(*snapshot, BreakdownBy(by));
        QVERIFY(model.categories.size() <= 15);
        std::set<int> seen;
        for (std::size_t bar = 0; bar < model.bars.size(); ++bar) {
            double sum = 0;
            for (const BreakdownCategory& category : model.categories) sum += category.seconds[bar];
            QVERIFY(std::abs(sum / model.bars[bar].total - 1) < 1e-9);
        }
        for (const BreakdownCategory& category : model.categories)
            for (const int op : category.ops) QVERIFY(seen.insert(op).second);
        QCOMPARE(seen.size(), snapshot->primaryEstimate()->operators.size());
    }
    void breakdownTellsWhyAMethodIsMissing() {
        const BreakdownModel model = breakdownModel(*fixture::snapshot({.failSecond = true}), BreakdownBy::Kind);
        QCOMPARE(model.bars.size(), std::size_t(2));
        QVERIFY(model.bars[1].failed);
        QVERIFY(model.bars[1].state.contains("L2 bandwidth"));
    }
    void boundsAreNamed() {
        Estimate estimate;
        estimate.levels = {"hbm3", "l2"};
        QCOMPARE(boundText({BoundKind::Memory, 1}, estimate), QString("l2 bandwidth"));
        QCOMPARE(boundText({BoundKind::Memory, 9}, estimate), QString("memory"));
        QCOMPARE(shortName("model/layers.0/q_proj"), QString("q_proj"));
        QCOMPARE(csvField("a,\"b\""), QString("\"a,\"\"b\"\"\""));
    }
};

QTEST_MAIN(TestPlotsGeometry)
#include "tst_plots_geometry.moc"
