// Does a view, a picture or a report ever show an answer to another question as the answer to this one? Edited, and
// looked at before the new answer can have come.

#include "app/document/commands/comparison_edits.h"
#include "app/document/commands/search_edits.h"
#include "app/document/commands/serving_edits.h"
#include "app/document/commands/set_attribute.h"
#include "app/window/compare/compare_page.h"
#include "app/window/dock.h"
#include "app/window/explore/explore_page.h"
#include "app/window/exports.h"
#include "app/window/hardware/component_loads.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/main_window.h"
#include "app/window/studio.h"
#include "support/serving_window.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/common/label.h"
#include "widgets/common/theme.h"
#include "widgets/common/veil.h"
#include "widgets/exploration/search_plot.h"

#include <QtWidgets>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStaleAnswers : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { ui::initialiseApplicationLook(); }
    void init() {
        QVERIFY(serving_.open(ServingWindow::shortQuestion()));
        window_ = serving_.window.get();
        QVERIFY(QTest::qWaitFor([this] { return window_->live().snapshot() && window_->live().upToDate(); }, 30000));
    }
    void cleanup() { serving_.window.reset(); }

    // Between the edit and its answer there are 180 ms and a simulation: a report of that moment has no figures.
    void servingIsNotReportedBeforeItsAnswer() {
        ServingPage& page = *serving_.page;
        const QTemporaryDir folder;
        QVERIFY(page.showsAnswer());
        QCOMPARE(page.report(folder.path()).value().size(), 6);
        changeRate(77);
        QVERIFY(!page.showsAnswer());
        QVERIFY(page.report(folder.path()).value().isEmpty());
        QVERIFY(serving_.answered());
        QVERIFY(page.showsAnswer());
        QCOMPARE(page.report(folder.path()).value().size(), 6);
    }

    // The simulation that is under way while one edits on answers the question before.
    void anAnswerThatComesTooLateIsNoAnswer() {
        ServingPage& page = *serving_.page;
        int seen = 0;
        const QObject here;
        connect(&page, &ServingPage::answered, &here, [&] {
            ++seen;
            if (page.isBusy()) QVERIFY2(!page.showsAnswer(), "an edit is waiting to be simulated");
        });
        for (int i = 0; i < 12; ++i) {
            changeRate(40 + i);
            QTest::qWait(60 + 40 * (i % 5));
        }
        QVERIFY(serving_.answered());
        QVERIFY(page.showsAnswer());
        QVERIFY(seen > 0);
    }

    void aPartOfATraceIsSaid() {
        const QTemporaryDir folder;
        const QString trace = folder.filePath("trace.csv");
        QFile file(trace);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("arrived_at,num_prefill_tokens,num_decode_tokens\n");
        for (int row = 0; row < 300; ++row)
            file.write(QStringLiteral("%1,%2,%3\n").arg(0.25 * row).arg(200 + row % 7).arg(5 + row % 3).toUtf8());
        file.close();
        ServingStudy study = serving_.page->question();
        study.traffic.trace.file = trace.toStdString();
        study.traffic.arrivals.kind = ArrivalKind::Trace;
        study.traffic.prompt.kind = study.traffic.output.kind = LengthKind::Trace;
        study.traffic.requests = 120;
        ask(study);
        const auto* notes = window_->findChild<ui::Label*>("serving.notes");
        QVERIFY(notes && notes->isVisible());
        QVERIFY2(notes->toolTip().contains("120 of the 300"), qPrintable(notes->toolTip()));
        study.traffic.requests = 0;
        ask(study);
        QCOMPARE(serving_.page->runs().front()->stream->size(), std::size_t{300});
        QVERIFY2(!notes->toolTip().contains("of the 300"), qPrintable(notes->toolTip()));
    }

    // 256 sequences are what vLLM takes on an A100, not on the H100 that is drawn.
    void numbersOfAnotherDeviceAreSaid() {
        ServingStudy study = serving_.page->question();
        const auto* notes = window_->findChild<ui::Label*>("serving.notes");
        const auto with = [&](int sequences, int tokens) {
            study.scenario.pools.front().scheduler.id = "vllm-v1";
            study.scenario.pools.front().scheduler.maxSequences = sequences;
            study.scenario.pools.front().scheduler.tokenBudget = tokens;
            ask(study);
        };
        with(256, 2048);
        QVERIFY2(notes->toolTip().contains("would use 1024 and 8192"), qPrintable(notes->toolTip()));
        with(1024, 8192);
        QVERIFY2(!notes->toolTip().contains("would use"), qPrintable(notes->toolTip()));
        with(100, 4096);  // chosen by a person
        QVERIFY2(!notes->toolTip().contains("would use"), qPrintable(notes->toolTip()));
    }

    void aComparisonIsReportedOfItsQuestionAlone() {
        auto& page = window_->page<ComparePage>();
        window_->studio().router.show(&page);
        QVERIFY_DONE(document().apply(keepCaseEdit(*document().state())));
        halveBandwidth();
        QVERIFY(compared(page));
        const QTemporaryDir folder;
        QCOMPARE(page.report(folder.path()).value().size(), 2);
        halveBandwidth();
        QVERIFY(!page.showsAnswer());
        QVERIFY(page.report(folder.path()).value().isEmpty());
        QVERIFY(compared(page));
        // Also while it is behind another page, where it follows nothing.
        window_->studio().router.show(QStringLiteral("hardware"));
        halveBandwidth();
        QTest::qWait(50);
        QVERIFY(!page.showsAnswer());
    }

    void nothingIsExportedWithLiveOff() {
        const QTemporaryDir folder;
        QVERIFY(window_->exportPictures(folder.path()).has_value());
        QVERIFY(window_->exportReport(folder.path()).has_value());
        window_->live().setEnabled(false);
        halveBandwidth();
        const auto pictures = window_->exportPictures(folder.path());
        QVERIFY(!pictures && pictures.error().code == "export.late");
        const auto report = window_->exportReport(folder.path());
        QVERIFY(!report && report.error().code == "export.late");
        window_->live().setEnabled(true);
        QVERIFY(QTest::qWaitFor([this] { return window_->live().upToDate(); }, 30000));
        QVERIFY(window_->exportPictures(folder.path()).has_value());
        // An edit that asks nothing anew does not make an answer late.
        QVERIFY_DONE(document().apply(setServingEdit(*document().state(), changed(9))));
        QVERIFY(window_->live().upToDate());
        QVERIFY(window_->exportPictures(folder.path()).has_value());
    }

    // A picture in the clipboard no longer says of what question it was.
    void aLateViewIsNotCopied() {
        Dock* dock = window_->studio().docks.dock(QStringLiteral("roofline"));
        QVERIFY(dock);
        dock->show();
        dock->raise();
        window_->studio().feeder.feedAll();
        const auto copy = [&] {
            QApplication::clipboard()->setText(QStringLiteral("nothing"));
            auto* menu = dock->findChild<QMenu*>();
            Q_EMIT menu->aboutToShow();
            for (QAction* action : menu->actions())
                if (action->text() == QLatin1String("Copy picture")) action->trigger();
            return !QApplication::clipboard()->image().isNull();
        };
        QVERIFY(copy());
        window_->live().setEnabled(false);
        halveBandwidth();
        QStringList said;
        const QObject here;
        connect(&window_->studio().messages, &Messages::complained, &here,
                [&](const Diagnostic& why) { said << QString::fromStdString(why.code); });
        QVERIFY(!copy());
        QCOMPARE(said, QStringList{QStringLiteral("export.late")});
        window_->live().setEnabled(true);
        QVERIFY(QTest::qWaitFor([this] { return window_->live().upToDate(); }, 30000));
        QTRY_VERIFY(copy());
    }

    // A page that is dimmed does not ask for a file's name either.
    void aDimmedPageIsNotExported() {
        auto& page = window_->page<ExplorePage>();
        SearchSettings search{{{"batch", {"1", "8"}, {}}}, {"time", "energy"}, {}, "roofline"};
        QVERIFY_DONE(document().apply(setSearchEdit(*document().state(), search, "Search")));
        window_->studio().router.show(&page);
        auto* go = page.findChild<QPushButton*>("explore.go");
        QTRY_VERIFY(go && go->isEnabled());
        QTest::mouseClick(go, Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return !page.isBusy() && page.view(); }, 30000));
        QTRY_VERIFY(page.showsAnswer());
        const auto* views = page.findChild<QTabWidget*>("explore.views");
        QVERIFY(views && ui::Veil::lateIn(*views).isEmpty());
        const auto asksForAFile = [&] {
            bool asked = false;
            QTimer closes;
            connect(&closes, &QTimer::timeout, &closes, [&] {
                if (auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget())) {
                    asked = true;
                    dialog->reject();
                }
            });
            closes.start(20);
            exportWith(window_->studio(), *views, "Export", "front.svg", "SVG (*.svg)",
                       [](const QString&) { return QString(); });
            return asked;
        };
        QVERIFY(asksForAFile());
        halveBandwidth();
        QTRY_VERIFY(!ui::Veil::lateIn(*views).isEmpty());
        QVERIFY2(!ui::Veil::lateIn(*views->currentWidget()).isEmpty(), "the tab in front is under the veil too");
        QVERIFY(!asksForAFile());
    }

    void sharesOnTheDrawingGoWithTheirQuestion() {
        window_->studio().router.show(QStringLiteral("hardware"));
        auto& hardware = window_->page<HardwarePage>();
        QTRY_VERIFY(!hardware.canvas()->loads().empty());
        window_->live().setEnabled(false);
        halveBandwidth();
        QVERIFY2(hardware.canvas()->loads().empty(), "shares of the design before stand on this one");
        window_->live().setEnabled(true);
        QTRY_VERIFY_WITH_TIMEOUT(!hardware.canvas()->loads().empty(), 30000);
    }

    // A point that was taken over is one of the search: the others can be chosen after it. What no knob turns may not.
    void aPointThatIsTakenOverLeavesTheSearchAsItIs() {
        auto& page = window_->page<ExplorePage>();
        SearchSettings search{
            {{"hbm3.bandwidth", {"1 TB/s", "2 TB/s", "4 TB/s"}, {}}}, {"time", "energy"}, {}, "roofline"};
        QVERIFY_DONE(document().apply(setSearchEdit(*document().state(), search, "Search")));
        window_->studio().router.show(&page);
        auto* go = page.findChild<QPushButton*>("explore.go");
        QTRY_VERIFY(go && go->isEnabled());
        QTest::mouseClick(go, Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return !page.isBusy() && page.view(); }, 30000));
        auto* veil = page.findChild<ui::Veil*>("explore.views-veil");
        auto* plot = page.findChild<ui::SearchPlot*>();
        auto* use = page.findChild<QPushButton*>("explore.use");
        QVERIFY(veil && plot && use);
        const auto says = [&page](const char* words) {
            const auto labels = page.findChildren<ui::Label*>();
            return std::ranges::any_of(labels, [words](const ui::Label* each) { return each->text().contains(words); });
        };
        QVERIFY(!says("Points of the original design"));
        for (const int point : {0, 2}) {
            QTRY_VERIFY(plot->isPainted());
            QTest::mouseClick(plot, Qt::LeftButton, {}, plot->placeOf(point).toPoint());
            QTRY_VERIFY(use->isEnabled());
            QTest::mouseClick(use, Qt::LeftButton);
            QVERIFY(!page.showsAnswer());  // to the drawing as it is, which a report would state
            QTRY_VERIFY(says("Points of the original design"));
            QVERIFY(!veil->isDown());
        }
        // A value between the steps is no point of it; its points are what they were all the same.
        QVERIFY_DONE(document().apply(setAttributeEdit(*document().state(), document().hardwareIndex(),
                                                       pathOf(document(), "hbm3"), "bandwidth", "3.3 TB/s")));
        QTRY_VERIFY(says("Points of the original design"));
        document().undoStack()->undo();
        document().undoStack()->undo();
        document().undoStack()->undo();
        QTRY_VERIFY(page.showsAnswer());
        search.knobs.front().values = {"1 TB/s", "3 TB/s"};
        QVERIFY_DONE(document().apply(setSearchEdit(*document().state(), search, "Search")));
        QTRY_VERIFY(veil->isDown());
    }

    void aSearchOfAnEarlierQuestionIsDimmed() {
        auto& page = window_->page<ExplorePage>();
        SearchSettings search{{{"batch", {"1", "8"}, {}}}, {"time", "energy"}, {}, "roofline"};
        QVERIFY_DONE(document().apply(setSearchEdit(*document().state(), search, "Search")));
        window_->studio().router.show(&page);
        QTRY_VERIFY(page.findChild<QPushButton*>("explore.go") &&
                    page.findChild<QPushButton*>("explore.go")->isEnabled());
        QTest::mouseClick(page.findChild<QPushButton*>("explore.go"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([&] { return !page.isBusy() && page.view(); }, 30000));
        auto* veil = page.findChild<ui::Veil*>("explore.views-veil");
        QVERIFY(veil && !veil->isDown());
        QTRY_VERIFY(page.showsAnswer());
        halveBandwidth();
        QVERIFY(!page.showsAnswer());
        QTRY_VERIFY(veil->isDown());
        document().undoStack()->undo();
        QTRY_VERIFY(!veil->isDown());
    }

private:
    Document& document() { return window_->document(); }
    ServingStudy changed(double rate) {
        ServingStudy study = serving_.page->question();
        study.traffic.arrivals.rate = rate;
        return study;
    }
    void changeRate(double rate) { QVERIFY_DONE(document().apply(setServingEdit(*document().state(), changed(rate)))); }
    void ask(const ServingStudy& study) {
        QVERIFY_DONE(document().apply(setServingEdit(*document().state(), study)));
        QVERIFY(serving_.answered());
    }
    void halveBandwidth() {
        const QString half = QString::number(bandwidthOf(document(), "hbm3") / 2e9) + " GB/s";
        QVERIFY_DONE(document().apply(setAttributeEdit(*document().state(), document().hardwareIndex(),
                                                       pathOf(document(), "hbm3"), "bandwidth", half)));
    }
    bool compared(ComparePage& page) {
        return QTest::qWaitFor([&] { return !page.isBusy() && page.showsAnswer(); }, 30000);
    }

    ServingWindow serving_;
    MainWindow* window_ = nullptr;
};

QTEST_MAIN(TestStaleAnswers)
#include "tst_stale_answers.moc"
