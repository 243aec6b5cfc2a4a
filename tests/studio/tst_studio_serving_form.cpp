// The folded sections of the serving form with real mouse and keys: every edit is one step of the undo list and reaches
// the run.

#include "app/document/commands/serving_edits.h"
#include "app/window/main_window.h"
#include "app/window/serving/serving_fields.h"
#include "app/window/serving/serving_form.h"
#include "app/window/serving/serving_page.h"
#include "methods/method.h"
#include "methods/system/planned_fleet.h"
#include "support/serving_window.h"
#include "widgets/common/fold.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/evidence/cells_model.h"

#include <QtWidgets>

#include <algorithm>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioServingForm : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { ui::initialiseApplicationLook(); }
    void init() {
        QVERIFY(serving_.open(ServingWindow::shortQuestion()));
        window_ = serving_.window.get();
        page_ = serving_.page;
    }
    void cleanup() { serving_.window.reset(); }

    void aSectionFoldsByMouseAndKey() {
        auto* head = page_->findChild<ui::FoldHead*>("serving.speculation");
        QVERIFY(head && !head->summary().isEmpty());
        auto* drafts = page_->findChild<QSpinBox*>("serving.speculation.drafts");
        QVERIFY(!drafts->isVisible());
        reveal(head);
        QTest::mouseClick(head, Qt::LeftButton);
        QVERIFY(drafts->isVisible());
        head->setFocus();
        QTest::keyClick(head, Qt::Key_Space);
        QVERIFY(!drafts->isVisible());
        QVERIFY(!window_->document().isModified());
    }

    void everyControlIsNamedAndExplained() {
        for (const QWidget* each : page_->form()->findChildren<QWidget*>()) {
            const bool control = qobject_cast<const QAbstractButton*>(each) || qobject_cast<const QComboBox*>(each) ||
                                 qobject_cast<const QAbstractSpinBox*>(each) ||
                                 qobject_cast<const ui::ValueEdit*>(each);
            if (!control || each->objectName().startsWith("qt_")) continue;
            QVERIFY2(!each->objectName().isEmpty(), each->metaObject()->className());
            QVERIFY2(!each->accessibleName().isEmpty(), qPrintable(each->objectName()));
            QVERIFY2(!each->toolTip().isEmpty(), qPrintable(each->objectName()));
        }
    }

    // On an array, an NPU or a CPU, too, the time predictor that is shown is the one that answers. Those that cover the
    // device can be chosen; of the others the tip says why not.
    void whoPricesIsChosenOnEveryKindOfDevice() {
        auto* devices = page_->findChild<QComboBox*>("serving.device");
        auto* methods = page_->findChild<QComboBox*>("serving.method");
        const auto choose = [&](QComboBox* box, const QString& data) {
            box->setCurrentIndex(box->findData(data));
            QVERIFY2(box->currentIndex() >= 0, qPrintable(data));
            emit box->activated(box->currentIndex());
            QVERIFY(answered());
        };
        const auto enabled = [&](const QString& id) {
            const int at = methods->findData(id);
            return at >= 0 && methods->model()->flags(methods->model()->index(at, 0)).testFlag(Qt::ItemIsEnabled);
        };
        // Few lengths: a method that takes its time prices few points.
        ServingStudy question = ServingWindow::shortQuestion();
        question.scenario.pools.resize(1);
        question.traffic.requests = 20;
        question.traffic.prompt = {.kind = LengthKind::Fixed, .mean = 256};
        question.traffic.output = {.kind = LengthKind::Fixed, .mean = 16};
        window_->document().apply(setServingEdit(*window_->document().state(), question));
        QVERIFY(answered());
        const QString unchosen = QString::fromStdString(TimeSlot{}.method);
        const QString onGpu = methods->itemText(methods->findData(unchosen));
        QVERIFY(enabled("tile-wave"));
        for (const char* id : {"tpu-v4", "epyc-9654"}) {
            choose(devices, id);
            const auto fleet = fleetOf(page_->question().scenario, window_->document().hardware());
            QVERIFY2(fleet, fleet ? "" : fleet.error().message.c_str());
            const QString used = QString::fromStdString(fleet->pools.front().pricer);
            QVERIFY(used != unchosen);
            QVERIFY2(methods->currentText().contains(ui::qs(findMethod(used.toStdString())->card.title)),
                     qPrintable(methods->currentText()));
            QVERIFY(methods->toolTip().contains(used));
            QVERIFY(!enabled("tile-wave") && enabled(used));
            QVERIFY(!methods->itemData(methods->findData("tile-wave"), Qt::ToolTipRole).toString().isEmpty());
            choose(methods, used);
            QCOMPARE(serving().scenario.pools.front().time.method, used.toStdString());
            QCOMPARE(methods->currentData().toString(), used);
            choose(methods, unchosen);
        }
        choose(devices, "h100-sxm");
        QCOMPARE(methods->currentText(), onGpu);
        QVERIFY(enabled("tile-wave"));
    }

    // The host stays as it was said when another method is chosen.
    void whoPricesLeavesTheHostAsItWas() {
        ServingStudy question = ServingWindow::shortQuestion();
        question.scenario.pools.resize(1);
        question.scenario.pools.front().time.software = "eager";
        window_->document().apply(setServingEdit(*window_->document().state(), question));
        QVERIFY(answered());
        auto* methods = page_->findChild<QComboBox*>("serving.method");
        methods->setCurrentIndex(methods->findData("tile-wave"));
        emit methods->activated(methods->currentIndex());
        QVERIFY(answered());
        QCOMPARE(serving().scenario.pools.front().time.method, std::string("tile-wave"));
        QCOMPARE(serving().scenario.pools.front().time.software, std::string("eager"));
    }

    // Of a device that is chosen the numbers are those that vLLM 0.27.1 would take there
    // (EngineArgs.get_batch_defaults), until a person says others.
    void vllmBeginsAsItWouldOnTheChosenDevice() {
        ServingStudy question = ServingWindow::shortQuestion();
        question.scenario.pools.resize(1);
        question.scenario.pools.front().scheduler = {};
        question.scenario.pools.front().scheduler.id = "vllm-v1";
        window_->document().apply(setServingEdit(*window_->document().state(), question));
        QVERIFY(answered());
        auto* devices = page_->findChild<QComboBox*>("serving.device");
        const auto choose = [&](const QString& id) {
            devices->setCurrentIndex(devices->findData(id));
            emit devices->activated(devices->currentIndex());
            QVERIFY(answered());
        };
        const auto numbers = [this] {
            const SchedulerSpec& scheduler = page_->question().scenario.pools.front().scheduler;
            return std::pair(scheduler.maxSequences, scheduler.tokenBudget);
        };
        choose("h100-sxm");
        QCOMPARE(numbers(), std::pair(1024, 8192));
        QVERIFY(!page_->findChild<ui::Label*>("serving.notes")->isVisible());
        choose("a100-80-sxm");
        QCOMPARE(numbers(), std::pair(256, 2048));
        page_->findChild<QDoubleSpinBox*>("serving.option.maxSequences")->setValue(64);
        choose("h100-sxm");
        QCOMPARE(numbers(), std::pair(64, 2048));
    }

    // Of a trace the means are not asked for; other lengths can be chosen without giving up its times.
    void lengthsOfATraceAreSaidAsSuch() {
        auto* lengths = page_->findChild<QComboBox*>("serving.lengths");
        auto* prompt = page_->findChild<QSpinBox*>("serving.prompt");
        reveal(prompt);
        QVERIFY(prompt->isVisible());
        chooseTrace("arrival,prompt,output\n0,300,20\n0.5,400,30\n1,500,20\n");
        QVERIFY(serving_.answered());
        QCOMPARE(lengths->currentData().toInt(), static_cast<int>(LengthKind::Trace));
        QVERIFY(lengths->isEnabled() && !prompt->isVisible());
        lengths->setCurrentIndex(lengths->findData(static_cast<int>(LengthKind::Fixed)));
        emit lengths->activated(lengths->currentIndex());
        QVERIFY(prompt->isVisible());
        QCOMPARE(page_->question().traffic.arrivals.kind, ArrivalKind::Trace);
        QCOMPARE(page_->question().traffic.prompt.kind, LengthKind::Fixed);
        QVERIFY(serving_.answered());
        QCOMPARE(page_->runs().front()->stream->size(), std::size_t{3});
    }

    // From a trace back to drawn arrivals: the number of requests of before, not none, which never ends.
    void theNumberOfRequestsComesBackAfterATrace() {
        chooseTrace("arrival,prompt,output\n0,300,20\n0.5,400,30\n1,500,20\n");
        QVERIFY(serving_.answered());
        QCOMPARE(page_->question().traffic.requests, 0);
        QCOMPARE(page_->runs().front()->stream->size(), std::size_t{3});
        const auto* requests = page_->findChild<QSpinBox*>("serving.traffic.requests");
        QCOMPARE(requests->text(), QString("all of them"));
        auto* arrivals = page_->findChild<QComboBox*>("serving.arrivals");
        for (const ArrivalKind kind : {ArrivalKind::Poisson, ArrivalKind::Trace, ArrivalKind::ClosedLoop}) {
            arrivals->setCurrentIndex(arrivals->findData(static_cast<int>(kind)));
            emit arrivals->activated(arrivals->currentIndex());
            QCOMPARE(page_->question().traffic.requests, 150);
        }
        QVERIFY(serving_.answered());
        QCOMPARE(page_->runs().front()->stream->size(), std::size_t{150});
    }

    // Of a long name both ends are read, whole letters; the tip has all of it.
    void theNameOfATraceFitsItsButton() {
        const QString name = "AzureLLMInferenceTrace_of_a_long_conversation_2023.csv";
        chooseTrace("arrival,prompt,output\n0,300,20\n0.5,400,30\n", name);
        auto* button = page_->findChild<QPushButton*>("serving.trace");
        QTRY_VERIFY(button->toolTip().endsWith(name));
        QVERIFY2(button->text().startsWith("Azure") && button->text().endsWith(".csv"), qPrintable(button->text()));
        QStyleOptionButton option;
        option.initFrom(button);
        const QRect room = button->style()->subElementRect(QStyle::SE_PushButtonContents, &option, button);
        QVERIFY2(button->fontMetrics().horizontalAdvance(button->text()) <= room.width(), qPrintable(button->text()));
    }

    // The window points at its own fields, not at keys of a file.
    void columnsOfNoKnownKindAreAskedFor() {
        auto* head = page_->findChild<ui::FoldHead*>("serving.trace");
        chooseTrace("when,asked,said\n0,300,20\n0.5,400,30\n");
        QVERIFY(QTest::qWaitFor([this] { return !page_->isBusy(); }, 20000));
        const QString said = page_->findChild<ui::Label*>("serving.headline")->text();
        QVERIFY2(said.contains("Reading the trace") && said.contains("Prompts"), qPrintable(said));
        QVERIFY2(!said.contains("kind:"), qPrintable(said));
        QVERIFY(head->isChecked());
        typeInto(page_->findChild<QLineEdit*>("serving.traffic.trace.arrival"), "when");
        typeInto(page_->findChild<QLineEdit*>("serving.traffic.trace.prompt"), "asked");
        typeInto(page_->findChild<QLineEdit*>("serving.traffic.trace.output"), "said");
        QVERIFY(QTest::qWaitFor([this] { return page_->showsAnswer(); }, 20000));
        QCOMPARE(page_->runs().front()->stream->size(), std::size_t{2});
    }

    void draftsAreOneStepAndReachTheRun() {
        open("serving.speculation");
        const double before = page_->runs().front()->metrics.tpot.p50;
        auto* drafts = page_->findChild<QSpinBox*>("serving.speculation.drafts");
        typeInto(drafts, "4");
        QVERIFY(answered());
        QCOMPARE(serving().scenario.pools.front().speculation.drafts, 4);
        QCOMPARE(window_->document().undoStack()->count(), 1);
        // Free drafts of which 70 % stay make tokens cheaper.
        QVERIFY(page_->runs().front()->metrics.tpot.p50 < before);
        auto* acceptance = page_->findChild<ui::ValueEdit*>("serving.speculation.acceptance");
        QVERIFY(acceptance->isVisible());
        typeInto(acceptance, "150 %");
        QVERIFY(acceptance->diagnostic().has_value());
        QCOMPARE(serving().scenario.pools.front().speculation.acceptance, 0.7);
        typeInto(acceptance, "90 %");
        QCOMPARE(serving().scenario.pools.front().speculation.acceptance, 0.9);
        undo(2);
        QCOMPARE(page_->question().scenario.pools.front().speculation, SpeculationChoice{});
        QVERIFY(!window_->document().isModified());
    }

    void aDrafterFillsInWhatItsPaperReports() {
        open("serving.speculation");
        auto* preset = page_->findChild<QComboBox*>("serving.speculation.preset");
        reveal(preset);
        preset->setFocus();
        QTest::keyClick(preset, Qt::Key_Down);
        QVERIFY(answered());
        const SpeculationChoice& now = serving().scenario.pools.front().speculation;
        QVERIFY(now.drafts > 0 && now.draftSeconds > 0);
        QCOMPARE(window_->document().undoStack()->count(), 1);
    }

    void theClockIsAChoice() {
        open("serving.power");
        auto* clock = page_->findChild<QComboBox*>("serving.clock");
        reveal(clock);
        clock->setFocus();
        QTest::keyClick(clock, Qt::Key_Down);
        QCOMPARE(serving().scenario.pools.front().clock, ClockPolicy::Fixed);
        typeInto(page_->findChild<ui::ValueEdit*>("serving.clock_share"), "50 %");
        typeInto(page_->findChild<ui::ValueEdit*>("serving.power_cap"), "450 W");
        typeInto(page_->findChild<ui::ValueEdit*>("serving.dollars_per_hour"), "2.5");
        const PoolSpec& pool = serving().scenario.pools.front();
        QCOMPARE(pool.clockShare, 0.5);
        QCOMPARE(pool.powerCap, 450.0);
        QCOMPARE(pool.dollarsPerHour, 2.5);
        QCOMPARE(window_->document().undoStack()->count(), 4);
        QVERIFY(answered());
        QVERIFY(page_->runs().front()->metrics.dollarsPerMillionTokens > 0);
    }

    void theLineHasAnOrderAndAnEnd() {
        open("serving.line");
        auto* order = page_->findChild<QComboBox*>("serving.admission.order");
        reveal(order);
        order->setFocus();
        QTest::keyClick(order, Qt::Key_End);
        QCOMPARE(serving().scenario.pools.front().admission.order, AdmissionOrder::Deadline);
        typeInto(page_->findChild<QSpinBox*>("serving.admission.queue"), "1");
        auto* late = page_->findChild<QCheckBox*>("serving.admission.drop_late");
        reveal(late);
        QTest::mouseClick(late, Qt::LeftButton, {}, QPoint(8, late->height() / 2));
        QCOMPARE(serving().scenario.pools.front().admission,
                 (AdmissionSpec{.order = AdmissionOrder::Deadline, .queue = 1, .dropLate = true}));
        QCOMPARE(window_->document().undoStack()->count(), 1);  // in one go: one step
        QVERIFY(answered());
        const auto& run = *page_->runs().front();
        QCOMPARE(run.metrics.done + run.metrics.rejected, run.stream->size());
        window_->document().undoStack()->undo();
        QVERIFY(!window_->document().isModified());
    }

    void failuresAreAListAndHappen() {
        open("serving.failures");
        auto* replicas = page_->findChild<QSpinBox*>("serving.replicas");
        typeInto(replicas, "2");
        auto* add = page_->findChild<QPushButton*>("serving.failures.add");
        for (int i = 0; i < 2; ++i) {
            reveal(add);
            QTest::mouseClick(add, Qt::LeftButton);
        }
        QCOMPARE(serving().scenario.failures.size(), std::size_t{2});
        QCOMPARE(window_->document().undoStack()->count(), 3);
        typeInto(page_->findChild<ui::ValueEdit*>("serving.failures.0.at"), "1 s");
        typeInto(page_->findChild<ui::ValueEdit*>("serving.failures.0.lasting"), "500 ms");
        QCOMPARE(serving().scenario.failures[0].at, 1.0);
        QCOMPARE(serving().scenario.failures[0].lasting, 0.5);
        auto* remove = page_->findChild<QToolButton*>("serving.failures.1.remove");
        reveal(remove);
        QTest::mouseClick(remove, Qt::LeftButton);
        QCOMPARE(serving().scenario.failures.size(), std::size_t{1});
        QVERIFY(answered());
        const auto& events = page_->runs().front()->result.events;
        QVERIFY(std::ranges::any_of(events, [](const ServingEvent& e) { return e.kind == ServingEvent::Kind::Fail; }));
        undo(1);
        QCOMPARE(page_->question().scenario.failures.size(), std::size_t{2});
    }

    void aFleetGrowsWithItsLoad() {
        open("serving.autoscale");
        typeInto(page_->findChild<QSpinBox*>("serving.replicas"), "4");
        auto* on = page_->findChild<QCheckBox*>("serving.autoscale.on");
        auto* up = page_->findChild<ui::ValueEdit*>("serving.autoscale.up");
        QVERIFY(!up->isVisible());
        reveal(on);
        QTest::mouseClick(on, Qt::LeftButton, {}, QPoint(8, on->height() / 2));
        QVERIFY(serving().scenario.autoscale.interval > 0);
        QVERIFY(up->isVisible());
        typeInto(page_->findChild<ui::ValueEdit*>("serving.autoscale.interval"), "200 ms");
        typeInto(up, "5 %");
        QCOMPARE(serving().scenario.autoscale.up, 0.05);
        QVERIFY(answered());
        const auto& events = page_->runs().front()->result.events;
        QVERIFY(
            std::ranges::any_of(events, [](const ServingEvent& e) { return e.kind == ServingEvent::Kind::ScaleUp; }));
    }

    void transfersStandThereForPoolsApart() {
        auto* head = page_->findChild<ui::FoldHead*>("serving.transfer");
        QVERIFY(!head->isVisible());
        auto* split = page_->findChild<QCheckBox*>("serving.disaggregate");
        reveal(split);
        QTest::mouseClick(split, Qt::LeftButton, {}, QPoint(8, split->height() / 2));
        QVERIFY(answered());
        QVERIFY(head->isVisible());
        open("serving.transfer");
        auto* drawn = page_->findChild<QCheckBox*>("serving.transfer.drawn");
        QVERIFY(drawn->isChecked());
        reveal(drawn);
        QTest::mouseClick(drawn, Qt::LeftButton, {}, QPoint(8, drawn->height() / 2));
        // What was drawn is where one's own numbers begin.
        QVERIFY(serving().scenario.transfer.has_value());
        QCOMPARE(*serving().scenario.transfer, page_->runs().front()->fleet->transfer);
        typeInto(page_->findChild<ui::ValueEdit*>("serving.transfer.bandwidth"), "10 GB/s");
        QCOMPARE(serving().scenario.transfer->bytesPerSecond, 1e10);
    }

    void tenantsHaveFiguresOfTheirOwn() {
        open("serving.tenants");
        auto* add = page_->findChild<QPushButton*>("serving.tenants.add");
        for (int i = 0; i < 2; ++i) {
            reveal(add);
            QTest::mouseClick(add, Qt::LeftButton);
        }
        typeInto(page_->findChild<QLineEdit*>("serving.tenants.0.name"), "chat");
        typeInto(page_->findChild<ui::ValueEdit*>("serving.tenants.0.share"), "3");
        QVERIFY(answered());
        QCOMPARE(serving().scenario.tenants.size(), std::size_t{2});
        QCOMPARE(serving().scenario.tenants[0].name, std::string("chat"));
        const auto& tenants = page_->runs().front()->metrics.tenants;
        QCOMPARE(tenants.size(), std::size_t{2});
        QVERIFY(tenants[0].requests > tenants[1].requests);
        QCOMPARE(tenants[0].requests + tenants[1].requests, std::size_t{150});
        QVERIFY(figuresSay("chat: requests"));
        QVERIFY(!page_->findChild<ui::FoldHead*>("serving.adapters")->isVisible());
        typeInto(page_->findChild<QSpinBox*>("serving.tenants.1.adapters"), "20");
        QVERIFY(page_->findChild<ui::FoldHead*>("serving.adapters")->isVisible());
        QVERIFY(answered());
        QVERIFY(page_->runs().front()->metrics.adapterLoads > 0);
    }

    void aQuestionHasStages() {
        open("serving.stages");
        auto* add = page_->findChild<QPushButton*>("serving.stages.add");
        for (int i = 0; i < 2; ++i) {
            reveal(add);
            QTest::mouseClick(add, Qt::LeftButton);
        }
        QVERIFY(answered());
        QCOMPARE(serving().scenario.stages.size(), std::size_t{2});
        QVERIFY(serving().scenario.stages[0].pool.empty());
        QCOMPARE(serving().scenario.stages[1].pool, serving().scenario.pools.front().name);
        QCOMPARE(page_->runs().front()->metrics.stages.size(), std::size_t{2});
        undo(2);
        QVERIFY(answered());
        QVERIFY(page_->runs().front()->metrics.stages.empty());
    }

    void expertsStandThereForMixtures() {
        auto* head = page_->findChild<ui::FoldHead*>("serving.experts");
        QVERIFY(!head->isVisible());
        auto* model = page_->findChild<QComboBox*>("serving.model.source");
        const int at = model->findData("mixtral-8x7b");
        QVERIFY(at >= 0);
        model->setCurrentIndex(at);
        emit model->activated(at);
        QVERIFY(head->isVisible());
        open("serving.experts");
        auto* routing = page_->findChild<QComboBox*>("serving.experts.routing");
        reveal(routing);
        routing->setFocus();
        QTest::keyClick(routing, Qt::Key_Down);
        QCOMPARE(serving().scenario.pools.front().experts.routing, RoutingKind::Random);
    }

    void everyFigureSaysHowSureItIs() {
        QTRY_VERIFY_WITH_TIMEOUT(page_->intervals().front().has_value(), 60000);
        const ServingIntervals& sure = *page_->intervals().front();
        const ServingMetrics& now = page_->runs().front()->metrics;
        QVERIFY(sure.ttft.p50.low <= now.ttft.p50 && now.ttft.p50 <= sure.ttft.p50.high);
        auto* table = page_->findChild<ui::CellsTable*>("serving.figures");
        QCOMPARE(table->cells()->headerData(2, Qt::Horizontal, Qt::DisplayRole).toString(), QString("90 % interval"));
        const QString text = table->cells()->index(0, 2).data().toString();
        QVERIFY2(sure.known ? text.contains(QStringLiteral("–")) : text == "not measured", qPrintable(text));
    }

