// Serving with real mouse and keys: a fleet is asked, edited, undone, compared, played, and a request followed.

#include "app/window/main_window.h"
#include "app/window/serving/serving_form.h"
#include "app/window/serving/serving_page.h"
#include "support/serving_window.h"
#include "widgets/common/label.h"
#include "widgets/common/log_slider.h"
#include "widgets/common/text.h"
#include "widgets/common/veil.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/serving/fleet_picture.h"
#include "widgets/serving/line_plot.h"
#include "widgets/serving/pair_plot.h"
#include "widgets/serving/request_lives.h"
#include "widgets/serving/traffic_picture.h"

#include <QtWidgets>

#include <set>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioServing : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { ui::initialiseApplicationLook(); }
    void init() {
        QVERIFY(serving_.open());
        window_ = serving_.window.get();
        page_ = serving_.page;
    }
    void cleanup() { serving_.window.reset(); }

    void theFirstLookIsFilled() {
        QCOMPARE(page_->runs().size(), std::size_t{1});
        const auto& run = *page_->runs().front();
        QCOMPARE(run.metrics.done + run.metrics.rejected, run.stream->size());
        QVERIFY(headline().contains("First token"));
        QVERIFY(!window_->document().isModified());
    }

    // What the page has in ordinary type, it has in the type of Teach, also where it was never shown before.
    void itsTypeGrowsInTeach() {
        auto& theme = ui::Theme::instance();
        const auto check = [&](const MainWindow& window) {
            for (const char* name : {"serving.speed", "serving.pin", "serving.method"}) {
                const auto* control = window.findChild<QWidget*>(name);
                QVERIFY2(control, name);
                const int pixels = QFontInfo(control->font()).pixelSize();
                QVERIFY2(pixels == qRound(13 * theme.scale()), qPrintable(QString("%1 %2").arg(name).arg(pixels)));
            }
        };
        check(*window_);
        theme.setPresenter(true, {2560, 1440});
        check(*window_);
        theme.setPresenter(false);
        check(*window_);
        MainWindow fresh;
        fresh.resize(1600, 1000);
        fresh.show();
        QVERIFY(QTest::qWaitFor([&] { return fresh.isReady(); }));
        fresh.openExample("how-many-requests");
        fresh.setLayoutMode(Layout::Teach, true);
        check(fresh);
        QTest::qWait(500);
        check(fresh);
        theme.setPresenter(false);
    }
    void aDraggedRateIsOneUndoableEdit() {
        auto* rate = page_->findChild<ui::LogSlider*>("serving.rate");
        auto* area = page_->findChild<QScrollArea*>("serving.form");
        area->ensureWidgetVisible(rate);
        const double before = page_->question().traffic.arrivals.rate;
        QTest::mousePress(rate, Qt::LeftButton, {}, QPoint(rate->positionOf(before), rate->height() / 2));
        for (const double to : {12.0, 20.0, 40.0})
            QTest::mouseMove(rate, QPoint(rate->positionOf(to), rate->height() / 2));
        QTest::mouseRelease(rate, Qt::LeftButton, {}, QPoint(rate->positionOf(40), rate->height() / 2));
        QVERIFY(answered());
        const auto& serving = window_->document().state()->serving;
        QVERIFY(serving.has_value());
        QVERIFY(serving->traffic.arrivals.rate > 30);
        const double busy = page_->runs().front()->metrics.ttft.p99;
        window_->document().undoStack()->undo();
        QVERIFY(answered());
        QCOMPARE(page_->question().traffic.arrivals.rate, before);
        QVERIFY(page_->runs().front()->metrics.ttft.p99 <= busy);
        QVERIFY(!window_->document().isModified());
    }

    void aSecondPolicyStandsBesideTheFirst() {
        auto* second = page_->findChild<QComboBox*>("serving.second");
        const int at = second->findData("sarathi");
        QVERIFY(at > 0);
        second->setCurrentIndex(at);
        emit second->activated(at);
        QVERIFY(answered());
        QCOMPARE(page_->runs().size(), std::size_t{2});
        QCOMPARE(page_->runs()[0]->stream, page_->runs()[1]->stream);
        page_->tabs()->setCurrentIndex(4);
        QVERIFY(page_->findChild<ui::PairPlot*>()->points() > 0);
        QCOMPARE(window_->document().state()->serving->compareWith->id, std::string("sarathi"));
    }

    // Low windows show the replicas only beside what belongs to a moment; the tabs stay where the hand is.
    void tabsStayWhereTheyAre() {
        window_->resize(1280, 720);
        QTest::qWait(1);
        const auto* bar = page_->findChild<QTabBar*>("serving.tabs");
        QVERIFY(bar && bar->isVisible() && bar->count() == page_->tabs()->count());
        const QPoint place = bar->mapTo(window_, QPoint());
        int without = 0;
        for (int tab = bar->count() - 1; tab >= 0; --tab) {
            QTest::mouseClick(const_cast<QTabBar*>(bar), Qt::LeftButton, {}, bar->tabRect(tab).center());
            QCOMPARE(page_->tabs()->currentIndex(), tab);
            QTest::qWait(1);
            QCOMPARE(bar->mapTo(window_, QPoint()), place);
            without += page_->fleet()->isVisible() ? 0 : 1;
        }
        QVERIFY2(without > 0 && page_->fleet()->isVisible(), "some hide the replicas, the first does not");
    }

    void twoFleetsStandSideBySideOnTheSameRequests() {
        auto* pin = page_->findChild<QPushButton*>("serving.pin");
        QVERIFY(pin && pin->isEnabled());
        const std::size_t one = page_->runs().front()->fleet->replicas.size();
        const double alone = page_->runs().front()->metrics.ttft.p99;
        QTest::mouseClick(pin, Qt::LeftButton);
        QVERIFY(answered());
        QCOMPARE(page_->runs().size(), std::size_t{2});
        // Both say what they are: the fleet, for that is what will differ.
        QCOMPARE(page_->runs()[0]->name, QString("Now: %1").arg(page_->runs()[1]->name.mid(8)));
        QVERIFY(page_->runs()[1]->name.startsWith("Pinned: "));
        QCOMPARE(page_->runs()[1]->metrics.ttft.p99, alone);
        // Another fleet beside it: the pinned one stays as it was.
        ServingStudy twice = page_->question();
        twice.scenario.pools.front().replicas *= 2;
        page_->setQuestion(twice);
        QVERIFY(answered());
        QVERIFY2(page_->runs()[0]->name.startsWith(QString("Now: %1 replica").arg(2 * one)),
                 qPrintable(page_->runs()[0]->name));
        QVERIFY2(page_->runs()[1]->name.startsWith(QString("Pinned: %1 replica").arg(one)),
                 qPrintable(page_->runs()[1]->name));
        QCOMPARE(page_->runs()[0]->fleet->replicas.size(), 2 * one);
        QCOMPARE(page_->runs()[1]->fleet->replicas.size(), one);
        QCOMPARE(page_->runs()[1]->metrics.ttft.p99, alone);
        QVERIFY(page_->runs()[0]->metrics.ttft.p99 < alone);
        QCOMPARE(page_->runs()[0]->stream, page_->runs()[1]->stream);
        const auto* model = page_->findChild<QAbstractItemView*>("serving.figures")->model();
        QCOMPARE(model->headerData(model->columnCount() - 1, Qt::Horizontal).toString(), QString("Against pinned"));
        // Twice the replicas: the first token comes sooner than on the pinned fleet.
        QVERIFY(model->index(0, model->columnCount() - 1).data().toString().startsWith(QChar(0x2212)));
        // Other traffic and another SLO are asked of both.
        ServingStudy slower = twice;
        slower.traffic.arrivals.rate /= 4;
        slower.scenario.promise.ttft = 7;
        page_->setQuestion(slower);
        QVERIFY(answered());
        QVERIFY(page_->runs()[1]->metrics.ttft.p99 < alone);
        QCOMPARE(page_->runs()[1]->fleet->promise.ttft, 7.0);
        QTest::mouseClick(pin, Qt::LeftButton);
        QVERIFY(answered());
        QCOMPARE(page_->runs().size(), std::size_t{1});
        QCOMPARE(pin->text(), QString("Pin this fleet"));
    }

    void aPinnedFleetThatCannotServeLeavesTheOtherItsAnswer() {
        QTest::mouseClick(page_->findChild<QPushButton*>("serving.pin"), Qt::LeftButton);
        QVERIFY(answered());
        QCOMPARE(page_->runs().size(), std::size_t{2});
        // Stages name pools: the pinned fleet has none of that name.
        ServingStudy asked = page_->question();
        asked.scenario.pools.front().name = "answers";
        StageSpec stage;
        stage.name = "answer";
        stage.pool = "answers";
        asked.scenario.stages = {stage};
        page_->setQuestion(asked);
        QVERIFY(answered());
        QCOMPARE(page_->runs().size(), std::size_t{1});
        auto* notes = page_->findChild<ui::Label*>("serving.notes");
        QVERIFY2(notes->text().contains("does not serve this"), qPrintable(notes->text()));
    }

    void stepsAndPlayingMoveThroughTheRun() {
        auto* forward = page_->findChild<QToolButton*>("serving.forward");
        auto* back = page_->findChild<QToolButton*>("serving.back");
        const auto& begins = page_->runs().front()->result.batches.begin;
        const std::set<SimTime> all(begins.begin(), begins.end());
        const SimTime before = page_->time();
        QTest::mouseClick(forward, Qt::LeftButton);
        QVERIFY(page_->time() > before && all.contains(page_->time()));
        const SimTime there = page_->time();
        QTest::mouseClick(forward, Qt::LeftButton);
        QTest::mouseClick(back, Qt::LeftButton);
        QCOMPARE(page_->time(), there);
        auto* play = page_->findChild<QToolButton*>("serving.play");
        QTest::mouseClick(play, Qt::LeftButton);
        QVERIFY(page_->isPlaying());
        QTRY_VERIFY(page_->time() > there);
        QTest::mouseClick(play, Qt::LeftButton);
        QVERIFY(!page_->isPlaying());
        const SimTime paused = page_->time();
        QTest::qWait(100);
        QCOMPARE(page_->time(), paused);
    }

    void aRequestIsFollowedThroughTheViews() {
        page_->tabs()->setCurrentIndex(2);
        auto* lives = page_->lives();
        QTRY_VERIFY(lives->viewport()->height() > 60);
        QTest::mouseClick(lives->viewport(), Qt::LeftButton, {}, QPoint(300, 60));
        QVERIFY(lives->current() != no_request);
        QVERIFY(lives->requestAt(QPointF(300, 60)) == lives->current());
    }

    void whatCannotServeIsRefusedWithAHint() {
        auto* model = page_->findChild<QComboBox*>("serving.model.source");
        const int at = model->findData("llama-2-70b");
        QVERIFY(at >= 0);
        model->setCurrentIndex(at);
        emit model->activated(at);
        QVERIFY(answered());
        // 140 GB of weights on one 80 GB device.
        QTRY_VERIFY2_WITH_TIMEOUT(headline().contains("fit", Qt::CaseInsensitive), qPrintable(headline()), 20000);
        window_->document().undoStack()->undo();
        QVERIFY(answered());
        QVERIFY(headline().contains("First token"));
    }

    void aRefusalDimsTheAnswerOfBefore() {
        auto* veil = page_->findChild<ui::Veil*>("serving.split-veil");
        QVERIFY(veil && !veil->isDown());
        auto* model = page_->findChild<QComboBox*>("serving.model.source");
        model->setCurrentIndex(model->findData("llama-2-70b"));
        emit model->activated(model->currentIndex());
        QVERIFY(answered());
        QTRY_VERIFY_WITH_TIMEOUT(headline().contains("fit", Qt::CaseInsensitive), 20000);
        QTRY_VERIFY2_WITH_TIMEOUT(veil->isDown() && veil->isVisible() && veil->why().contains("previous question"),
                                  qPrintable(veil->why()), 20000);
        QTest::qWait(50);  // a layout would have moved it by now
        const auto* split = page_->findChild<QSplitter*>("serving.split");
        QCOMPARE(QRect(veil->mapTo(page_, QPoint()), veil->size()),
                 QRect(split->mapTo(page_, QPoint()), split->size()));
        QCOMPARE(split->count(), 2);
        QVERIFY2(!page_->showsAnswer(), "what is dimmed is reported as no answer");
        window_->document().undoStack()->undo();
        QVERIFY(answered());
        QTRY_VERIFY_WITH_TIMEOUT(!veil->isDown() && page_->showsAnswer(), 20000);
    }

    void anotherProjectShowsNothingOfTheOne() {
        auto* second = page_->findChild<QComboBox*>("serving.second");
        second->setCurrentIndex(second->findData("sarathi"));
        emit second->activated(second->currentIndex());
        QVERIFY(answered());
        QCOMPARE(page_->runs().size(), std::size_t{2});
        QVERIFY(page_->time() > 0);
        // A design that cannot serve at all.
        Project other;
        other.hardware.push_back(Hardware{.name = "Nothing"});
        other.scenarios.push_back({"Nothing", {}, {}});
        window_->document().reset(std::move(other));
        QVERIFY2(page_->runs().empty() && page_->time() == 0, "at once, not when the next answer comes");
        QVERIFY(QTest::qWaitFor([&] { return !page_->isBusy() && headline() != "What will the users see?"; }, 20000));
        QVERIFY(page_->runs().empty());
        QVERIFY2(!headline().contains("First token"), qPrintable(headline()));
        QCOMPARE(page_->fleet()->replayCount(), std::size_t{0});
        auto* figures = page_->findChild<ui::CellsTable*>("serving.figures");
        QCOMPARE(figures->model()->columnCount(), 1);
    }

    void aLoadCurveIsOfItsQuestion() {
        page_->setQuestion(ServingWindow::shortQuestion());
        QVERIFY(answered());
        page_->tabs()->setCurrentIndex(5);
        auto* run = page_->findChild<QPushButton*>("serving.load.run");
        QTest::mouseClick(run, Qt::LeftButton);
        auto* plot = page_->findChild<ui::LinePlot*>("serving.load");
        QTRY_VERIFY_WITH_TIMEOUT(!plot->data().lines.empty(), 60000);
        auto* veil = plot->findChild<ui::Veil*>();
        QVERIFY(veil && !veil->isDown());
        ServingStudy other = page_->question();
        other.scenario.promise.ttft = 0.2;
        page_->setQuestion(other);
        QVERIFY(veil->isDown() && veil->why().contains("earlier"));
        page_->setQuestion(ServingWindow::shortQuestion());
        QVERIFY2(!veil->isDown(), "the question of the curve again");
    }

    // No straight line stands for a cliff: where most requests begin to miss the SLO is found within a fifth of the
    // load.
    void theCliffOfALoadCurveIsFound() {
        page_->setQuestion(ServingWindow::shortQuestion());
        QVERIFY(answered());
        page_->tabs()->setCurrentIndex(5);
        QTest::mouseClick(page_->findChild<QPushButton*>("serving.load.run"), Qt::LeftButton);
        auto* plot = page_->findChild<ui::LinePlot*>("serving.load");
        QTRY_VERIFY_WITH_TIMEOUT(!plot->data().lines.empty(), 60000);
        const ui::PlotLine& line = plot->data().lines.front();
        QVERIFY2(line.y.front() > 0.9 && line.y.back() < 0.5, "from before the cliff to beyond it");
        for (std::size_t i = 0; i + 1 < line.x.size(); ++i) {
            QVERIFY2(line.x[i] < line.x[i + 1], "in order of the load");
            QVERIFY2(std::abs(line.y[i] - line.y[i + 1]) < 0.5 || line.x[i + 1] / line.x[i] < 1.2,
                     qPrintable(QStringLiteral("%1 to %2").arg(line.x[i]).arg(line.x[i + 1])));
        }
    }

    // The line of the file is said, and no picture of other traffic stands below its name.
    void aBrokenTraceIsNamedWithItsLine() {
        QTemporaryDir folder;
        QFile file(folder.filePath("broken.csv"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("arrival,prompt,output\n0,100,20\n0.1,100,abc\n");
        file.close();
        auto* picture = page_->findChild<ui::TrafficPicture*>();
        QVERIFY(picture->summary().contains("requests"));
        ServingStudy broken = page_->question();
        broken.traffic.trace.file = file.fileName().toStdString();
        broken.traffic.arrivals.kind = ArrivalKind::Trace;
        broken.traffic.prompt.kind = broken.traffic.output.kind = LengthKind::Trace;
        broken.traffic.requests = 0;
        page_->setQuestion(broken);
        QTRY_VERIFY2_WITH_TIMEOUT(headline().contains("broken.csv, line 3: Column output holds 'abc'"),
                                  qPrintable(headline()), 20000);
        QVERIFY2(!picture->summary().contains("per second"), qPrintable(picture->summary()));
    }

    // The axis says requests per second: of a trace too, and where the traffic is scaled as a whole.
    void aLoadCurveIsInRequestsPerSecond() {
        const QTemporaryDir folder;
        QFile file(folder.filePath("trace.csv"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("arrival_s,prompt_tokens,output_tokens\n");
        for (int row = 0; row <= 40; ++row) file.write(QByteArray::number(3 + 0.125 * row) + ",900,20\n");
        file.close();
        ServingStudy traced = ServingWindow::shortQuestion();
        traced.traffic.requests = 0;
        traced.traffic.trace.file = file.fileName().toStdString();
        traced.traffic.arrivals.kind = ArrivalKind::Trace;
        traced.traffic.prompt.kind = traced.traffic.output.kind = LengthKind::Trace;
        const auto firstAndAsked = [this](const ServingStudy& study) {
            IterationTimes times;
            Progress progress;
            const LoadCurve curve = loadCurve(study, window_->document().hardware(), {}, times, {}, progress);
            // Finer places are part of what the bar counts.
            if (progress.total() < 14 || progress.done() != progress.total()) return std::pair(0.0, 0.0);
            if (curve.refusal || curve.lines.empty() || curve.lines.front().x.size() < 10) return std::pair(0.0, 0.0);
            return std::pair(curve.lines.front().x[0], curve.lines.front().x[5]);
        };
        // 40 gaps of 125 ms: 8 per second; twice that where the file says so. The curve begins at a fifth.
        const auto own = firstAndAsked(traced);
        QVERIFY2(std::abs(own.second - 8) < 1e-6, qPrintable(QString::number(own.second)));
        QVERIFY(std::abs(own.first - 1.6) < 1e-6);
        traced.traffic.edit.rate = 2;
        QVERIFY(std::abs(firstAndAsked(traced).second - 16) < 1e-6);
        ServingStudy scaled = ServingWindow::shortQuestion();
        scaled.traffic.arrivals.rate = 10;
        scaled.traffic.edit.rate = 0.5;
        QVERIFY(std::abs(firstAndAsked(scaled).second - 5) < 1e-6);

        ServingStudy closed = ServingWindow::shortQuestion();
        closed.traffic.arrivals.kind = ArrivalKind::ClosedLoop;
        IterationTimes times;
        Progress progress;
        const LoadCurve none = loadCurve(closed, window_->document().hardware(), {}, times, {}, progress);
        QVERIFY2(none.refusal && none.refusal->code == "capacity.no-rate", "in flight is no rate");
    }

private:
    bool answered() { return serving_.answered(); }
    QString headline() const { return page_->findChild<ui::Label*>("serving.headline")->text(); }

    ServingWindow serving_;
    MainWindow* window_ = nullptr;
    ServingPage* page_ = nullptr;
};

QTEST_MAIN(TestStudioServing)
#include "tst_studio_serving.moc"
