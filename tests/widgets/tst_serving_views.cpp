// Do the views of serving show what the run did, and find under the mouse what they have drawn?

#include "base/random.h"
#include "serving/limiting_factor.h"
#include "support/serving_run_fixture.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"
#include "widgets/serving/fleet_picture.h"
#include "widgets/serving/lane_plot.h"
#include "widgets/serving/line_plot.h"
#include "widgets/serving/pair_plot.h"
#include "widgets/serving/replay.h"
#include "widgets/serving/replica_lanes.h"
#include "widgets/serving/request_lives.h"
#include "widgets/serving/traffic_picture.h"

#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

#include <numeric>
#include <set>

using namespace orrery;
using namespace orrery::test;
using namespace orrery::ui;

class TestServingViews : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        run_ = smallRun();
        QCOMPARE(run_->metrics.done, run_->stream->size());
    }

    // At any moment every request that has arrived and not ended is either waiting or, if its replica computes it,
    // listed once.
    void theReplayListsEveryoneOnce() {
        const Replay replay(run_);
        QVERIFY(replay.hasMembers());
        const RequestTable& requests = run_->result.requests;
        RandomStream random(11);
        for (int look = 0; look < 200; ++look) {
            const auto time = static_cast<SimTime>(random.uniform() * static_cast<double>(replay.end()));
            std::set<RequestIndex> seen;
            for (std::size_t r = 0; r < replay.replicaCount(); ++r) {
                const auto now = replay.at(r, time);
                QVERIFY(now.usedBlocks >= 0 && now.usedBlocks <= now.totalBlocks);
                QVERIFY(now.share >= 0 && now.share <= 1);
                for (const auto& member : now.members) {
                    QVERIFY(seen.insert(member.request).second);
                    QVERIFY(requests.arrived[member.request] <= time);
                    QVERIFY(requests.ended[member.request] >= time);
                    QCOMPARE(member.prompt, requests.firstToken[member.request] >
                                                run_->result.batches.begin[static_cast<std::size_t>(now.batch)]);
                }
                for (const RequestIndex waiting : now.waiting) {
                    QVERIFY(seen.insert(waiting).second);
                    QVERIFY(requests.arrived[waiting] <= time && requests.scheduled[waiting] > time);
                }
            }
            for (RequestIndex r = 0; r < requests.size(); ++r)
                if (requests.arrived[r] <= time && requests.scheduled[r] > time) QVERIFY(seen.contains(r));
        }
    }

    void stepsGoFromIterationToIteration() {
        const Replay replay(run_);
        SimTime at = 0;
        std::set<SimTime> begins(run_->result.batches.begin.begin(), run_->result.batches.begin.end());
        std::size_t steps = 0;
        for (SimTime next = replay.neighbour(-1, false); next != at || steps == 0; next = replay.neighbour(at, false)) {
            QVERIFY(begins.contains(next));
            at = next;
            ++steps;
        }
        QCOMPARE(steps, begins.size());
        for (; replay.neighbour(at, true) != at; at = replay.neighbour(at, true)) --steps;
        QCOMPARE(steps, std::size_t{1});
    }

    void aSequenceIsFoundWhereItIsDrawn() {
        const Replay replay(run_);
        const SimTime time = replay.end() / 2;
        FleetPicture picture;
        picture.resize(900, 420);
        picture.setReplays({&replay});
        picture.setTime(time);
        picture.show();
        QVERIFY(QTest::qWaitForWindowExposed(&picture));
        picture.grab();
        std::set<RequestIndex> drawn, there;
        for (int y = 0; y < picture.height(); y += 3)
            for (int x = 0; x < picture.width(); x += 3)
                if (const RequestIndex r = picture.requestAt(QPointF(x, y)); r != no_request) drawn.insert(r);
        for (std::size_t r = 0; r < replay.replicaCount(); ++r) {
            for (const auto& member : replay.at(r, time).members) there.insert(member.request);
            for (const RequestIndex waiting : replay.at(r, time).waiting) there.insert(waiting);
        }
        QVERIFY(!there.empty());
        QCOMPARE(drawn, there);
        QSignalSpy chosen(&picture, &FleetPicture::chosen);
        for (int y = 0; y < picture.height() && chosen.isEmpty(); y += 3)
            for (int x = 0; x < picture.width() && chosen.isEmpty(); x += 3)
                if (picture.requestAt(QPointF(x, y)) != no_request)
                    QTest::mouseClick(&picture, Qt::LeftButton, {}, QPoint(x, y));
        QCOMPARE(chosen.size(), 1);
        QVERIFY(there.contains(chosen.first().first().value<RequestIndex>()));
    }

    void aHundredReplicasStillFit() {
        const auto many = smallRun("vllm-v0", 100);
        const Replay replay(many);
        FleetPicture picture;
        picture.resize(700, 300);
        picture.setReplays({&replay});
        picture.setTime(replay.end() / 2);
        QVERIFY(!picture.grab().isNull());
    }

    // What the lanes add up to is what happened: mean running = total time in service ÷ length (Little's law).
    void theLanesKeepTheirIntegrals() {
        const RunSeries series = seriesOf(*run_, 97);
        const RequestTable& requests = run_->result.requests;
        double waited = 0, served = 0, tokens = 0;
        for (RequestIndex r = 0; r < requests.size(); ++r) {
            waited += toSeconds(requests.scheduled[r] - requests.arrived[r]);
            served += toSeconds(requests.ended[r] - requests.scheduled[r]);
        }
        const BatchLog& log = run_->result.batches;
        for (std::size_t b = 0; b < log.size(); ++b) tokens += log.promptTokens[b] + log.decodeTokens[b];
        const auto integral = [&](const std::vector<double>& lane) {
            return std::accumulate(lane.begin(), lane.end(), 0.0) * series.interval;
        };
        QVERIFY(std::abs(integral(series.waiting) - waited) < 1e-6 * std::max(1.0, waited));
        QVERIFY(std::abs(integral(series.running) - served) < 1e-6 * served);
        QVERIFY(std::abs(integral(series.tokensPerSecond) - tokens) < 1e-6 * tokens);
    }

    // Requests are whole, also at their most; the cache's peak is the figure that headline and table have.
    void thePeaksAreThoseOfTheRun() {
        const RequestTable& requests = run_->result.requests;
        const auto most = [&](const std::vector<SimTime>& from, const std::vector<SimTime>& until) {
            std::int64_t high = 0;
            for (RequestIndex at = 0; at < requests.size(); ++at) {
                std::int64_t there = 0;
                for (RequestIndex r = 0; r < requests.size(); ++r) there += from[r] <= from[at] && until[r] > from[at];
                high = std::max(high, there);
            }
            return high;
        };
        LanePlot plot;
        plot.setRuns({run_});
        const QStringList peaks = plot.peaks();
        QCOMPARE(peaks[0], QString::number(most(requests.arrived, requests.scheduled)));
        QCOMPARE(peaks[1], QString::number(most(requests.scheduled, requests.ended)));
        QCOMPARE(peaks[2], percentText(run_->metrics.peakKvUse));
        const LimitingFactor limit = limitingFactor(run_->result, *run_->fleet, run_->metrics);
        QVERIFY2(QString::fromStdString(limit.text).contains(peaks[2] + " full"), limit.text.c_str());
    }

    void aPressOnTheLanesMovesTheReplay() {
        LanePlot plot;
        plot.resize(800, 240);
        plot.setRuns({run_});
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        QSignalSpy chosen(&plot, &LanePlot::timeChosen);
        QTest::mouseClick(&plot, Qt::LeftButton, {}, QPoint(500, 100));
        QCOMPARE(chosen.size(), 1);
        QCOMPARE(chosen.first().first().value<SimTime>(), plot.timeAt(500));
        QVERIFY(plot.timeAt(790) > plot.timeAt(500) && plot.timeAt(0) == 0);
    }

    void anIterationStandsWhereItRan() {
        ReplicaLanes lanes;
        lanes.resize(900, 200);
        lanes.setRun(run_);
        lanes.show();
        QVERIFY(QTest::qWaitForWindowExposed(&lanes));
        lanes.setTime(run_->result.end / 2);
        const BatchLog& log = run_->result.batches;
        std::size_t found = 0;
        for (int x = 100; x < 880; x += 7) {
            for (const int y : {40, 130}) {
                const int batch = lanes.batchAt(QPointF(x, y));
                if (batch < 0) continue;
                ++found;
                const auto b = static_cast<std::size_t>(batch);
                QVERIFY(log.begin[b] <= lanes.timeAt(x) && lanes.timeAt(x) < log.end[b]);
                QCOMPARE(log.replica[b], y < 90 ? 0 : 1);
            }
        }
        QVERIFY(found > 20);
        QSignalSpy chosen(&lanes, &ReplicaLanes::timeChosen);
        QTest::mouseClick(&lanes, Qt::LeftButton, {}, QPoint(400, 60));
        QCOMPARE(chosen.first().first().value<SimTime>(), lanes.timeAt(400));
        const double before = lanes.span();
        QWheelEvent zoom(QPointF(400, 60), lanes.mapToGlobal(QPointF(400, 60)), {}, {0, 120}, Qt::NoButton,
                         Qt::ControlModifier, Qt::NoScrollPhase, false);
        QApplication::sendEvent(&lanes, &zoom);
        QVERIFY(lanes.span() < before);
    }

    // A name with room stands whole, whatever its width; one without is shortened.
    void namesBesideLanesAreWholeWhereThereIsRoom() {
        for (int letters = 1; letters < 60; ++letters) {
            FleetSpec fleet = *run_->fleet;
            for (std::size_t r = 0; r < fleet.replicas.size(); ++r) {
                fleet.replicas[r].name = std::string(static_cast<std::size_t>(letters), r == 0 ? 'i' : 'm');
                fleet.replicas[r].role = ReplicaRole::Decode;
            }
            auto named = std::make_shared<ServingRun>(*run_);
            named->fleet = std::make_shared<const FleetSpec>(fleet);
            ReplicaLanes lanes;
            lanes.resize(900, 200);
            lanes.setRun(named);
            const QFontMetricsF metrics(Theme::instance().font(FontRole::Small));
            for (std::size_t r = 0; r < fleet.replicas.size(); ++r) {
                const QString name = replicaName(fleet, r);
                const bool room = metrics.horizontalAdvance(name) <= 160 * Theme::instance().scale();
                if (room) QCOMPARE(lanes.nameBeside(r), name);
                if (letters > 50 && r == 1) QVERIFY(lanes.nameBeside(r) != name);
            }
        }
    }

    void aLifeIsChosenByMouseAndKeys() {
        RequestLives lives;
        lives.resize(800, 300);
        lives.setRun(run_);
        lives.show();
        QVERIFY(QTest::qWaitForWindowExposed(&lives));
        lives.setTime(run_->result.end / 2);
        QSignalSpy chosen(&lives, &RequestLives::chosen);
        QTest::mouseClick(lives.viewport(), Qt::LeftButton, {}, QPoint(400, 150));
        QCOMPARE(chosen.size(), 1);
        const RequestIndex first = lives.current();
        QCOMPARE(lives.requestAt(QPointF(400, 150)), first);
        QTest::keyClick(&lives, Qt::Key_Down);
        QVERIFY(lives.current() != first);
        QVERIFY(run_->result.requests.arrived[lives.current()] >= run_->result.requests.arrived[first]);
        const auto facts = lifeOf(*run_, lives.current());
        QVERIFY(facts.size() >= 7);
        QVERIFY(!lives.isZoomed());
        QWheelEvent zoom(QPointF(400, 150), lives.viewport()->mapToGlobal(QPointF(400, 150)), {}, {0, 120},
                         Qt::NoButton, Qt::ControlModifier, Qt::NoScrollPhase, false);
        const double before = lives.zoomTo() - lives.zoomFrom();
        QApplication::sendEvent(lives.viewport(), &zoom);
        QVERIFY(lives.isZoomed() && lives.zoomTo() - lives.zoomFrom() < before);
        QTest::mouseDClick(lives.viewport(), Qt::LeftButton, {}, QPoint(400, 150));
        QVERIFY(!lives.isZoomed());
    }

    void theSameRunTwiceLiesOnTheDiagonal() {
        PairPlot plot;
        plot.resize(400, 400);
        plot.setRuns(run_, run_, RequestFigure::EndToEnd);
        QCOMPARE(plot.points(), run_->stream->size());
        const auto slow = smallRun("vllm-v0", 1, 400, run_->stream);
        plot.setRuns(run_, slow, RequestFigure::Ttft);
        QVERIFY(plot.points() > 0);
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        QSignalSpy chosen(&plot, &PairPlot::chosen);
        for (int y = 0; y < 400 && chosen.isEmpty(); y += 4)
            for (int x = 0; x < 400 && chosen.isEmpty(); x += 4)
                if (plot.requestAt(QPointF(x, y)) != no_request)
                    QTest::mouseClick(&plot, Qt::LeftButton, {}, QPoint(x, y));
        QCOMPARE(chosen.size(), 1);
        plot.setRuns(run_, nullptr, RequestFigure::Ttft);
        QCOMPARE(plot.points(), std::size_t{0});
    }

    void aLineIsReadUnderTheCursor() {
        LinePlot plot(QStringLiteral("test.line"), QStringLiteral("Line"), QStringLiteral("A line"));
        plot.resize(500, 300);
        LinePlotData data;
        data.lines.push_back({QStringLiteral("half"), 0, {1, 2, 3}, {0.5, 0.5, 0.5}, {}, {}, true});
        data.logX = false;
        data.yHigh = 1;
        plot.setData(data);
        QVERIFY2(plot.textAt({250, 100}).contains("half 50 %"), qPrintable(plot.textAt({250, 100})));
        QVERIFY(plot.textAt({2, 100}).isEmpty());
        plot.setData({});
        QVERIFY(!plot.grab().isNull());
    }

    // Names of lines stand beside the title, where they cover no curve; a narrow plot has its names inside.
    void namesOfLinesCoverNoCurve() {
        LinePlot plot(QStringLiteral("test.line"), QStringLiteral("Line"), QStringLiteral("A line"));
        LinePlotData data;
        data.title = QStringLiteral("Requests that meet the SLO, by load");
        data.lines.push_back({QStringLiteral("vLLM V1"), 0, {1, 2, 3}, {1, 1, 1}, {}, {}, true});
        data.lines.push_back({QStringLiteral("Pinned: 2 replicas, vLLM V1"), 1, {1, 2, 3}, {1, 1, 0.4}, {}, {}, true});
        data.lines.push_back({QStringLiteral("none yet"), 2, {}, {}, {}, {}, true});
        data.yHigh = 1;
        plot.setData(data);
        const QFontMetricsF metrics(Theme::instance().font(FontRole::Small));
        for (const int width : {260, 900}) {
            plot.resize(width, 300);
            const auto places = plot.namePlaces();
            QCOMPARE(places.size(), std::size_t{2});
            const QRectF area = PlotFrame::areaIn(plot.size());
            for (std::size_t i = 0; i < places.size(); ++i) {
                QCOMPARE(places[i].y() + metrics.height() <= area.top(), width == 900);
                QVERIFY(width == 260 || places[i].x() + metrics.horizontalAdvance(data.lines[i].name) <= width);
            }
        }
    }

    void trafficSaysWhatArrives() {
        TrafficPicture picture;
        picture.resize(260, 150);
        picture.setStream(run_->stream);
        QVERIFY(picture.summary().startsWith("120 request"));
        picture.setStream(nullptr);
        QVERIFY(picture.summary().isEmpty());
        QVERIFY(!picture.grab().isNull());
    }

private:
    ServingRunPtr run_;
};

QTEST_MAIN(TestServingViews)
#include "tst_serving_views.moc"
