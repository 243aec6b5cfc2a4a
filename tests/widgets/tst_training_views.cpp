// The views of a training step: who works with whom, what is kept when, and what mouse and keys do; with pictures in
// light and dark for a person to look at.

#include "methods/system/training/training_program.h"
#include "widgets/common/theme.h"
#include "widgets/training/cluster_map.h"
#include "widgets/training/stage_memory_plot.h"
#include "widgets/training/step_cards.h"
#include "widgets/training/step_timeline.h"
#include "widgets/training/value_strip.h"

#include <QtTest>
#include <QtWidgets>

#include <cmath>
#include <set>

using namespace orrery;
using namespace orrery::ui;

namespace {

std::vector<StripValue> stops() {
    return {{1, "1", {}, {}}, {2, "2", {}, {}}, {4, "4", {}, {}}, {8, "8", {}, {}}, {16, "16", "64 heads", {}}};
}

/// GPipe of two stages and three micro-batches, a forward pass of 10 ps, a backward pass of 20 ps.
std::shared_ptr<const Estimate> twoStages() {
    auto estimate = std::make_shared<Estimate>();
    Timeline& timeline = estimate->timeline;
    for (int s = 0; s < 2; ++s)
        for (const char* what : {"forward", "backward", "gradients"})
            timeline.rows.push_back("stage " + std::to_string(s) + ' ' + what);
    const auto add = [&](std::int64_t from, std::int64_t to, int row, int work) {
        timeline.spans.push_back({from, to, row, work, 0});
    };
    for (int m = 0; m < 3; ++m) add(10 * m, 10 * m + 10, 0, SpanForward);
    for (int m = 0; m < 3; ++m) add(60 + 20 * m, 80 + 20 * m, 1, SpanBackward);
    add(100, 130, 2, SpanExchange);
    add(130, 140, 2, SpanUpdate);
    for (int m = 0; m < 3; ++m) add(10 + 10 * m, 20 + 10 * m, 3, SpanForward);
    for (int m = 0; m < 3; ++m) add(40 + 20 * m, 60 + 20 * m, 4, SpanBackward);
    return estimate;
}

StageMemoryData threeStages() {
    StageMemoryData data;
    data.stages = {{10e9, 20e9, 15e9, 30e9}, {10e9, 20e9, 15e9, 20e9}, {12e9, 24e9, 18e9, 36e9}};
    data.capacity = 80e9;
    data.source = "closed form";
    return data;
}

ClusterMapData cluster() {
    ClusterMapData data;
    data.plan = {.tensor = 4, .pipeline = 3, .data = 2, .context = 2};
    data.drawn = 64;
    data.perNode = 8;
    data.device = "h100";
    data.node = "dgx";
    data.links = {{"nvlink", 0.4, {}, false}, {"infiniband", 0.1, {}, true}};
    return data;
}

}  // namespace