private:
    bool answered() { return serving_.answered(); }
    const ServingStudy& serving() const { return *window_->document().state()->serving; }
    void reveal(QWidget* widget) {
        QCoreApplication::processEvents();
        page_->findChild<QScrollArea*>("serving.form")->ensureWidgetVisible(widget);
        QCoreApplication::processEvents();
    }
    void open(const char* id) {
        auto* head = page_->findChild<ui::FoldHead*>(id);
        QVERIFY(head);
        reveal(head);
        if (!head->isChecked()) QTest::mouseClick(head, Qt::LeftButton);
        QVERIFY(head->isChecked());
    }
    void typeInto(QWidget* field, const QString& text) {
        QVERIFY(field);
        reveal(field);
        QVERIFY2(field->isVisible(), qPrintable(field->objectName()));
        auto* line = qobject_cast<QLineEdit*>(field);
        if (!line) line = field->findChild<QLineEdit*>();
        line->setFocus();
        line->selectAll();
        QTest::keyClicks(line, text);
        QTest::keyClick(line, Qt::Key_Return);
    }
    void chooseTrace(const QByteArray& rows, const QString& name = "trace.csv") {
        QFile file(folder_.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(rows);
        file.close();
        auto* button = page_->findChild<QPushButton*>("serving.trace");
        reveal(button);
        QTest::mouseClick(button, Qt::LeftButton);
        auto* dialog = page_->form()->findChild<QFileDialog*>();
        QVERIFY(dialog);
        emit dialog->fileSelected(file.fileName());
        dialog->close();
    }
    void undo(int steps) {
        for (int i = 0; i < steps; ++i) window_->document().undoStack()->undo();
    }
    bool figuresSay(const QString& name) const {
        const auto* cells = page_->findChild<ui::CellsTable*>("serving.figures")->cells();
        for (int row = 0; row < cells->rowCount(); ++row)
            if (cells->index(row, 0).data().toString() == name) return true;
        return false;
    }

    QTemporaryDir folder_;
    ServingWindow serving_;
    MainWindow* window_ = nullptr;
    ServingPage* page_ = nullptr;
};

QTEST_MAIN(TestStudioServingForm)
#include "tst_studio_serving_form.moc"
