// The schedule explorer with real mouse: a log dropped, schedules chosen in list and plot, loops as code and picture,
// files that are refused, files that are written.

#include "app/window/evidence/evidence_page.h"
#include "app/window/evidence/schedules_tab.h"
#include "app/window/studio.h"
#include "support/event_loop_watch.h"
#include "support/evidence_window.h"
#include "widgets/common/label.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/schedules/nest_code.h"
#include "widgets/schedules/nest_picture.h"
#include "widgets/schedules/reason_bars.h"
#include "widgets/schedules/schedule_scatter.h"
#include "widgets/welcome/command_palette.h"

#include <QtWidgets>

#include <cmath>
#include <set>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioSchedules : public EvidenceWindow {
    Q_OBJECT

    // Products of which tiles near 8 × 8 are fastest, and those over 256 fail.
    QString writeTrials(const QString& name, const QList<QSize>& products) const {
        const QString file = home_.filePath(name);
        QFile out(file);
        if (!out.open(QIODevice::WriteOnly)) return {};
        out.write("device,task,workload,config,time_us\n");
        for (const QSize& size : products)
            for (int x = 1; x <= 64; x *= 2)
                for (int y = 1; y <= 64; y *= 2)
                    for (int k = 1; k <= 4; k *= 2) {
                        const double off = std::abs(std::log2(x / 8.0)) + std::abs(std::log2(y / 8.0)) + 0.01 * k;
                        const double time = 100 * (1 + off) * size.width() * size.height() / 1e4;
                        out.write(QStringLiteral("cpu,dense_nopack.x86,%1x256:float32;%2x256:float32;None;float32,\""
                                                 "tile_y=-1,%3;tile_x=-1,%4;tile_k=-1,%5\",%6\n")
                                      .arg(size.width())
                                      .arg(size.height())
                                      .arg(y)
                                      .arg(x)
                                      .arg(k)
                                      .arg(x * y > 256 ? QString() : QString::number(time))
                                      .toUtf8());
                    }
        return file;
    }
    void drop(const QString& file) {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(file)});
        const QPointF at = tab_->rect().center();
        QDragEnterEvent enter(at.toPoint(), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(tab_, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent event(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(tab_, &event);
    }
    void clickRow(int row) {
        const QModelIndex index = list_->model()->index(row, 2);
        list_->scrollTo(index);
        QTest::mouseClick(list_->viewport(), Qt::LeftButton, {}, list_->visualRect(index).center());
    }

private slots:
    void initTestCase() { begin(); }
    void init() {
        show();
        page_->tabs()->setCurrentWidget(page_->scheduleKinds());
        tab_ = page_->schedules();
        list_ = page_->findChild<ui::CellsTable*>("schedules.list");
        scatter_ = page_->findChild<ui::ScheduleScatter*>("schedules.scatter");
        code_ = page_->findChild<ui::NestCode*>("schedules.code");
        picture_ = page_->findChild<ui::NestPicture*>("schedules.picture");
        bars_ = page_->findChild<ui::ReasonBars*>("schedules.reasons");
        state_ = page_->findChild<ui::Label*>("schedules.state");
        QVERIFY(tab_ && list_ && scatter_ && code_ && picture_ && bars_ && state_);
    }
    void cleanup() { window_.reset(); }

    void aLogThatIsDroppedIsRankedAndLookedThrough() {
        QVERIFY(scatter_->isEmpty() && picture_->isEmpty());
        QVERIFY(!tab_->exportTo(home_.filePath("none.csv")).isEmpty());
        const QString log = writeTrials("trials.csv", {{128, 256}, {256, 256}, {512, 128}});
        EventLoopWatch watch;
        drop(log);
        QTRY_VERIFY_WITH_TIMEOUT(tab_->explored() && !tab_->isWorking(), 60'000);
        watch.stop();
        qInfo("at most %.1f ms of the window's own work at once", watch.busiest());
        QVERIFY2(watch.busiest() < 100, qPrintable(QString::number(watch.busiest())));  // fits are not the window's
        QCOMPARE(list_->cells()->rowCount(), 147);
        QCOMPARE(scatter_->points().size(), std::size_t{147});
        QCOMPARE(tab_->explored()->operators, std::size_t{2});
        QVERIFY(state_->text().contains("2 other operators"));
        auto* operators = page_->findChild<QComboBox*>("schedules.operator");
        QCOMPARE(operators->count(), 3);
        QVERIFY(operators->itemText(0).contains("147 schedules"));

        // The model's first choice is shown; a click on another row shows that one.
        QCOMPARE(tab_->explored()->toldRank[static_cast<std::size_t>(tab_->current())], std::size_t{1});
        std::set<QString> seen;
        for (const int row : {0, 30, 90, 146}) {
            clickRow(row);
            QCOMPARE(tab_->explored()->toldRank[static_cast<std::size_t>(tab_->current())],
                     static_cast<std::size_t>(row + 1));
            QVERIFY(code_->toPlainText().startsWith("for "));
            QVERIFY(code_->toPlainText().contains("# parallel"));
            seen.insert(code_->toPlainText());
            // Code and picture are of the same loops, and these do the operator's work.
            double steps = 2;
            for (const NestLine& line : picture_->nest().lines) {
                if (!line.loop) continue;
                steps *= line.extent;
                QVERIFY(code_->toPlainText().contains(QString::fromStdString(line.name)));
            }
            QCOMPARE(steps, 2.0 * 128 * 256 * 256);
            QCOMPARE(scatter_->current(), tab_->current());
        }
        QCOMPARE(seen.size(), std::size_t{4});

        // A point of the plot chooses its row.
        const int best = static_cast<int>(std::ranges::find(tab_->explored()->rank, std::size_t{1}) -
                                          tab_->explored()->rank.begin());
        QTest::mouseClick(scatter_, Qt::LeftButton, {}, scatter_->placeOf(best).toPoint());
        QVERIFY(tab_->current() >= 0);
        QVERIFY(tab_->explored()->share[static_cast<std::size_t>(tab_->current())] > 0.9);
        const QString tip = scatter_->textAt(scatter_->placeOf(tab_->current()));
        QVERIFY2(tip.contains("measured") && tip.contains("of 147") && tip.contains("interval"), qPrintable(tip));

        // Intervals come after the ranks; list and plot show those of the engine, around what is predicted.
        const auto& ranges = tab_->explored()->ranges;
        QCOMPARE(ranges.size(), std::size_t{147});
        for (int row = 0; row < 147; ++row) {
            const auto cell = [&](int column) {
                return -list_->model()->index(row, column).data(ui::CellsModel::SortRole).toDouble();
            };
            QVERIFY(cell(1) <= cell(0) && cell(0) <= cell(2));
        }
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            QCOMPARE(scatter_->points()[i].low, ranges[i].low);
            QCOMPARE(scatter_->points()[i].high, ranges[i].high);
        }
        QVERIFY2(state_->text().contains("inside the intervals") && state_->text().contains("or more"),
                 qPrintable(state_->text()));

        // A line of the picture is a line of the code.
        QVERIFY(picture_->nest().lines.size() >= 4);
        QTest::mouseClick(picture_, Qt::LeftButton, {}, picture_->rowOf(2).center().toPoint());
        QCOMPARE(picture_->currentLine(), 2);
        QCOMPARE(code_->textCursor().blockNumber(), 2);
        QVERIFY(picture_->textAt(picture_->rowOf(0).center()).contains("touches"));

        // What the model looks at comes from the side, too.
        QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking() && !bars_->isEmpty(), 20'000);
        for (std::size_t i = 1; i < bars_->reasons().size(); ++i)
            QVERIFY(std::abs(bars_->reasons()[i].adds) <= std::abs(bars_->reasons()[i - 1].adds));
        auto* whose = page_->findChild<QComboBox*>("schedules.whose");
        whose->setCurrentIndex(1);
        for (const ui::Reason& each : bars_->reasons()) QVERIFY(each.adds > 0);

        // Sorted by what was measured, the first row is the fastest.
        list_->sortByColumn(4, Qt::AscendingOrder);
        clickRow(0);
        QCOMPARE(tab_->explored()->rank[static_cast<std::size_t>(tab_->current())], std::size_t{1});

        for (const char* name :
             {"all.csv", "all.tex", "plot.svg", "plot.png", "plot.pdf", "loops.txt", "loops.nest.svg", "loops.nest.csv",
              "its.features.csv", "its.why.svg", "its.why.csv"}) {
            QVERIFY2(tab_->exportTo(home_.filePath(name)).isEmpty(), name);
            QVERIFY2(QFileInfo(home_.filePath(name)).size() > 40, name);
        }
        // A name is no kind: only `.nest.csv` is of the loops, `.resnest.csv` is of the schedules.
        const auto written = [&](const char* name) {
            QFile file(home_.filePath(name));
            return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
        };
        for (const char* name : {"run.resnest.csv", "its.somefeatures.csv", "nest.run.csv", "say.why.not.csv"}) {
            QVERIFY2(tab_->exportTo(home_.filePath(name)).isEmpty(), name);
            QVERIFY2(written(name) == written("all.csv"), name);
        }
        QVERIFY(written("loops.nest.csv") != written("all.csv"));
        QVERIFY(tab_->exportTo(home_.filePath("run.2.nest.csv")).isEmpty());
        QCOMPARE(written("run.2.nest.csv"), written("loops.nest.csv"));
        QVERIFY2(bars_->toolTip().contains("percentage points"), qPrintable(bars_->toolTip()));
        QFile all(home_.filePath("all.csv"));
        QVERIFY(all.open(QIODevice::ReadOnly));
        QCOMPARE(all.readAll().count('\n'), 148);
        QFile code(home_.filePath("loops.txt"));
        QVERIFY(code.open(QIODevice::ReadOnly));
        QCOMPARE(QString::fromUtf8(code.readAll()).trimmed(), code_->toPlainText());

        // Another operator. Until it is listed there is nothing to export, though a log is open.
        operators->setCurrentIndex(1);
        QVERIFY(!tab_->explored());
        const QString early = tab_->exportTo(home_.filePath("early.csv"));
        QVERIFY2(early.contains("listed") && !early.contains("No log"), qPrintable(early));
        QTRY_VERIFY_WITH_TIMEOUT(tab_->explored() && !tab_->isWorking(), 60'000);
        QCOMPARE(tab_->explored()->group.workload, std::string("256x256:float32;256x256:float32;None;float32"));
    }

    // A schedule without loops: what is missing is said to be the loops, not a model; all else is exported.
    void aWinogradScheduleHasNoLoopsToExport() {
        QVERIFY(tab_->exportTo(home_.filePath("none.csv")).contains("No log"));
        QByteArray text = "device,task,workload,config,time_us\n";
        for (int tile = 1; tile <= 24; ++tile)
            text += QStringLiteral(
                        "gpu,conv2d_nchw_winograd.cuda,1x64x56x56:float32;64x64x3x3:float32;(1 1);(1 1 1 1);(1 1);"
                        "float32,\"tile_b=-1,%1,1,1;tile_y=-1,1,8,1\",%2\n")
                        .arg(tile)
                        .arg(10 + std::abs(tile - 8))
                        .toUtf8();
        QFile out(home_.filePath("winograd.csv"));
        QVERIFY(out.open(QIODevice::WriteOnly) && out.write(text) > 0);
        out.close();
        tab_->openLog(out.fileName());
        QTRY_VERIFY_WITH_TIMEOUT(tab_->explored() && !tab_->isWorking(), 60'000);
        QVERIFY(picture_->isEmpty());
        // In folds the intervals' models know what would be counted.
        QVERIFY2(!state_->text().contains("inside the intervals"), qPrintable(state_->text()));
        QVERIFY(!tab_->explored()->ranges.empty());
        for (const char* name : {"w.nest.svg", "w.nest.csv", "w.txt"}) {
            const QString said = tab_->exportTo(home_.filePath(name));
            QVERIFY2(said.contains("Winograd") && said.contains("loops") && !said.contains("model"), qPrintable(said));
            QVERIFY2(!QFileInfo::exists(home_.filePath(name)), name);
        }
        QVERIFY(tab_->exportTo(home_.filePath("w.svg")).isEmpty());
        QVERIFY(tab_->exportTo(home_.filePath("w.csv")).isEmpty());
    }

    void aFitIsStoppedAndBegunAgain() {
        tab_->openLog(writeTrials("many.csv", {{128, 256}, {256, 256}, {512, 128}, {64, 512}, {1024, 32}}));
        QTRY_VERIFY_WITH_TIMEOUT(list_->cells()->rowCount() == 147, 20'000);
        auto* fit = page_->findChild<QPushButton*>("schedules.fit");
        QTRY_VERIFY(fit->text() == "Stop");
        QTest::mouseClick(fit, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking(), 20'000);
        if (tab_->explored()) QSKIP("the fit was faster than the click");
        QVERIFY2(state_->text().startsWith("Stopped"), qPrintable(state_->text()));
        QVERIFY(!code_->toPlainText().isEmpty() && scatter_->isEmpty());  // loops are there without a model
        QVERIFY(fit->isEnabled() && fit->text() == "Fit");
        QTest::mouseClick(fit, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(tab_->explored() && !tab_->isWorking(), 60'000);
        QVERIFY(!scatter_->isEmpty());
    }

    // The ranking stays, and the same button asks for what was stopped.
    void stoppedIntervalsAreAskedForAgain() {
        tab_->openLog(writeTrials("more.csv", {{128, 256}, {256, 256}, {512, 128}, {64, 512}, {1024, 32}}));
        QTRY_VERIFY_WITH_TIMEOUT(tab_->explored(), 60'000);
        auto* fit = page_->findChild<QPushButton*>("schedules.fit");
        if (fit->text() == "Stop") QTest::mouseClick(fit, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking(), 20'000);
        if (!tab_->explored()->ranges.empty()) QSKIP("the intervals were faster than the click");
        QVERIFY2(state_->text().contains("Rank correlation") && state_->text().contains("Stopped"),
                 qPrintable(state_->text()));
        QVERIFY(fit->isEnabled() && fit->text() == "Fit");
        QTest::mouseClick(fit, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!tab_->explored()->ranges.empty() && !tab_->isWorking(), 60'000);
        QVERIFY2(!state_->text().contains("Stopped"), qPrintable(state_->text()));
        QVERIFY(!fit->isEnabled());
    }

    void badFilesAreRefusedAndTheLogStays() {
        tab_->openLog(writeTrials("good.csv", {{128, 256}, {256, 256}}));
        QTRY_VERIFY_WITH_TIMEOUT(tab_->explored() && !tab_->isWorking(), 60'000);
        const auto write = [&](const char* name, const QByteArray& text) {
            QFile out(home_.filePath(name));
            if (out.open(QIODevice::WriteOnly)) out.write(text);
            return out.fileName();
        };
        const struct {
            const char* name;
            QByteArray text;
            const char* says;
        } bad[] = {{"none.csv", "", ""},
                   {"columns.csv", "device,time\ncpu,3\n", "column"},
                   {"time.csv",
                    "device,task,workload,config,time_us\ncpu,dense_nopack.x86,4x4:float32;4x4:float32;None;float32,"
                    "\"tile_y=-1,4\",soon\n",
                    ""},
                   {"broken.json", "{\"i\": [[", ""},
                   {"other.json", "{\"a\": 1}\n", "no record"},
                   {"unknown.csv", "device,task,workload,config,time_us\ncpu,sort.x86,7:float32,a=1,3\n", "operator"}};
        for (const auto& each : bad) {
            tab_->openLog(write(each.name, each.text));
            QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking(), 20'000);
            QVERIFY2(!state_->text().isEmpty() && state_->text().contains(each.says),
                     qPrintable(QString(each.name) + ": " + state_->text()));
            QVERIFY2(state_->palette().color(QPalette::WindowText) == ui::toneColour(ui::Tone::Bad), each.name);
            QVERIFY2(tab_->explored() && list_->cells()->rowCount() == 147, each.name);
        }
        tab_->openLog(home_.filePath("not-there.log"));
        QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking(), 20'000);
        QVERIFY(state_->palette().color(QPalette::WindowText) == ui::toneColour(ui::Tone::Bad));
    }

    // One schedule of each operator: nothing to rank, but everything to see.
    void bestSchedulesAreLookedAtWithoutAModel() {
        QByteArray text = "device,task,workload,config,time_us\n";
        for (int n = 1; n <= 8; ++n)
            text += QStringLiteral(
                        "gpu,conv2d_nchw.cuda,1x%1x14x14:float32;32x%1x3x3:float32;(1 1);(1 1 1 1);(1 1);float32,"
                        "\"tile_f=-1,1,8,2;tile_y=-1,1,7,1;tile_x=-1,1,7,1;tile_rc=-1,%2\",%3\n")
                        .arg(16 * n)
                        .arg(8)
                        .arg(10 * n)
                        .toUtf8();
        QFile out(home_.filePath("best.csv"));
        QVERIFY(out.open(QIODevice::WriteOnly) && out.write(text) > 0);
        out.close();
        tab_->openLog(out.fileName());
        QTRY_VERIFY_WITH_TIMEOUT(list_->cells()->rowCount() == 8 && !tab_->isWorking(), 20'000);
        QVERIFY(!tab_->explored() && scatter_->isEmpty());
        QVERIFY2(state_->text().contains("too few"), qPrintable(state_->text()));
        const QString first = code_->toPlainText();
        QVERIFY(first.contains("blockIdx.z") && first.contains("threadIdx.x"));
        clickRow(5);
        QVERIFY(code_->toPlainText() != first);
        QVERIFY(tab_->exportTo(home_.filePath("best-out.csv")).isEmpty());
        QVERIFY(!tab_->exportTo(home_.filePath("best-out.svg")).isEmpty());  // no plot
    }

    // Many operators with one schedule each: their times are predicted, on both devices by one fit.
    void timesOfBestSchedulesArePredicted() {
        QByteArray text = "device,task,workload,config,time_us\n";
        for (const int slow : {1, 3})
            for (int c = 1; c <= 8; ++c)
                for (const int side : {7, 14, 28, 56})
                    text += QStringLiteral(
                                "gpu%1,conv2d_nchw.cuda,1x%2x%3x%3:float32;%2x%2x3x3:float32;(1 1);(1 1 1 1);"
                                "(1 1);float32,\"tile_f=-1,1,8,1;tile_y=-1,1,7,1;tile_x=-1,1,7,1\",%4\n")
                                .arg(slow)
                                .arg(16 * c)
                                .arg(side)
                                .arg(slow * (2 + 1e-3 * side * side * c * c))
                                .toUtf8();
        QFile out(home_.filePath("tuned.csv"));
        QVERIFY(out.open(QIODevice::WriteOnly) && out.write(text) > 0);
        out.close();
        tab_->openLog(out.fileName());
        QTRY_VERIFY_WITH_TIMEOUT(tab_->times() && !tab_->isWorking(), 60'000);
        QCOMPARE(list_->cells()->rowCount(), 32);
        QVERIFY2(state_->text().contains("mean error"), qPrintable(state_->text()));
        const ScheduleJudgement* first = tab_->times();
        QCOMPARE(first->devices.size(), std::size_t{2});
        // Sorted by the prediction; the current one stands in the plot, and a click there chooses a row.
        double before = 0;
        for (int row = 0; row < 32; ++row) {
            const double told = list_->model()->index(row, 0).data(ui::CellsModel::SortRole).toDouble();
            QVERIFY(told >= before);
            before = told;
        }
        const QString code = code_->toPlainText();
        for (int place = 0; place < 32; ++place) {
            if (place == tab_->current() || scatter_->pointAt(scatter_->placeOf(place)) != place) continue;
            QTest::mouseClick(scatter_, Qt::LeftButton, {}, scatter_->placeOf(place).toPoint());
            break;
        }
        QVERIFY(code_->toPlainText() != code);
        QVERIFY(scatter_->textAt(scatter_->placeOf(tab_->current())).contains("error "));
        QVERIFY2(state_->text().contains("fewer than ten"), qPrintable(state_->text()));
        QVERIFY(bars_->isEmpty());
        // A model has been fitted: it says nothing of a schedule.
        QVERIFY(!tab_->exportTo(home_.filePath("times.why.svg")).contains("no model"));
        QVERIFY(tab_->exportTo(home_.filePath("times.svg")).isEmpty());
        QVERIFY(tab_->exportTo(home_.filePath("times.csv")).isEmpty());
        auto* operators = page_->findChild<QComboBox*>("schedules.operator");
        QCOMPARE(operators->count(), 2);
        operators->setCurrentIndex(1);
        QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking(), 20'000);
        QCOMPARE(tab_->times(), first);
        QVERIFY(list_->model()->index(0, 0).data().toString() != QString("–"));
    }

    void itIsFoundAndOpensLogsOfTheWindow() {
        page_->tabs()->setCurrentIndex(0);
        auto* palette = window_->findChild<ui::CommandPalette*>();
        QTest::keyClick(window_.get(), Qt::Key_K, Qt::ControlModifier);
        QTRY_VERIFY(palette->isVisible());
        QTest::keyClicks(palette->line(), "schedule explorer");
        QTest::keyClick(palette->line(), Qt::Key_Return);
        QCOMPARE(page_->tabs()->currentWidget(), page_->scheduleKinds());
        // A log that is opened in the window comes to the tab, which says what is wrong with it.
        page_->tabs()->setCurrentIndex(0);
        QFile out(home_.filePath("broken.log"));
        QVERIFY(out.open(QIODevice::WriteOnly) && out.write("{\"a\": 1}\n") > 0);
        out.close();
        window_->studio().router.open(out.fileName());
        QCOMPARE(page_->tabs()->currentWidget(), page_->scheduleKinds());
        QTRY_VERIFY_WITH_TIMEOUT(!tab_->isWorking(), 20'000);
        QVERIFY2(state_->text().contains("no record"), qPrintable(state_->text()));
    }

private:
    SchedulesTab* tab_ = nullptr;
    ui::CellsTable* list_ = nullptr;
    ui::ScheduleScatter* scatter_ = nullptr;
    ui::NestCode* code_ = nullptr;
    ui::NestPicture* picture_ = nullptr;
    ui::ReasonBars* bars_ = nullptr;
    ui::Label* state_ = nullptr;
};

QTEST_MAIN(TestStudioSchedules)
#include "tst_studio_schedules.moc"