class TestTrainingViews : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { initialiseApplicationLook(); }

    void aPressChoosesAStop() {
        ValueStrip strip("strip", "Tensor", "tip");
        strip.resize(250, 24);
        strip.setValues(stops(), 4);
        strip.show();
        QList<std::pair<qint64, EditPhase>> told;
        connect(&strip, &ValueStrip::edited, &strip,
                [&](qint64 value, EditPhase phase) { told << std::pair(value, phase); });
        QTest::mouseClick(&strip, Qt::LeftButton, {}, strip.cellOf(8).center().toPoint());
        QCOMPARE(strip.value(), 8);
        QCOMPARE(told.size(), 3);
        QCOMPARE(told[0], std::pair(qint64(4), EditPhase::Begin));
        QCOMPARE(told[1], std::pair(qint64(8), EditPhase::Drag));
        QCOMPARE(told[2], std::pair(qint64(8), EditPhase::Commit));
        // What cannot be stays unchosen.
        QTest::mouseClick(&strip, Qt::LeftButton, {}, strip.cellOf(16).center().toPoint());
        QCOMPARE(strip.value(), 8);
    }

    void aDragSlidesAndEscapeTakesItBack() {
        ValueStrip strip("strip", "Tensor", "tip");
        strip.resize(250, 24);
        strip.setValues(stops(), 8);
        strip.show();
        QTest::mousePress(&strip, Qt::LeftButton, {}, strip.cellOf(8).center().toPoint());
        QTest::mouseMove(&strip, strip.cellOf(4).center().toPoint());
        QTest::mouseMove(&strip, strip.cellOf(2).center().toPoint());
        QCOMPARE(strip.value(), 2);
        // What comes meanwhile does not move the stops under the mouse.
        strip.setValues({{1, "1", {}, {}}}, 1);
        QCOMPARE(strip.values().size(), 5U);
        QTest::keyClick(&strip, Qt::Key_Escape);
        QCOMPARE(strip.value(), 8);
        QVERIFY(!strip.isDragging());
    }

    void keysStepOverWhatCannotBe() {
        ValueStrip strip("strip", "Tensor", "tip");
        auto values = stops();
        values[1].refused = "no";
        strip.setValues(values, 4);
        QTest::keyClick(&strip, Qt::Key_Left);
        QCOMPARE(strip.value(), 1);
        QTest::keyClick(&strip, Qt::Key_End);
        QCOMPARE(strip.value(), 8);
        QTest::keyClick(&strip, Qt::Key_Right);
        QCOMPARE(strip.value(), 8);
    }

    void aNarrowStripKeepsThePresentValue() {
        ValueStrip strip("strip", "Tensor", "tip");
        std::vector<StripValue> many;
        for (qint64 v = 1; v <= 40; ++v) many.push_back({v, QString::number(v), {}, {}});
        strip.setValues(many, 37);
        strip.resize(120, 24);
        QVERIFY(!strip.cellOf(37).isEmpty());
        QVERIFY(!strip.cellOf(8).isEmpty());  // powers of two before the rest
        QVERIFY(strip.cellOf(39).isEmpty());
    }

    void everyRankHasOnePlace() {
        const Plan plan{.tensor = 4, .pipeline = 3, .data = 5, .context = 2};
        std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> places;
        for (std::int64_t rank = 0; rank < plan.devices(); ++rank) {
            const RankPlace place = ui::placeOf(plan, rank);
            QCOMPARE(rankOf(plan, place), rank);
            places.insert({place.tensor, place.context, place.data, place.stage});
        }
        QCOMPARE(places.size(), std::size_t(120));
        std::map<RankRelation, int> partners;
        for (std::int64_t rank = 0; rank < plan.devices(); ++rank) {
            ++partners[relationOf(plan, 17, rank)];
            QVERIFY(relationOf(plan, 17, rank) == relationOf(plan, rank, 17));
        }
        QCOMPARE(partners[RankRelation::Itself], 1);
        QCOMPARE(partners[RankRelation::Tensor], 3);
        QCOMPARE(partners[RankRelation::Context], 1);
        QCOMPARE(partners[RankRelation::Data], 4);
        QCOMPARE(partners[RankRelation::Pipeline], 2);
    }

    void aGroupIsARing() {
        const Plan plan{.tensor = 4, .pipeline = 3, .data = 5, .context = 2};
        const auto copies = groupOf(plan, 17, RankRelation::Data);
        QCOMPARE(copies.size(), std::size_t(5));
        QVERIFY(std::ranges::count(copies, 17) == 1);
        for (const std::int64_t each : copies) QVERIFY(each == 17 || relationOf(plan, 17, each) == RankRelation::Data);
        QCOMPARE(groupOf(plan, 17, RankRelation::None), std::vector<std::int64_t>{17});
        ClusterMap map;
        map.resize(700, 360);
        map.setData(cluster());
        map.setCurrent(9);
        const QImage still = map.grab().toImage();
        map.setExchange({RankRelation::Tensor, 1, 0.5});
        QVERIFY(map.grab().toImage() != still);
    }

    void aClickMarksADevice() {
        ClusterMap map;
        map.resize(700, 360);
        map.setData(cluster());
        map.show();
        qint64 told = -2;
        connect(&map, &ClusterMap::chosen, &map, [&](qint64 rank) { told = rank; });
        for (const std::int64_t rank : {0, 9, 63}) {
            QCOMPARE(map.rankAt(map.cellOf(rank).center()), rank);
            QVERIFY(QRectF(map.rect()).contains(map.cellOf(rank)));
        }
        QTest::mouseClick(&map, Qt::LeftButton, {}, map.cellOf(9).center().toPoint());
        QCOMPARE(told, 9);
        QVERIFY(map.textOf(9).contains("tensor part 1 of 4"));
        QVERIFY(map.textOf(50).contains("idle"));
        QTest::mouseClick(&map, Qt::LeftButton, {}, map.cellOf(9).center().toPoint());
        QCOMPARE(map.current(), -1);
    }

    void thousandsOfDevicesHaveTheirCells() {
        ClusterMap map;
        map.resize(900, 500);
        ClusterMapData data = cluster();
        data.drawn = 16384;
        data.plan = {.tensor = 8, .pipeline = 16, .data = 128};
        map.setData(data);
        for (const std::int64_t rank : {0, 8191, 16383}) {
            QVERIFY(QRectF(map.rect()).contains(map.cellOf(rank)));
            QCOMPARE(map.rankAt(map.cellOf(rank).center()), rank);
        }
        QElapsedTimer clock;
        clock.start();
        map.grab();
        QVERIFY2(clock.elapsed() < 1000, qPrintable(QString::number(clock.elapsed())));
    }

    void whatIsKeptRisesAndIsFreed() {
        const auto curves = keptCurves(twoStages()->timeline, {.pipeline = 2, .schedule = PipelineSchedule::GPipe}, 3);
        QCOMPARE(curves.size(), std::size_t(2));
        QCOMPARE(curves[0].most, 3);
        QCOMPARE(curves[1].most, 3);
        for (const KeptCurve& curve : curves) QCOMPARE(curve.steps.back().second, 0);
        QCOMPARE(curves[0].steps.front(), std::pair(std::int64_t(10), std::int32_t(1)));
        QCOMPARE(stageOfRow("stage 12 backward"), 12);
        QCOMPARE(stageOfRow("network"), -1);
    }

    // Where gradients of weights come later, it is they that free what was kept.
    void weightGradientsFreeWhatIsKept() {
        Estimate estimate;
        Timeline& timeline = estimate.timeline;
        timeline.rows = {"stage 0 forward", "stage 0 backward", "stage 0 gradients"};
        const Plan plan{.schedule = PipelineSchedule::ZeroBubble};
        const auto steps = scheduleOf(plan, 0, 2).value();
        std::int64_t at = 0;
        int inputs = 0;
        for (const ScheduleStep& step : steps) {
            timeline.spans.push_back({at, at + 10, step.forward ? 0 : 1, step.forward ? SpanForward : SpanBackward, 0});
            inputs += step.gradients == TurnGradients::Inputs ? 1 : 0;
            at += 10;
        }
        QCOMPARE(inputs, 2);
        const auto curves = keptCurves(timeline, plan, 2);
        QCOMPARE(curves.at(0).steps.back().second, 0);
        QCOMPARE(curves[0].steps.size(), std::size_t(4));
    }

    void theTimelineSaysWhatIsUnderTheMouse() {
        StepTimeline view;
        view.resize(800, 400);
        StepTimelineData data;
        data.estimate = twoStages();
        data.plan = {.pipeline = 2, .schedule = PipelineSchedule::GPipe};
        data.microbatches = 3;
        data.chunk = {2e9};
        view.setData(data);
        view.show();
        QCOMPARE(view.stages(), 2);
        const QRectF lane = view.laneOf(0);
        const auto at = [&](double time, double part) {
            return QPointF(view.map().pixel(time), lane.top() + lane.height() * part);
        };
        QVERIFY(view.textAt(at(5, 0.3)).contains("forward"));
        QVERIFY(view.textAt(at(70, 0.3)).contains("backward"));
        QVERIFY(view.textAt(at(45, 0.3)).contains("waits"));
        QVERIFY(view.textAt(at(110, 0.85)).contains("exchanged"));
        QVERIFY(view.textAt({view.map().pixel(35), view.memoryArea().center().y()}).contains("6 GB"));
        // Ctrl and the wheel zoom where the mouse is, a double click shows all again.
        const double before = view.map().to - view.map().from;
        const QPointF place = at(70, 0.3);
        QWheelEvent wheel(place, view.mapToGlobal(place), {}, {0, 240}, Qt::NoButton, Qt::ControlModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(&view, &wheel);
        QVERIFY(view.map().to - view.map().from < before);
        QVERIFY(std::abs(view.map().time(place.x()) - 70) < 1);
        QTest::mouseDClick(&view, Qt::LeftButton, {}, place.toPoint());
        QCOMPARE(view.map().to - view.map().from, before);
    }

    void barsAreAsHighAsWhatIsHeld() {
        StageMemoryPlot plot;
        plot.resize(500, 300);
        plot.setData(threeStages());
        const double first = plot.barOf(0).height(), third = plot.barOf(2).height();
        QVERIFY(std::abs(third / first - 90.0 / 75.0) < 1e-6);
        QVERIFY(plot.textOf(0).contains("5 GB left"));
        QVERIFY(plot.textOf(2).contains("10 GB too much"));
        QCOMPARE(plot.stageAt(plot.barOf(1).center()), 1);
    }

    void cardsWrap() {
        StepCards cards;
        std::vector<StepCard> seven(7);
        for (int i = 0; i < 7; ++i) seven[static_cast<std::size_t>(i)] = {QString("Figure %1").arg(i), "1.2 s", {}, {}};
        cards.setCards(seven);
        QVERIFY(cards.heightForWidth(500) > cards.heightForWidth(1400));
        cards.resize(500, cards.heightForWidth(500));
        for (int i = 0; i < 7; ++i) QVERIFY(QRectF(cards.rect()).contains(cards.rectOf(i)));
    }

    void picturesInLightAndDark() {
        QDir().mkpath(ORRERY_TEST_OUTPUT);
        for (const Mode mode : {Mode::Light, Mode::Dark}) {
            Theme::instance().setMode(mode);
            const QString ending = mode == Mode::Light ? "light" : "dark";
            std::vector<std::pair<QString, std::unique_ptr<QWidget>>> made;
            auto timeline = std::make_unique<StepTimeline>();
            timeline->setData({twoStages(), "run", {.pipeline = 2}, 3, {30e9, 20e9}, {2e9}, 80e9});
            made.emplace_back("timeline", std::move(timeline));
            made.emplace_back("timeline-empty", std::make_unique<StepTimeline>());
            auto memory = std::make_unique<StageMemoryPlot>();
            memory->setData(threeStages());
            made.emplace_back("memory", std::move(memory));
            made.emplace_back("memory-empty", std::make_unique<StageMemoryPlot>());
            auto map = std::make_unique<ClusterMap>();
            map->setData(cluster());
            map->setCurrent(9);
            made.emplace_back("map", std::move(map));
            auto strip = std::make_unique<ValueStrip>("strip", "Tensor", "tip");
            strip->setValues(stops(), 16);
            made.emplace_back("strip", std::move(strip));
            for (const auto& [name, widget] : made) {
                for (const QSize size : {QSize(260, 180), QSize(760, 380)}) {
                    widget->resize(name == "strip" ? QSize(size.width(), 24) : size);
                    const QPixmap picture = widget->grab();
                    QVERIFY(picture.save(QStringLiteral("%1/training-%2-%3-%4.png")
                                             .arg(QStringLiteral(ORRERY_TEST_OUTPUT), name, ending)
                                             .arg(size.width())));
                }
                QVERIFY(!widget->objectName().isEmpty() && !widget->accessibleName().isEmpty() &&
                        !widget->toolTip().isEmpty());
            }
        }
        Theme::instance().setMode(Mode::Light);
    }
};

QTEST_MAIN(TestTrainingViews)
#include "tst_training_views.moc"
