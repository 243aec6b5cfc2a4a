// The training page with real mouse and keys: every edit is one step of the undo list, is what the bar above says, and
// reaches the answer.

#include "app/document/commands/project_edits.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/main_window.h"
#include "app/window/training/cases_view.h"
#include "app/window/training/plan_finder.h"
#include "app/window/training/plan_form.h"
#include "app/window/training/training_page.h"
#include "app/window/training/training_start.h"
#include "support/studio_fixture.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/common/label.h"
#include "widgets/common/theme.h"
#include "widgets/serving/front_plot.h"
#include "widgets/training/cluster_map.h"
#include "widgets/training/stage_memory_plot.h"
#include "widgets/training/step_cards.h"
#include "widgets/training/step_timeline.h"
#include "widgets/training/value_strip.h"

#include <QtWidgets>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioTraining : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        ui::initialiseApplicationLook();
        qputenv("ORRERY_CONFIG_HOME", home_.path().toUtf8());
    }
    void init() {
        QFile::remove(home_.filePath("orrery.ini"));
        window_ = std::make_unique<MainWindow>();
        window_->resize(1600, 1000);
        window_->show();
        QVERIFY(QTest::qWaitFor([this] { return window_->isReady(); }));
        ui::Theme::instance().setAnimated(false);
        page_ = window_->findChild<TrainingPage*>();
        QVERIFY(page_);
    }
    void cleanup() { window_.reset(); }

    void anEmptyProjectIsAskedByMouseAlone() {
        window_->document().reset({});
        front();
        QVERIFY(page_->isStarting());
        auto* model = page_->findChild<QComboBox*>("training.start.model");
        auto* cluster = page_->findChild<QComboBox*>("training.start.cluster");
        model->setCurrentText("Llama-3 8B");
        QVERIFY(cluster->currentText().contains("DGX H100"));
        page_->findChild<QSpinBox*>("training.start.nodes")->setValue(4);
        page_->findChild<QSpinBox*>("training.start.batch")->setValue(64);
        QTest::mouseClick(page_->findChild<QPushButton*>("training.start.go"), Qt::LeftButton);
        QVERIFY(answered());
        QVERIFY(!page_->isStarting());
        QCOMPARE(undo()->count(), 1);
        const ScenarioRef& asked = scenario();
        QCOMPARE(asked.task, std::string("training-step"));
        QCOMPARE(asked.plan.devices(), 32);
        QCOMPARE(page_->question().room.devices, 32);
        QCOMPARE(window_->document().state()->scenarios.size(), std::size_t(1));
        QVERIFY(page_->answer()->seconds > 0);
        QVERIFY(page_->timeline()->stages() >= 1);
        QVERIFY(page_->cards()->cards().size() >= 5);
        undo()->undo();
        QVERIFY(QTest::qWaitFor([this] { return page_->isStarting(); }));
        QVERIFY(!window_->document().isModified());
    }

    void aPassBecomesATrainingStep() {
        window_->document().reset(cluster(std::string(), {}));
        front();
        QVERIFY(page_->isStarting());
        QTest::mouseClick(page_->findChild<QPushButton*>("training.start.go"), Qt::LeftButton);
        QVERIFY(answered());
        QCOMPARE(scenario().task, std::string("training-step"));
        QCOMPARE(window_->document().state()->scenarios.size(), std::size_t(1));
        QCOMPARE(window_->document().state()->workloads.size(), std::size_t(1));
    }

    void aStopIsOneStepOfTheUndoList() {
        ask();
        const double before = page_->answer()->seconds;
        ui::ValueStrip* tensor = page_->form()->strip(PlanNumber::Tensor);
        QTest::mouseClick(tensor, Qt::LeftButton, {}, tensor->cellOf(8).center().toPoint());
        QCOMPARE(scenario().plan.tensor, 8);
        QCOMPARE(scenario().plan.data, 2);  // of the sixteen devices that worked before
        QCOMPARE(undo()->count(), 1);
        QVERIFY2(undo()->text(0).contains("4 → 8"), qPrintable(undo()->text(0)));
        QVERIFY(answered());
        QVERIFY(page_->answer()->seconds != before);
        undo()->undo();
        QTRY_COMPARE(tensor->value(), 4);
        QVERIFY(answered());
        QCOMPARE(page_->answer()->seconds, before);
        QVERIFY(!window_->document().isModified());
    }

    void aDragIsOneStepToo() {
        ask();
        ui::ValueStrip* tensor = page_->form()->strip(PlanNumber::Tensor);
        QTest::mousePress(tensor, Qt::LeftButton, {}, tensor->cellOf(4).center().toPoint());
        for (const qint64 stop : {2, 1, 2, 8}) {
            QTest::mouseMove(tensor, tensor->cellOf(stop).center().toPoint());
            QCOMPARE(scenario().plan.tensor, stop);
            QCOMPARE(scenario().plan.devices(), 16);
        }
        QTest::mouseRelease(tensor, Qt::LeftButton, {}, tensor->cellOf(8).center().toPoint());
        QCOMPARE(undo()->count(), 1);
        undo()->undo();
        QCOMPARE(scenario().plan, parsePlan("tp=4,dp=4").value());
    }

    void whatCannotBeSaysWhy() {
        ask();
        ui::ValueStrip* pipeline = page_->form()->strip(PlanNumber::Pipeline);
        const auto& values = pipeline->values();
        const auto over = std::ranges::find_if(values, [](const ui::StripValue& v) { return !v.refused.isEmpty(); });
        QVERIFY(over != values.end());
        QVERIFY(over->refused.size() > 10);
        const Plan before = scenario().plan;
        if (const QRectF cell = pipeline->cellOf(over->value); !cell.isEmpty())
            QTest::mouseClick(pipeline, Qt::LeftButton, {}, cell.center().toPoint());
        QCOMPARE(scenario().plan, before);
        QCOMPARE(undo()->count(), 0);
    }

    void everyOtherControlIsOneStep() {
        ask();
        typeInto("training.dp.field", 2);
        QCOMPARE(scenario().plan.data, 2);
        choose("training.zero", 2);
        QCOMPARE(scenario().plan.zero, 2);
        choose("training.recompute", 2);
        QCOMPARE(scenario().task, std::string("training-step(recompute=full)"));
        choose("training.optimizer", 1);
        QVERIFY(scenario().task.find("sgd") != std::string::npos);
        QTest::mouseClick(page_->findChild<QCheckBox*>("training.sp"), Qt::LeftButton, {}, QPoint(8, 8));
        QCOMPARE(scenario().plan.sequence, 1);
        typeInto("training.batch", 32);
        QCOMPARE(window_->document().workload()->recipe.options.batch, 32);
        typeInto("training.sequence", 1024);
        QCOMPARE(window_->document().workload()->recipe.options.sequence, 1024);
        typeInto("training.nodes", 4);
        QVERIFY(QTest::qWaitFor([this] { return page_->question().room.devices == 32; }));
        QCOMPARE(undo()->count(), 8);
        QVERIFY(answered());
        while (undo()->canUndo()) undo()->undo();
        QVERIFY(!window_->document().isModified());
        QCOMPARE(scenario().plan, parsePlan("tp=4,dp=4").value());
    }

    void thePageFollowsTheBarAbove() {
        ask();
        QVERIFY(
            window_->document().apply(setPlanEdit(*window_->document().state(), parsePlan("tp=2,pp=2,mb=4").value())));
        QVERIFY(answered());
        QCOMPARE(page_->form()->strip(PlanNumber::Tensor)->value(), 2);
        QCOMPARE(page_->form()->strip(PlanNumber::Microbatches)->value(), 4);
        QCOMPARE(page_->map()->data().plan.pipeline, 2);
        QCOMPARE(page_->timeline()->stages(), 2);
    }

    void aPinnedPlanIsComparedWith() {
        ask();
        QTest::mouseClick(page_->findChild<QPushButton*>("training.pin"), Qt::LeftButton);
        QVERIFY(page_->isPinned());
        QCOMPARE(page_->cards()->cards().front().difference, QString("0 %"));
        choose("training.recompute", 2);
        QVERIFY(answered());
        // All layers computed again: a longer step, in less memory.
        QVERIFY(page_->cards()->cards().front().difference.startsWith('+'));
        QCOMPARE(page_->cards()->cards().front().differenceTone, ui::Tone::Bad);
        QCOMPARE(page_->memory()->data().baseline.size(), std::size_t(1));
        QTest::mouseClick(page_->findChild<QPushButton*>("training.pin"), Qt::LeftButton);
        QVERIFY(page_->cards()->cards().front().difference.isEmpty());
        // Another project has nothing to do with it.
        page_->pin(true);
        window_->document().reset(cluster("training-step", "tp=8"));
        QVERIFY(!page_->isPinned());
    }

    void aPlanThatDoesNotFitSaysByHowMuch() {
        ask("training-step", "tp=1,dp=1");
        const ui::StepCards* cards = page_->cards();
        const auto memory =
            std::ranges::find_if(cards->cards(), [](const ui::StepCard& c) { return c.title.contains("stage"); });
        QVERIFY(memory != cards->cards().end());
        QCOMPARE(memory->tone, ui::Tone::Bad);
        QVERIFY(memory->note.contains("too much"));
    }

    void aBetterPlanIsFoundAndUsed() {
        ask();
        page_->tabs()->setCurrentWidget(page_->finder());
        QTest::mouseClick(page_->findChild<QPushButton*>("training.finder.run"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([this] { return !page_->finder()->isBusy(); }, 120000));
        QVERIFY(page_->finder()->result());
        const PlanSearchResult& found = *page_->finder()->result();
        QVERIFY(!found.points.empty());
        const int count = undo()->count();
        const int other = found.points.size() > 1 ? 1 : 0;
        auto* plot = page_->finder()->plot();
        QTest::mouseClick(plot, Qt::LeftButton, {}, plot->placeOf(other).toPoint());
        const int chosen = plot->current();
        QVERIFY(chosen >= 0);
        const StepPlan plan = found.points[static_cast<std::size_t>(chosen)].plan;
        QTest::mouseClick(page_->findChild<QPushButton*>("training.finder.use"), Qt::LeftButton);
        QCOMPARE(scenario().plan, plan.plan);
        QCOMPARE(undo()->count(), count + 1);
        QVERIFY(answered());
        QCOMPARE(page_->question().step.recompute, plan.recompute);
        QTRY_COMPARE(page_->findChild<QPushButton*>("training.finder.use")->text(), QString("In use"));
        QVERIFY(!page_->findChild<QPushButton*>("training.finder.use")->isEnabled());
        QVERIFY(page_->findChild<ui::Label*>("training.sub")->text().contains("against tp=4,dp=4"));
        QVERIFY(page_->isPinned());  // the plan of before, to see what is better and why
        // The closed form beside the run is what the search said of it.
        QVERIFY(page_->quick());
        QCOMPARE(page_->quick()->seconds, found.points[static_cast<std::size_t>(chosen)].figures.seconds);
        undo()->undo();
        QCOMPARE(scenario().plan, parsePlan("tp=4,dp=4").value());
    }

    void anExchangeIsPlayedStepByStep() {
        ask();
        page_->tabs()->setCurrentIndex(2);
        auto* step = page_->findChild<QToolButton*>("training.player.step");
        QVERIFY(!step->isEnabled());
        choose("training.player.group", 1);
        QCOMPARE(page_->map()->current(), 0);
        QVERIFY(step->isEnabled());
        QTest::mouseClick(step, Qt::LeftButton);
        QCOMPARE(page_->map()->exchange().progress, 1.0);
        QTest::mouseClick(step, Qt::LeftButton);
        QCOMPARE(page_->map()->exchange().step, 1);
        // Four devices: three steps out, three back, and again.
        for (int i = 0; i < 5; ++i) QTest::mouseClick(step, Qt::LeftButton);
        QCOMPARE(page_->map()->exchange().step, 0);
        QTest::mouseClick(page_->findChild<QToolButton*>("training.player.play"), Qt::LeftButton);
        QTRY_VERIFY(page_->map()->exchange().progress > 0 && page_->map()->exchange().progress < 1);
        QCOMPARE(undo()->count(), 0);
    }

    void anExchangeGoesBackToo() {
        ask();
        page_->tabs()->setCurrentIndex(2);
        choose("training.player.group", 1);
        auto* step = page_->findChild<QToolButton*>("training.player.step");
        auto* back = page_->findChild<QToolButton*>("training.player.back");
        QVERIFY(!back->isEnabled());
        for (int i = 0; i < 4; ++i) QTest::mouseClick(step, Qt::LeftButton);
        QCOMPARE(page_->map()->exchange().step, 3);
        QTest::mouseClick(back, Qt::LeftButton);
        QCOMPARE(page_->map()->exchange().step, 3);
        QCOMPARE(page_->map()->exchange().progress, 0.0);
        QTest::mouseClick(back, Qt::LeftButton);
        QCOMPARE(page_->map()->exchange().step, 2);
        for (int i = 0; i < 2; ++i) QTest::mouseClick(back, Qt::LeftButton);
        QCOMPARE(page_->map()->exchange().step, 0);
        QVERIFY(!back->isEnabled());
    }

    void thePriceIsTheProjects() {
        ask();
        auto* price = page_->findChild<QDoubleSpinBox*>("training.price");
        QCOMPARE(price->value(), 2.5);
        const auto dollars = [this] {
            const auto& cards = page_->cards()->cards();
            const auto at = std::ranges::find_if(cards, [](const ui::StepCard& c) { return c.value.contains('$'); });
            return at == cards.end() ? QString() : at->value;
        };
        const QString before = dollars();
        QVERIFY(!before.isEmpty());
        price->setFocus();
        price->selectAll();
        QTest::keyClicks(price, "5");
        QTest::keyClick(price, Qt::Key_Return);
        QCOMPARE(undo()->count(), 1);
        QVERIFY2(undo()->text(0).contains("5.00"), qPrintable(undo()->text(0)));
        QCOMPARE(window_->document().state()->prices, (std::map<std::string, double>{{"", 5.0}}));
        QTRY_VERIFY(dollars() != before);
        // It is in the file, and comes back with it.
        const Project saved = toProject(*window_->document().state());
        const auto read = readProject(writeProject(saved));
        QVERIFY(read.has_value());
        QCOMPARE(read->project.prices, saved.prices);
        undo()->undo();
        QTRY_COMPARE(price->value(), 2.5);
        QTRY_COMPARE(dollars(), before);
        QVERIFY(!window_->document().isModified());
    }

    void thePlannerKnowsTheSchedules() {
        ask("training-step", "tp=1,pp=4,dp=4,mb=4");
        page_->tabs()->setCurrentWidget(page_->finder());
        choose("training.finder.schedules", 4);
        QTest::mouseClick(page_->findChild<QPushButton*>("training.finder.run"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([this] { return !page_->finder()->isBusy(); }, 120000));
        QVERIFY(page_->finder()->result());
        const std::uint64_t all = page_->finder()->result()->plans;
        choose("training.finder.schedules", 0);
        QTest::mouseClick(page_->findChild<QPushButton*>("training.finder.run"), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([this] { return !page_->finder()->isBusy(); }, 120000));
        QVERIFY(page_->finder()->result() && page_->finder()->result()->plans < all);
    }

    void theCommandLineAsksTheSame() {
        ask();
        QTest::mouseClick(page_->findChild<QPushButton*>("training.command"), Qt::LeftButton);
        const QString text = QGuiApplication::clipboard()->text();
        QVERIFY2(text.startsWith("orrery-cli run --hardware "), qPrintable(text));
        QVERIFY2(text.contains("--plan tp=4,dp=4") && text.contains("--task training-step"), qPrintable(text));
        QVERIFY2(text.contains("\norrery-cli plan llama") && text.contains("--price 2.5"), qPrintable(text));
        QVERIFY(text.contains("--batch "));
    }

    // Off until messages are followed; then the canvas and the page look at the same moment.
    void linkUseIsHeatOnTheCanvas() {
        ask("training-step", "tp=8,dp=2");
        auto& hardware = window_->page<HardwarePage>();
        auto* documents = window_->findChild<QTabWidget*>(QStringLiteral("documents"));
        documents->setCurrentWidget(hardware.parentWidget()->parentWidget());
        auto* follow = hardware.findChild<QPushButton*>("canvas.heat.follow");
        auto* moment = hardware.findChild<QSlider*>("canvas.heat.moment");
        QVERIFY(follow->isVisible());
        QVERIFY(!moment->isVisible());
        QVERIFY(hardware.canvas()->heat().empty());
        QTest::mouseClick(follow, Qt::LeftButton);
        QCOMPARE(undo()->count(), 1);
        QVERIFY(window_->document().state()->methods.front().find("network=fluid") != std::string::npos);
        QTRY_VERIFY_WITH_TIMEOUT(!hardware.canvas()->heat().empty(), 60000);
        QVERIFY(moment->isVisible() && follow->text().contains("Stop"));
        QVERIFY(moment->maximum() > 8);
        const auto mean = hardware.canvas()->heat();
        for (const ui::ComponentHeat& each : mean) {
            QVERIFY(each.heat >= 0 && each.heat <= 1);
            QVERIFY(each.tip.contains('%'));
            QVERIFY(componentAt(window_->document().hardware()->root, each.path));
        }
        moment->setFocus();
        for (int i = 0; i < 4; ++i) QTest::keyClick(moment, Qt::Key_Right);
        QCOMPARE(moment->value(), 3);
        QVERIFY(!(hardware.canvas()->heat() == mean));
        front();
        page_->tabs()->setCurrentIndex(2);
        auto* same = page_->findChild<QSlider*>("training.map.moment");
        QTRY_COMPARE(same->value(), 3);
        same->setFocus();
        QTest::keyClick(same, Qt::Key_Home);
        QTRY_VERIFY(hardware.canvas()->heat() == mean);
        undo()->undo();
        QTRY_VERIFY_WITH_TIMEOUT(hardware.canvas()->heat().empty(), 20000);
    }

    void theClosedFormStandsBesideTheRun() {
        ask("training-step", "tp=2,pp=4,dp=2,mb=8");
        QVERIFY(page_->quick());
        QVERIFY(std::abs(page_->quick()->seconds / page_->answer()->seconds - 1) < 0.1);
        QVERIFY(page_->cards()->cards().front().note.contains("closed form"));
        QCOMPARE(page_->memory()->data().stages.size(), std::size_t(4));
        double sum = 0;
        for (const ui::TimeShare& each : page_->quick()->times) sum += each.seconds;
        QVERIFY(std::abs(sum / page_->quick()->seconds - 1) < 1e-6);
    }

    // The same plan in another project is another answer, at once.
    void anotherProjectForgetsTheFigures() {
        ask();
        QVERIFY(page_->quick());
        const double before = page_->quick()->seconds;
        Project other = cluster("training-step", "tp=4,dp=4");
        other.workloads.front().recipe.options.batch = 64;
        window_->document().reset(other);
        QTRY_COMPARE(page_->question().recipe.options.batch, 64);
        QVERIFY(!page_->quick() || page_->quick()->seconds > 2 * before);
        QVERIFY(answered());
        QVERIFY(page_->quick() && page_->quick()->seconds > 2 * before);
    }

    void theSurveysNumbersAreOneClick() {
        window_->openExample("astra-sim-hgx-h100");
        QVERIFY(page_->isVisible() && page_->showsCases());
        QVERIFY(QTest::qWaitFor([this] { return !page_->cases()->isBusy() && page_->cases()->answers().front().same; },
                                60000));
        QCOMPARE(page_->cases()->answers().size(), std::size_t(7));
        QVERIFY(page_->findChild<ui::Label*>("training.cases.state")->text().contains("7 of 7"));
        QVERIFY(!window_->document().isModified());
        QTest::mouseClick(page_->findChild<QPushButton*>("training.cases.close"), Qt::LeftButton);
        QVERIFY(!page_->showsCases());
    }

    void everyControlIsNamedAndExplained() {
        ask();
        for (const QWidget* each : page_->findChildren<QWidget*>()) {
            const bool control = qobject_cast<const QAbstractButton*>(each) || qobject_cast<const QComboBox*>(each) ||
                                 qobject_cast<const QAbstractSpinBox*>(each) ||
                                 qobject_cast<const ui::ValueStrip*>(each);
            if (!control || each->objectName().startsWith("qt_")) continue;
            if (qobject_cast<const QComboBox*>(each->parentWidget())) continue;
            if (qobject_cast<const QTabBar*>(each->parentWidget()) ||
                qobject_cast<const QTableView*>(each->parentWidget()))
                continue;
            QVERIFY2(!each->objectName().isEmpty(), each->metaObject()->className());
            QVERIFY2(!each->accessibleName().isEmpty(), qPrintable(each->objectName()));
            QVERIFY2(!each->toolTip().isEmpty(), qPrintable(each->objectName()));
        }
    }

private:
    static Project cluster(const std::string& task, const std::string& plan) {
        Project project;
        project.name = "Cluster";
        project.hardware.push_back(loadHardware("dgx-h100-x2").value().hardware);
        WorkloadOptions options;
        options.phase = Phase::TrainingForward;
        options.sequence = 2048;
        options.batch = 16;
        project.workloads.push_back({"Llama", {"llama-3-8b", options}, {}});
        project.scenarios.push_back(
            {project.hardware.front().name, "Llama", {}, plan.empty() ? Plan{} : parsePlan(plan).value(), task});
        project.methods = {"tile-hybrid"};
        return project;
    }
    void front() {
        window_->findChild<QTabWidget*>(QStringLiteral("documents"))
            ->setCurrentWidget(page_->parentWidget()->parentWidget());
        QVERIFY(QTest::qWaitFor([this] { return page_->isVisible() && page_->form(); }));
    }
    void ask(const std::string& task = "training-step", const std::string& plan = "tp=4,dp=4") {
        window_->document().reset(cluster(task, plan));
        front();
        QVERIFY(answered());
    }
    bool answered() {
        return QTest::qWaitFor([this] { return page_->isUpToDate() && page_->answer(); }, 60000);
    }
    const ScenarioRef& scenario() const { return window_->document().state()->scenarios.front(); }
    QUndoStack* undo() const { return window_->document().undoStack(); }
    void typeInto(const char* id, int value) {
        auto* box = page_->findChild<QSpinBox*>(id);
        QVERIFY(box);
        box->setFocus();
        box->selectAll();
        QTest::keyClicks(box, QString::number(value));
        QTest::keyClick(box, Qt::Key_Return);
    }
    void choose(const char* id, int index) {
        auto* box = page_->findChild<QComboBox*>(id);
        QVERIFY(box);
        box->showPopup();
        box->view()->setCurrentIndex(box->model()->index(index, 0));
        QTest::keyClick(box->view(), Qt::Key_Return);
    }

    QTemporaryDir home_;
    std::unique_ptr<MainWindow> window_;
    TrainingPage* page_ = nullptr;
};

QTEST_MAIN(TestStudioTraining)
#include "tst_studio_training.moc"
