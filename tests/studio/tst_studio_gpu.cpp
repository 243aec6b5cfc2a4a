// The GPU page with real mouse and keys: a kernel is run, zoomed, stepped, compared; a changed question dims it.

#include "app/window/gpu/counters_tab.h"
#include "app/window/gpu/gpu_page.h"
#include "app/window/gpu/occupancy_tab.h"
#include "app/window/main_window.h"
#include "app/window/studio.h"
#include "hardware/files/catalogue.h"
#include "learning/calibration.h"
#include "methods/gpu/gpu_choice.h"
#include "methods/kernel_method.h"
#include "methods/model/launches.h"
#include "support/studio_fixture.h"
#include "widgets/common/label.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/common/veil.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/gpu/activity_heat.h"
#include "widgets/gpu/cycle_stack_view.h"
#include "widgets/gpu/occupancy_view.h"
#include "widgets/gpu/warp_timeline.h"
#include "workload/kernel_source.h"

#include <QtWidgets>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioGpu : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        ui::initialiseApplicationLook();
        qputenv("ORRERY_CONFIG_HOME", home_.path().toUtf8());
        window_ = std::make_unique<MainWindow>();
        window_->resize(1400, 900);
        window_->show();
        QVERIFY(QTest::qWaitFor([this] { return window_->isReady(); }));
        ui::Theme::instance().setAnimated(false);
        page_ = window_->findChild<GpuPage*>();
        QVERIFY(page_);
        page_->setKernel(QStringLiteral("gemm m=256 n=256 k=128 fp16"));
        window_->document().reset(smallProject());
        window_->studio().layouts.showProject();
        window_->studio().router.show(page_);
        QTRY_VERIFY(page_->isVisible());
        QVERIFY(answered());
    }
    void init() { page_->tabs()->setCurrentIndex(0); }
    void cleanupTestCase() { window_.reset(); }

    // A kernel beyond the budget by waves drawn from it: the whole kernel's cycles, and where they lie.
    void longKernelsHaveAnInterval() {
        const auto loaded = loadHardware("jetson-agx-orin");
        QVERIFY(loaded);
        GpuQuestion question;
        question.hardware = std::make_shared<const Hardware>(loaded->hardware);
        question.kernel = "elementwise m=4096 n=4096 fp16";
        question.seconds = 2;
        Progress progress;
        const auto first = answerGpu(question, {}, progress);
        QVERIFY(first && !first->runs.front().seen.sample && !first->runs.front().seen.part.whole());
        QVERIFY(headlineOf(first->runs.front()).find(" to ") == std::string::npos);
        auto* choice = page_->findChild<QComboBox*>("gpu.sample");
        QVERIFY(choice);
        for (int i = 1; i < choice->count(); ++i) {
            question.sample = choice->itemData(i).toString().toStdString();
            const auto answer = answerGpu(question, {}, progress);
            QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
            const GpuRun& run = answer->runs.front();
            QVERIFY(run.seen.sample && run.seen.sample->low < run.seen.sample->high);
            QVERIFY(run.cycles() > 1.2 * static_cast<double>(run.seen.recording->cycles));
            QVERIFY(run.seen.part.blocks < run.seen.part.allBlocks);
            QVERIFY(headlineOf(run).find(" to ") != std::string::npos);
        }
    }

    // 192 blocks on 108 places: no wave can be passed, and a budget of 5 s is no leave to take minutes.
    void aSampleKeepsToItsBudget() {
        const auto loaded = loadHardware("a100-80-sxm");
        QVERIFY(loaded);
        GpuQuestion question;
        question.hardware = std::make_shared<const Hardware>(loaded->hardware);
        question.kernel = "gemm m=512 n=12288 k=4096 bf16";
        Progress progress;
        for (const char* kind : {"simpoint", "smarts"}) {
            question.sample = kind;
            const auto answer = answerGpu(question, {}, progress);
            QVERIFY(!answer);
            QCOMPARE(answer.error().code, std::string("gpu.sample"));
            QVERIFY2(answer.error().message.find("192 of the 192 blocks") != std::string::npos,
                     answer.error().message.c_str());
            QVERIFY(answer.error().expected.find("a budget of") != std::string::npos);
        }
    }

    // Counters are predicted from the code as soon as the kernel stands, and a run of all of it counts beside them.
    void countersArePredictedBesideThoseOfTheRun() {
        page_->tabs()->setCurrentWidget(page_->counters());
        QTRY_VERIFY_WITH_TIMEOUT(page_->counters()->told().has_value(), 20'000);
        auto* table = page_->findChild<ui::CellsTable*>("gpu.counters");
        QVERIFY(table);
        QCOMPARE(table->cells()->rowCount(), static_cast<int>(gpuCounters));
        QVERIFY(page_->answer() && page_->answer()->runs.front().seen.part.whole());
        const auto predicted = [&](int row) {
            return table->cells()->data(table->cells()->index(row, 1), Qt::DisplayRole).toString();
        };
        QVERIFY2(predicted(1).endsWith("B") && predicted(2).endsWith("B"), qPrintable(predicted(1)));
        QVERIFY(!predicted(0).endsWith("B"));
        for (std::size_t c = 0; c < gpuCounters; ++c) {
            const CounterAnswer& told = (*page_->counters()->told())[c];
            QVERIFY(told.low <= told.value && told.value <= told.high);
            QVERIFY(table->cells()->data(table->cells()->index(static_cast<int>(c), 4), Qt::DisplayRole).toString() !=
                    QString("–"));
        }
        const QString file = home_.filePath("counters.csv");
        QCOMPARE(page_->exportView(file), QString());
        QFile written(file);
        QVERIFY(written.open(QIODevice::ReadOnly));
        QCOMPARE(written.readAll().count('\n'), static_cast<int>(gpuCounters) + 1);
        // What is compared beside it is no other kernel, and asks for no counters anew.
        const CounterAnswers first = *page_->counters()->told();
        const auto counted = [&](int row) {
            return table->cells()->data(table->cells()->index(row, 4), Qt::DisplayRole).toString();
        };
        auto* budget = page_->findChild<QSpinBox*>("gpu.budget");
        budget->setValue(budget->value() + 1);
        QVERIFY(page_->counters()->told() && counted(0) != QString("–"));
        budget->setValue(budget->value() - 1);
        // Another kernel has its own, and nothing of the run.
        const QString before = page_->findChild<QComboBox*>("gpu.kernel")->currentText();
        page_->setKernel("gemm m=512 n=512 k=256 fp16");
        QVERIFY(!page_->counters()->told());
        QTRY_VERIFY_WITH_TIMEOUT(page_->counters()->told().has_value(), 20'000);
        QVERIFY((*page_->counters()->told())[0].value > first[0].value);  // eight times the work takes more cycles
        QCOMPARE(counted(0), QString("–"));
        // Of what is no kernel nothing is shown and nothing written.
        page_->setKernel("gemm m=256 n=256 j=1 fp16");
        QVERIFY(!page_->counters()->told());
        QCOMPARE(table->cells()->rowCount(), 0);
        QVERIFY(!page_->exportView(home_.filePath("none.csv")).isEmpty());
        QVERIFY(!page_->findChild<ui::Label*>("gpu.counters.state")->text().isEmpty());
        page_->setKernel(before);
        QTRY_VERIFY_WITH_TIMEOUT(page_->counters()->told().has_value(), 20'000);
        QCOMPARE((*page_->counters()->told())[0].value, first[0].value);
        QVERIFY(counted(0) != QString("–"));
        // Unseen, nothing is worked out.
        page_->tabs()->setCurrentIndex(0);
        page_->setKernel("gemm m=512 n=256 k=128 fp16");
        QTest::qWait(200);
        QVERIFY(!page_->counters()->told());
        page_->tabs()->setCurrentWidget(page_->counters());
        QTRY_VERIFY_WITH_TIMEOUT(page_->counters()->told().has_value(), 20'000);
        page_->setKernel(before);
    }

    // Counters are of the design that stands: one that is asked late for an earlier one does not answer.
    void countersFollowTheDesign() {
        page_->tabs()->setCurrentWidget(page_->counters());
        QTRY_VERIFY_WITH_TIMEOUT(page_->counters()->told().has_value(), 20'000);
        const CounterAnswers onH100 = *page_->counters()->told();
        auto* state = page_->findChild<ui::Label*>("gpu.counters.state");
        const auto draw = [&](const char* device) {
            Project project = smallProject();
            project.hardware = {loadHardware(device).value().hardware};
            project.scenarios.front().hardware = project.hardware.front().name;
            window_->document().reset(std::move(project));
        };
        page_->setKernel("gemm m=512 n=512 k=256 fp16");  // under way while the design changes
        draw("mi300a");
        QTRY_VERIFY(state->text().contains("does not cover this GPU"));
        QTest::qWait(300);
        QVERIFY(!page_->counters()->told() && state->text().contains("does not cover this GPU"));
        page_->setKernel("gemm m=256 n=256 k=128 fp16");
        draw("t4");
        QTRY_VERIFY_WITH_TIMEOUT(page_->counters()->told().has_value(), 20'000);
        QVERIFY((*page_->counters()->told())[0].value != onH100[0].value);
        window_->document().reset(smallProject());
        QTRY_VERIFY_WITH_TIMEOUT(page_->counters()->told() && (*page_->counters()->told())[0].value == onH100[0].value,
                                 20'000);
        QVERIFY(answered());
    }

    // The workload's kernels come first, by their share of a pass: shares fall, add up to one pass and are
    // tile-hybrid's.
    void theDearestKernelStandsFirst() {
        const auto gpu = gpuDrawing(window_->document().hardware());
        const WorkloadPtr workload = window_->studio().live.workload();
        QVERIFY(gpu && workload);
        const PassKernels pass = kernelsByTime(*workload, gpu->view);
        QVERIFY(pass.kernels.size() > 2);
        double sum = 0, longest = 0;
        for (const PassKernel& each : pass.kernels) sum += each.share;
        QVERIFY(std::abs(sum - 1) < 1e-9);
        QVERIFY(std::ranges::is_sorted(pass.kernels, std::greater(), &PassKernel::share));
        // By the method's own answer about the whole pass, no operator takes more than the first kernel's share.
        const auto pricer = findKernelMethod(pass.method)->bind(gpu->view, shippedCalibrations().set);
        QVERIFY(pricer);
        double whole = 0;
        std::string dearest;
        std::map<std::string, double> seconds;
        for (const Launch& launch : launchesOf(*workload, {}).launches) {
            const std::string text = kernelSource(launch.kernel);
            const double time = launch.count * launch.scale * (*pricer)->price(launch.kernel).seconds;
            whole += time;
            if ((seconds[text] += time) > longest) longest = seconds[text], dearest = text;
        }
        QVERIFY2(dearest.ends_with(pass.kernels.front().text), dearest.c_str());
        QVERIFY(std::abs(longest / whole - pass.kernels.front().share) < 1e-9);
        auto* box = page_->findChild<QComboBox*>("gpu.kernel");
        for (std::size_t i = 0; i < std::min<std::size_t>(3, pass.kernels.size()); ++i) {
            QCOMPARE(box->itemText(static_cast<int>(i)), QString::fromStdString(pass.kernels[i].text));
            QCOMPARE(box->itemData(static_cast<int>(i)).toString(), ui::percentText(pass.kernels[i].share));
        }
        // What is written in the field is the kernel alone.
        const QString before = box->currentText();
        box->setCurrentIndex(0);
        QCOMPARE(box->currentText(), QString::fromStdString(pass.kernels.front().text));
        page_->setKernel(before);
    }

    void theFirstLookIsFilled() {
        QCOMPARE(page_->answer()->runs.size(), std::size_t{1});
        const auto& run = page_->answer()->runs.front();
        QVERIFY(run.seen.part.whole());
        QVERIFY(headline().contains("cycles"));
        QVERIFY(!window_->document().isModified());
        // No kernel is faster than its roofline.
        QVERIFY(run.computeCycles > 0 && run.operandCycles > 0 && run.dramCycles > 0 && run.l2Cycles > 0);
        const auto cycles = static_cast<double>(run.seen.recording->cycles);
        QVERIFY(cycles > std::max(run.computeCycles, run.memoryCycles()));
        QVERIFY2(headline().contains(ui::countText(cycles)) && cycles >= 1000, qPrintable(headline()));
        // The page runs the program that gpu-cycle runs, and says which.
        const auto gpu = gpuDrawing(window_->document().hardware());
        const auto kernel = kernelFromSource(page_->answer()->question.kernel);
        QVERIFY(gpu && kernel);
        const auto chosen = chosenProgram(*kernel, gpu->view, gpu->drawn);
        QVERIFY(chosen && run.seen.result.header.sharedBytes == chosen->build(0)->header().sharedBytes);
        QVERIFY2(headline().contains(QString::fromStdString(chosen->name)), qPrintable(headline()));
        // Products have been measured beside simulated ones.
        QVERIFY(run.interval && run.interval->first < run.seconds() && run.seconds() < run.interval->second);
        QVERIFY2(headline().contains(" to "), qPrintable(headline()));
    }

    // The memory that binds is named, and what the other allows stands beside it.
    void theBoundOfMemoryIsNamed() {
        const auto& bar = page_->findChild<ui::CycleStackView*>()->bars().front();
        const auto& run = page_->answer()->runs.front();
        QCOMPARE(bar.memory(), run.memoryCycles());
        const QString text = ui::CycleStackView::memoryText(bar);
        QVERIFY2(text.contains(run.l2Binds() ? "L2: " : "DRAM: ") && text.contains(run.l2Binds() ? "(DRAM" : "(L2"),
                 qPrintable(text));
        ui::CycleStackBar other = bar;
        std::swap(other.dram, other.l2);
        QVERIFY(ui::CycleStackView::memoryText(other) != text);
        QCOMPARE(other.memory(), bar.memory());
    }

    void aStoppedRunShowsWhatItHadReached() {
        const QString before = page_->findChild<QComboBox*>("gpu.kernel")->currentText();
        auto* button = page_->findChild<QPushButton*>("gpu.run");
        page_->setKernel("gemm m=4096 n=4096 k=4096 fp16");
        QTest::mouseClick(button, Qt::LeftButton);
        auto* progress = page_->findChild<QProgressBar*>();
        QTRY_VERIFY_WITH_TIMEOUT(progress->value() > 0, 60000);
        QCOMPARE(button->text(), QString("Stop"));
        QTest::mouseClick(button, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!page_->isBusy(), 60000);
        QVERIFY(page_->answer()->stopped() && !page_->late());
        const auto& run = page_->answer()->runs.front();
        QVERIFY(run.seen.recording->cycles > 0 && !run.interval);
        QVERIFY(run.seen.result.finishedBlocks < run.seen.result.header.blocks());
        QVERIFY2(headline().startsWith("Stopped after"), qPrintable(headline()));
        // As far as it came it is no faster than its bounds.
        QVERIFY(static_cast<double>(run.seen.recording->cycles) > std::max(run.computeCycles, run.memoryCycles()));
        page_->setKernel(before);
        page_->run();
        QVERIFY(answered());
        QVERIFY(!page_->answer()->stopped());
    }

    void theWheelZoomsAndADragMoves() {
        auto* view = page_->timeline(0);
        QTRY_VERIFY(view->width() > 300);
        const double before = view->length();
        wheel(view, QPoint(view->width() / 2, view->height() / 2), 120);
        QVERIFY(view->length() < before);
        const double from = view->from();
        drag(view, QPoint(view->width() / 2, view->height() / 2), QPoint(view->width() / 2 - 90, view->height() / 2));
        QVERIFY(view->from() > from);
        QTest::mouseDClick(view, Qt::LeftButton, {}, QPoint(view->width() / 2, view->height() / 2));
        QCOMPARE(view->length(), static_cast<double>(view->recording()->recorded));
    }

    void aClickSetsTheCursorAndNamesTheInstruction() {
        auto* view = page_->timeline(0);
        view->setView(0, 300);
        std::size_t warp = 0;
        while (view->recording()->warps[warp].empty()) ++warp;
        const auto& span = view->recording()->warps[warp].front();
        const QRectF row = view->rowOf(warp);
        const QPoint at(static_cast<int>(view->xOf(span.begin + 0.5)), static_cast<int>(row.center().y()));
        QSignalSpy chosen(view, &ui::WarpTimeline::instructionChosen);
        QTest::mouseClick(view, Qt::LeftButton, Qt::ControlModifier, at);
        QCOMPARE(view->cursor(), qint64{span.begin});
        QCOMPARE(chosen.size(), 1);
        QCOMPARE(chosen.front().front().toInt(), static_cast<int>(span.instruction));
        QVERIFY(!view->textAt(at).isEmpty());
        QTest::keyClick(view, Qt::Key_Escape);
        QCOMPARE(view->highlighted(), -1);
    }

    void stepsGoFromIssueToIssue() {
        auto* view = page_->timeline(0);
        view->setCursor(0);
        QTest::mouseClick(button("gpu.forward"), Qt::LeftButton);
        const qint64 first = view->cursor();
        QVERIFY(issuesAt(first));
        QTest::mouseClick(button("gpu.forward"), Qt::LeftButton);
        QVERIFY(view->cursor() > first && issuesAt(view->cursor()));
        QTest::mouseClick(button("gpu.back"), Qt::LeftButton);
        QCOMPARE(view->cursor(), first);
        view->setFocus();
        QTest::keyClick(view, Qt::Key_Right);
        QVERIFY(view->cursor() > first);
        QTest::mouseClick(button("gpu.play"), Qt::LeftButton);
        const qint64 there = view->cursor();
        QTRY_VERIFY(view->cursor() > there);
        QTest::mouseClick(button("gpu.play"), Qt::LeftButton);
        QTest::mouseClick(button("gpu.busiest"), Qt::LeftButton);
        QCOMPARE(view->cursor(),
                 static_cast<qint64>(view->recording()->busiest(static_cast<std::uint64_t>(view->length()))));
    }

    void aChangedQuestionDimsTheAnswer() {
        auto* veil = page_->findChild<ui::Veil*>("gpu.veil");
        QVERIFY(veil && !veil->isDown());
        auto* text = page_->findChild<QLineEdit*>("gpu.kernel.text");
        const QString before = text->text();
        text->setFocus();
        text->selectAll();
        QTest::keyClicks(text, "gemm m=256 n=128 k=128 fp16");
        QVERIFY(veil->isDown() && veil->why().contains("previous"));
        QVERIFY(!page_->showsAnswer());
        QTest::keyClick(text, Qt::Key_Return);
        QVERIFY(answered());
        QVERIFY(!veil->isDown() && page_->showsAnswer());
        page_->setKernel(before);
        page_->run();
        QVERIFY(answered());
    }

    void whatIsNoKernelIsRefusedInWords() {
        const QString before = page_->findChild<QComboBox*>("gpu.kernel")->currentText();
        page_->setKernel("gemm m=256 n=256 j=1 fp16");
        page_->run();
        QVERIFY(QTest::qWaitFor([this] { return !page_->isBusy(); }, 20000));
        static const QRegularExpression field("\\bj\\b");
        QVERIFY2(headline().contains(field), qPrintable(headline()));
        page_->setKernel(before);
        QVERIFY(headline().contains("cycles"));
    }

    void aSecondDesignStandsBeside() {
        auto* change = page_->findChild<QComboBox*>("gpu.change");
        change->setCurrentIndex(change->findData("tensor-rate"));
        QTest::mouseClick(page_->findChild<QPushButton*>("gpu.run"), Qt::LeftButton);
        QVERIFY(answered());
        QCOMPARE(page_->answer()->runs.size(), std::size_t{2});
        QTRY_VERIFY(page_->timeline(1)->isVisible());
        const auto& runs = page_->answer()->runs;
        QCOMPARE(runs[0].seen.result.counts.warpInstructions, runs[1].seen.result.counts.warpInstructions);
        // Order alone moves cycles by a little.
        QVERIFY(static_cast<double>(runs[1].seen.recording->cycles) <=
                1.01 * static_cast<double>(runs[0].seen.recording->cycles));
        QVERIFY(headline().contains("Tensor rate"));
        // Both show the same cycles.
        wheel(page_->timeline(1), page_->timeline(1)->rect().center(), 120);
        QCOMPARE(page_->timeline(0)->length(), page_->timeline(1)->length());
        change->setCurrentIndex(0);
        page_->run();
        QVERIFY(answered());
        QVERIFY(!page_->timeline(1)->isVisible());
    }

    void tablesAndHeatShowTheRun() {
        page_->tabs()->setCurrentIndex(3);
        auto* table = page_->instructions();
        const auto& recording = *page_->answer()->runs.front().seen.recording;
        QCOMPARE(table->model()->rowCount(), static_cast<int>(recording.instructions.size()));
        const QModelIndex row = table->model()->index(2, 1);
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(row).center());
        QVERIFY(page_->timeline(0)->highlighted() >= 0);
        page_->tabs()->setCurrentIndex(1);
        auto* heat = page_->findChild<ui::ActivityHeat*>("gpu.activity");
        QTRY_VERIFY(heat->height() > 200);
        QVERIFY(heat->rows().size() > 5);
        for (const ui::ActivityRow& each : heat->rows()) QVERIFY(each.mean >= 0 && each.mean <= 1);
        QTest::mouseClick(heat, Qt::LeftButton, {}, heat->rectOf(0).center().toPoint());
        QCOMPARE(page_->tabs()->currentIndex(), 0);
    }

    void theCalculatorAnswersADrag() {
        page_->tabs()->setCurrentIndex(4);
        auto* view = page_->occupancy()->view();
        QTRY_VERIFY(view->width() > 300);
        const QString before = result();
        const QPoint at = view->placeOf(gpusim::BlockNeed::Registers, 200).toPoint();
        QTest::mouseClick(view, Qt::LeftButton, {}, at);
        QVERIFY(std::abs(page_->occupancy()->block().registers - 200) <= 3);
        QVERIFY(result() != before);
        QTest::mouseClick(page_->findChild<QPushButton*>("gpu.occupancy.reset"), Qt::LeftButton);
        QCOMPARE(result(), before);
    }

    void everyViewIsExported() {
        const auto& run = *page_->timeline(0);
        for (const char* ending : {"svg", "png", "csv", "tex"}) {
            const QString file = home_.filePath(QStringLiteral("warps.") + ending);
            QCOMPARE(run.exportTo(file), QString());
            QVERIFY(QFileInfo(file).size() > 500);
            for (const auto& [name, problem] :
                 {std::pair{"heat.", page_->findChild<ui::ActivityHeat*>("gpu.activity")
                                         ->exportTo(home_.filePath(QStringLiteral("heat.") + ending))},
                  {"stack.", page_->findChild<ui::CycleStackView*>()->exportTo(
                                 home_.filePath(QStringLiteral("stack.") + ending))},
                  {"occupancy.",
                   page_->occupancy()->view()->exportTo(home_.filePath(QStringLiteral("occupancy.") + ending))}}) {
                QCOMPARE(problem, QString());
                QVERIFY(QFileInfo(home_.filePath(QLatin1String(name) + ending)).size() > 100);
            }
        }
    }

    // The trace of the warps says of every state as many warp cycles as the run counted.
    void theWarpsAreWrittenAsATrace() {
        page_->tabs()->setCurrentIndex(0);
        const QString file = home_.filePath("warps.json");
        QCOMPARE(page_->exportView(file), QString());
        QFile read(file);
        QVERIFY(read.open(QIODevice::ReadOnly));
        const QJsonObject trace = QJsonDocument::fromJson(read.readAll()).object();
        const double cycle = trace["otherData"].toObject()["cycle_ns"].toDouble() / 1000;  // in microseconds
        QVERIFY(cycle > 0);
        std::map<QString, double> cycles;
        std::map<int, double> ended;
        for (const QJsonValue& value : trace["traceEvents"].toArray()) {
            const QJsonObject event = value.toObject();
            if (event["ph"].toString() != "X") continue;
            double& end = ended[event["tid"].toInt()];
            QVERIFY(event["ts"].toDouble() >= end - 1e-9);
            end = event["ts"].toDouble() + event["dur"].toDouble();
            cycles[event["cat"].toString()] += event["dur"].toDouble() / cycle;
        }
        const gpusim::Recording& recording = *page_->timeline(0)->recording();
        QCOMPARE(recording.recorded, recording.cycles);
        for (std::size_t s = 1; s < gpusim::warpStateCount; ++s) {
            const auto state = static_cast<gpusim::WarpState>(s);
            const double counted = static_cast<double>(recording.warpCycles[s]);
            QVERIFY2(std::abs(cycles[QString::fromUtf8(toText(state).data(), toText(state).size())] - counted) <=
                         1e-3 * counted + 1,
                     toText(state).data());
        }
        page_->tabs()->setCurrentIndex(3);
        QVERIFY(!page_->exportView(file).isEmpty());  // instructions are no timeline
        QCOMPARE(page_->exportView(home_.filePath("instructions.tex")), QString());
        QFile table(home_.filePath("instructions.tex"));
        QVERIFY(table.open(QIODevice::ReadOnly) && table.readAll().contains("\\toprule"));
    }

    void aDesignThatIsNoGpuSaysSo() {
        Project project = smallProject();
        project.hardware = {loadHardware("tpu-v1-like").value().hardware};
        project.scenarios.front().hardware = project.hardware.front().name;
        window_->document().reset(std::move(project));
        QTRY_VERIFY(!page_->tabs()->isVisible());
        window_->document().reset(smallProject());
        QVERIFY(answered());
    }

    // AMD calls warps wavefronts, of 64 lanes, and so does the page.
    void wavefrontsAreNamed() {
        QCOMPARE(page_->tabs()->tabText(0), QString("Warps"));
        Project project = smallProject();
        project.hardware = {loadHardware("mi300a").value().hardware};
        project.scenarios.front().hardware = project.hardware.front().name;
        window_->document().reset(std::move(project));
        QTRY_COMPARE(page_->tabs()->tabText(0), QString("Wavefronts"));
        page_->setKernel(QStringLiteral("gemm m=64 n=64 k=64 fp16"));
        page_->run();
        QVERIFY(answered());
        QCOMPARE(page_->timeline(0)->recording()->lanes, 64);
        page_->tabs()->setCurrentIndex(4);
        QVERIFY2(result().contains("wavefronts"), qPrintable(result()));
        QVERIFY(page_->findChild<QSpinBox*>("gpu.occupancy.threads")->toolTip().contains("wavefronts of 64"));
        window_->document().reset(smallProject());
        QTRY_COMPARE(page_->tabs()->tabText(0), QString("Warps"));
        page_->setKernel(QStringLiteral("gemm m=256 n=256 k=128 fp16"));
        page_->run();
        QVERIFY(answered());
    }

    // The page shows the operator that the example asks about, not what stood there before.
    void theExampleOpensWithItsOwnKernel() {
        window_->studio().router.leaveFirst();
        window_->studio().files.openExample(QStringLiteral("warps-of-a-product"));
        QVERIFY(page_->isVisible());
        auto* text = page_->findChild<QLineEdit*>("gpu.kernel.text");
        QTRY_VERIFY_WITH_TIMEOUT(text->text().contains("n=12288"), 60000);
        QVERIFY2(text->text().contains("m=512") && text->text().contains("k=4096"), qPrintable(text->text()));
        // Its kernels are alike at both ends: the line shows the beginning, the list shows each in full.
        QVERIFY(text->text().startsWith("gemm") && text->cursorPosition() == 0);
        auto* kernels = page_->findChild<QComboBox*>("gpu.kernel");
        QTest::mouseClick(kernels, Qt::LeftButton, Qt::NoModifier, QPoint(kernels->width() - 8, kernels->height() / 2));
        QTRY_VERIFY(kernels->view()->isVisible());
        QVERIFY2(kernels->view()->viewport()->width() >= kernels->view()->sizeHintForColumn(0),
                 qPrintable(QString::number(kernels->view()->viewport()->width())));
        kernels->hidePopup();
        // It is run at once; nobody need wait for it here.
        QVERIFY(page_->isBusy());
        page_->stop();
        QTRY_VERIFY_WITH_TIMEOUT(!page_->isBusy(), 60000);
    }

private:
    bool answered() {
        return QTest::qWaitFor([this] { return !page_->isBusy() && page_->answer() && !page_->late(); }, 120000);
    }
    QToolButton* button(const char* id) const { return page_->findChild<QToolButton*>(QLatin1String(id)); }
    QString headline() const { return page_->findChild<ui::Label*>("gpu.headline")->text(); }
    QString result() const { return page_->findChild<ui::Label*>("gpu.occupancy.result")->text(); }
    bool issuesAt(qint64 cycle) const {
        for (const auto& spans : page_->timeline(0)->recording()->warps)
            for (const auto& span : spans)
                if (span.state == gpusim::WarpState::Issue && span.begin == static_cast<std::uint32_t>(cycle))
                    return true;
        return false;
    }
    static void wheel(QWidget* on, QPoint at, int delta) {
        QWheelEvent event(at, on->mapToGlobal(at), {}, {0, delta}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                          false);
        QApplication::sendEvent(on, &event);
    }
    static void drag(QWidget* on, QPoint from, QPoint to) {
        QTest::mousePress(on, Qt::LeftButton, {}, from);
        for (int k = 1; k <= 5; ++k) QTest::mouseMove(on, from + (to - from) * k / 5);
        QTest::mouseRelease(on, Qt::LeftButton, {}, to);
    }

    QTemporaryDir home_;
    std::unique_ptr<MainWindow> window_;
    GpuPage* page_ = nullptr;
};

QTEST_MAIN(TestStudioGpu)
#include "tst_studio_gpu.moc"
