// The five-minute demo: one story across every page, told with the mouse, the numbers typed. Each step is held to the
// document and to what the views show, and leaves a picture.

#include "app/window/compare/compare_page.h"
#include "app/window/explore/explore_form.h"
#include "app/window/explore/explore_page.h"
#include "app/window/fidelity/fidelity_panel.h"
#include "app/window/gpu/gpu_page.h"
#include "app/window/serving/serving_form.h"
#include "app/window/serving/serving_page.h"
#include "app/window/studio.h"
#include "app/window/training/plan_finder.h"
#include "app/window/training/training_page.h"
#include "app/window/workload/workload_page.h"
#include "hardware/check/validate.h"
#include "methods/model/launches.h"
#include "support/near.h"
#include "support/studio_window.h"
#include "widgets/common/label.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/exploration/search_plot.h"
#include "widgets/fidelity/convergence_plot.h"
#include "widgets/serving/front_plot.h"
#include "workload/kernel_source.h"

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;
using orrery::test::near;

namespace {

constexpr int patience = 180'000;  // ms; a busy machine

// Llama-3 70B as published: 80 layers of 8192, 64 heads with 8 of keys and values.
constexpr const char* config = R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8192,
"intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8,
"max_position_embeddings": 8192, "vocab_size": 128256, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})";

// Prompts on one node, tokens on the other.
constexpr const char* fleet = R"(orrery: serving/1
name: Prompts and tokens apart
model: {source: llama-3-70b}
pools:
  - {name: prompts, role: prefill, plan: {tensor: 8}, scheduler: {id: vllm-v1, max_sequences: 1024, token_budget: 8192}}
  - {name: tokens, role: decode, plan: {tensor: 8}, scheduler: {id: vllm-v1, max_sequences: 1024, token_budget: 8192}}
promise: {ttft: 2 s, tpot: 60 ms}
traffic:
)";

}  // namespace

class TestDemo : public QObject, private StudioWindow {
    Q_OBJECT
private slots:
    void initTestCase() { prepare(); }
    void theFiveMinutes() {
        STEP(startDrawing());
        STEP(draw());
        STEP(onePass());
        STEP(train());
        STEP(serve());
        STEP(explore());
        STEP(compare());
        STEP(write());
    }
    void cleanupTestCase() { window.reset(); }

private:
    // Two nodes of eight H100 on NVLink switches, a fat tree over them.
    void draw() {
        STEP(placeIn("node", {}));
        STEP(dropDevice("h100-sxm", {0}, roomIn({0})));
        STEP(type({{0, 0}}, "count", "8"));
        STEP(placeIn("topology.switch", {0}));
        STEP(type({{0, 1}}, "bandwidth", "450 GB/s"));
        STEP(type({{0}}, "count", "2"));
        STEP(placeIn("topology.fat-tree", {}, {0.5, 0.96}));
        STEP(type({{1}}, "bandwidth", "50 GB/s"));  // 400 Gbit/s
        QCOMPARE(at({0}).count, 2);
        QCOMPARE(at({0, 0}).count, 8);
        for (const Diagnostic& problem : validate(*window->document().hardware()))
            QVERIFY2(problem.severity != Severity::Error, toText(problem).c_str());
        STEP(pictureOfDrawing("demo-1-drawing"));
    }

    // It does not fit one device; eight answer, surest first; narrower links make them slower at once.
    void onePass() {
        STEP(dropFile("Llama-3 70B/config.json", config));  // a model is called as its folder
        QTRY_VERIFY_WITH_TIMEOUT(window->document().workload(), 20'000);
        STEP(answered());
        QVERIFY(estimate());
        const auto warned = std::ranges::find(estimate()->warnings, "memory.does-not-fit", &Diagnostic::code);
        QVERIFY(warned != estimate()->warnings.end());
        QVERIFY2(warned->hint.find("tp=") != std::string::npos, warned->hint.c_str());
        const auto* doubts = window->findChild<QLabel*>("headlineWarnings");
        QVERIFY(doubts->isVisible() && doubts->toolTip().contains("tp="));
        STEP(chooseInMenu("planChooser", "plan-tp=8"));
        QCOMPARE(scenario().plan.tensor, 8);
        STEP(answered());
        QVERIFY(estimate());
        QVERIFY(std::ranges::find(estimate()->warnings, "memory.does-not-fit", &Diagnostic::code) ==
                estimate()->warnings.end());
        QVERIFY(estimate()->interval.low < estimate()->interval.high);
        const auto& snapshot = *window->live().snapshot();
        QCOMPARE(snapshot.primary, snapshot.best);
        QVERIFY(snapshot.bound && *snapshot.bound <= estimate()->interval.high);
        const double before = estimate()->latency.value;
        STEP(picture("demo-2-one-pass"));
        STEP(type({{0, 1}}, "bandwidth", "225 GB/s"));
        STEP(answered());
        QVERIFY2(estimate()->latency.value > before, "half of NVLink is not slower");
        STEP(undo());
        STEP(answered());
        QCOMPARE(estimate()->latency.value, before);
    }

    // Tokens and money of a plan, where its time goes, a better one, used.
    void train() {
        auto& page = window->page<TrainingPage>();
        show(page);
        auto* go = page.findChild<QPushButton*>("training.start.go");
        QTRY_VERIFY(go && go->isVisible());
        QTest::mouseClick(go, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(page.isUpToDate() && page.answer(), patience);
        QVERIFY(page.answer()->seconds > 0);
        QVERIFY(QString::fromStdString(scenario().task).startsWith("training-step"));
        page.tabs()->setCurrentWidget(page.finder());
        QTest::mouseClick(page.findChild<QPushButton*>("training.finder.run"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!page.finder()->isBusy() && page.finder()->result(), patience);
        const PlanSearchResult& found = *page.finder()->result();
        QVERIFY(!found.points.empty());
        STEP(costOfThreePlans(page, found));
        STEP(picture("demo-3-training"));
        auto* plot = page.finder()->plot();
        for (int point = 0; point < int(found.points.size()); ++point) {
            if (found.points[std::size_t(point)].plan.plan == scenario().plan) continue;
            QTest::mouseClick(plot, Qt::LeftButton, {}, plot->placeOf(point).toPoint());
            break;
        }
        auto* use = page.findChild<QPushButton*>("training.finder.use");
        QVERIFY(plot->current() >= 0 && use->isEnabled());
        const Plan before = scenario().plan, plan = found.points[std::size_t(plot->current())].plan.plan;
        QVERIFY(!(plan == before));
        QTest::mouseClick(use, Qt::LeftButton);
        QCOMPARE(scenario().plan, plan);
        QTRY_VERIFY_WITH_TIMEOUT(page.isUpToDate() && page.answer(), patience);
        STEP(heatOnLinks());
        show(page);
        QTRY_VERIFY_WITH_TIMEOUT(page.isUpToDate() && page.answer(), patience);
    }

    // The three best plans, each with tokens a day and money: devices × hours × the price in the form, over the tokens.
    void costOfThreePlans(TrainingPage& page, const PlanSearchResult& found) {
        QVERIFY(found.points.size() >= 3);
        const double price = page.findChild<QDoubleSpinBox*>("training.price")->value();
        const double tokens =
            page.findChild<QSpinBox*>("training.batch")->value() * double(page.question().recipe.options.sequence);
        const QAbstractItemModel* shown = page.finder()->table()->cells();
        QVERIFY(price > 0 && tokens > 0);
        for (int row = 0; row < 3; ++row) {
            const StepFigures& figures = found.points[std::size_t(row)].figures;
            QVERIFY(near(figures.rate, tokens / figures.seconds));
            const double dollars = price * double(figures.devices) * figures.seconds / 3600 / tokens * 1e12;
            QVERIFY2(near(figures.dollarsPerTrillion(), dollars), qPrintable(QString::number(dollars)));
            QString said = shown->index(row, shown->columnCount() - 1).data().toString();
            QVERIFY2(said.startsWith('$'), qPrintable(said));
            const double scale = said.endsWith('M') ? 1e6 : said.endsWith('k') ? 1e3 : 1;
            const double number = said.remove('$').section(' ', 0, 0).toDouble() * scale;
            QVERIFY2(std::abs(number / dollars - 1) < 0.01, qPrintable(said));  // three digits
        }
    }

    // Messages are followed over the drawn links: they are coloured by their use, and follow their bandwidth.
    void heatOnLinks() {
        show(window->page<HardwarePage>());
        STEP(answered());
        auto* follow = window->findChild<QPushButton*>("canvas.heat.follow");
        QTRY_VERIFY(follow && follow->isVisible());
        QVERIFY(canvas()->heat().empty());
        QTest::mouseClick(follow, Qt::LeftButton);
        const auto* said = window->findChild<QLabel*>("canvas.heat.text");
        QTRY_VERIFY2_WITH_TIMEOUT(!canvas()->heat().empty(), qPrintable(said->text()), patience);
        const auto hottest = [this] { return std::ranges::max(canvas()->heat(), {}, &ui::ComponentHeat::heat); };
        const ui::ComponentHeat before = hottest();
        QVERIFY(before.heat > 0 && before.heat <= 1);
        QVERIFY(!before.text.isEmpty());
        STEP(picture("demo-3-link-use"));
        STEP(type({{0, 1}}, "bandwidth", "225 GB/s"));
        QTRY_VERIFY2_WITH_TIMEOUT(!canvas()->heat().empty() && hottest().text != before.text, qPrintable(before.text),
                                  patience);
        for (int step = 0; step < 2; ++step) STEP(undo());
        QTRY_VERIFY_WITH_TIMEOUT(canvas()->heat().empty(), patience);
    }

    // The same cluster under traffic: what limits it, how much it bears.
    void serve() {
        const QString trace =
            QStringLiteral(ORRERY_REFERENCE "/serving/data/traces/AzureLLMInferenceTrace_conv_2023.csv");
        const bool real = QFileInfo::exists(trace);
        if (!real) qInfo("the Azure trace is not there: Poisson arrivals instead");
        const std::string traffic =
            real ? "  requests: 200\n  trace: {file: " + trace.toStdString() + "}\n  arrivals: {kind: trace}\n"
                 : std::string("  requests: 200\n  arrivals: {kind: poisson, rate: 4}\n");
        STEP(dropFile("fleet.yaml", (fleet + traffic).c_str()));
        auto& page = window->page<ServingPage>();
        QTRY_VERIFY(page.isVisible());
        QTRY_VERIFY_WITH_TIMEOUT(!page.isBusy() && (page.showsAnswer() || !headlineOfServing().isEmpty()), patience);
        QVERIFY2(page.showsAnswer(), qPrintable(headlineOfServing()));
        QCOMPARE(page.question().scenario.pools.size(), std::size_t{2});
        QCOMPARE(page.runs().front()->metrics.done + page.runs().front()->metrics.rejected, std::size_t{200});
        QVERIFY2(headlineOfServing().contains("limit"), qPrintable(headlineOfServing()));
        if (real) {
            const auto* notes = page.findChild<ui::Label*>("serving.notes");
            QVERIFY2(notes->isVisible() && notes->toolTip().contains("200 of the 19366"), qPrintable(notes->toolTip()));
        }
        STEP(picture("demo-4-serving"));
        // Two fleets under the same requests: this one stays, and one with twice the replicas comes beside it.
        QTest::mouseClick(page.findChild<QPushButton*>("serving.pin"), Qt::LeftButton);
        auto* replicas = page.findChild<QSpinBox*>("serving.prefillReplicas");
        page.form()->ensureWidgetVisible(replicas);
        replicas->setFocus();
        replicas->selectAll();
        QTest::keyClick(replicas, Qt::Key_2);
        QTest::keyClick(replicas, Qt::Key_Return);
        QTRY_VERIFY_WITH_TIMEOUT(!page.isBusy() && page.showsAnswer() && page.runs().size() == 2, patience);
        QVERIFY2(page.runs()[1]->name.contains("Pinned"), qPrintable(page.runs()[1]->name));
        QCOMPARE(page.runs()[0]->metrics.requests, page.runs()[1]->metrics.requests);
        QTest::mouseClick(page.findChild<QPushButton*>("serving.pin"), Qt::LeftButton);
        STEP(undo());
        QTRY_VERIFY_WITH_TIMEOUT(!page.isBusy() && page.showsAnswer() && page.runs().size() == 1, patience);
    }

    // Knobs, the front, a dot that is used and undone.
    void explore() {
        auto& page = window->page<ExplorePage>();
        STEP(chooseInMenu("taskChooser", "task-pass"));
        STEP(chooseInMenu("planChooser", "plan-tp=8"));
        // What a training step takes at once does not fit eight devices in one pass.
        show(window->page<WorkloadPage>());
        STEP(typeInto("batch", "1"));
        STEP(answered());
        QVERIFY(estimate());
        QVERIFY(std::ranges::find(estimate()->warnings, "memory.does-not-fit", &Diagnostic::code) ==
                estimate()->warnings.end());
        show(page);
        QTRY_VERIFY_WITH_TIMEOUT(page.form() && page.form()->findChild<QComboBox*>("explore.add")->count() > 5, 30'000);
        for (const char* knob : {"hbm3.bandwidth ", "sm.count "}) {
            auto* box = page.form()->findChildren<QComboBox*>("explore.add").last();
            int entry = -1;
            for (int i = 0; i < box->count() && entry < 0; ++i)
                if (box->itemText(i).contains(QLatin1String(knob))) entry = i;
            QVERIFY2(entry >= 0, knob);
            box->setCurrentIndex(entry);
            emit box->activated(entry);
            QTest::qWait(50);
        }
        auto* go = page.findChild<QPushButton*>("explore.go");
        QTRY_VERIFY_WITH_TIMEOUT(go->isEnabled(), 20'000);
        QTest::mouseClick(go, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!page.isBusy() && page.view(), patience);
        QVERIFY(!page.view()->front.points.empty());
        auto* stack = window->document().undoStack();
        const int before = stack->index();
        const Hardware drawn = *window->document().hardware();
        auto* use = page.findChild<QPushButton*>("explore.use");
        // Of the front one design is another than the one that is drawn: it opens, in one step.
        bool opened = false;
        for (const auto point : page.view()->front.points) {
            QTest::mouseClick(page.plot(), Qt::LeftButton, {}, page.plot()->placeOf(int(point)).toPoint());
            if (!opened) STEP(picture("demo-5-explore"));
            QVERIFY(use->isEnabled());
            QTest::mouseClick(use, Qt::LeftButton);
            opened = stack->index() > before;
            if (opened) break;
        }
        QVERIFY(opened);
        QCOMPARE(stack->index(), before + 1);
        QVERIFY(!(*window->document().hardware() == drawn));
        STEP(undo());
        QCOMPARE(stack->index(), before);
        QVERIFY(*window->document().hardware() == drawn);
    }

    // Kept, changed, held against itself; ten seconds of budget narrow the interval.
    void compare() {
        auto& page = window->page<ComparePage>();
        show(page);
        auto* keep = page.findChild<QPushButton*>("compare.keep");
        QTRY_VERIFY_WITH_TIMEOUT(keep && keep->isEnabled(), patience);
        STEP(answered());
        QVERIFY(estimate());
        const double before = estimate()->latency.value;
        QTest::mouseClick(keep, Qt::LeftButton);
        show(window->page<HardwarePage>());
        STEP(type({{0, 1}}, "bandwidth", "225 GB/s"));
        show(page);
        QTRY_VERIFY_WITH_TIMEOUT(!page.isBusy() && page.showsAnswer(), patience);
        STEP(answered());
        QVERIFY2(estimate()->latency.value > before, "the plan does not feel half of its links");
        STEP(picture("demo-6-compare"));
        STEP(climb());
        STEP(cycles());
    }

    // The hottest kernel of a pass, cycle by cycle: slower than its bounds, and each of its cycles has a cause.
    void cycles() {
        const Workload& workload = *window->live().workload();
        const std::vector<double>& seconds = estimate()->operators.seconds;
        const auto hottest = std::ranges::max_element(seconds) - seconds.begin();
        QString kernel;
        for (const Launch& launch : launchesOf(workload, {}).launches)
            if (launch.op == hottest) kernel = QString::fromStdString(kernelSource(launch.kernel)).remove("kernel:");
        QVERIFY2(!kernel.isEmpty(), workload.graph.operators[std::size_t(hottest)].name.c_str());
        auto& page = window->page<GpuPage>();
        show(page);
        auto* kernels = page.findChild<QComboBox*>("gpu.kernel");
        const int entry = kernels->findText(kernel);
        QVERIFY2(entry >= 0, qPrintable(kernel));
        kernels->setCurrentIndex(entry);
        auto* budget = page.findChild<QSpinBox*>("gpu.budget");
        budget->setFocus();
        budget->selectAll();
        QTest::keyClick(budget, Qt::Key_1);
        QTest::keyClick(budget, Qt::Key_Return);
        QTRY_VERIFY_WITH_TIMEOUT(!page.isBusy(), patience);  // the usual kernel, at first sight of the page
        QTest::mouseClick(page.findChild<QPushButton*>("gpu.run"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!page.isBusy() && page.showsAnswer(), patience);
        const GpuRun& run = page.answer()->runs.front();
        QCOMPARE(page.answer()->question.kernel, kernel.toStdString());
        QVERIFY(run.seconds() > 0 && run.computeCycles > 0);
        QVERIFY(double(run.seen.recording->cycles) > std::max(run.computeCycles, run.memoryCycles()));
        const auto* said = page.findChild<ui::Label*>("gpu.headline");
        QVERIFY2(said && said->text().contains("cycles"), qPrintable(said ? said->text() : QString()));
        STEP(picture("demo-6-cycles"));
    }

    // From fast to slow: whatever is asked further, the combined interval holds its answer.
    void climb() {
        window->docks().reveal("fidelity");
        auto* panel = window->findChild<FidelityPanel*>();
        QTRY_VERIFY(panel && panel->isVisible());
        QTest::mouseClick(window->findChild<QAbstractButton*>("fidelity.run"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(panel->view() && !panel->isBusy(), patience);
        QVERIFY(panel->view()->ladder && panel->view()->ladder->last());
        const auto& points = panel->plot()->points();
        QVERIFY2(points.size() >= 3, qPrintable(QString::number(points.size())));
        for (const ui::ConvergencePoint& point : points)
            if (point.latency > 0) QVERIFY(point.low <= point.latency && point.latency <= point.high);
    }

    // The report of what is shown, none of it of another question.
    void write() {
        STEP(answered());
        // The fleet was simulated with the links of before: it is no part of the report until it is simulated anew.
        const QTemporaryDir late;
        QVERIFY(window->exportReport(late.path()));
        QVERIFY(!QFileInfo::exists(late.filePath("serving.yaml")));
        auto& serving = window->page<ServingPage>();
        show(serving);
        QTRY_VERIFY_WITH_TIMEOUT(!serving.isBusy() && serving.showsAnswer(), patience);
        const QTemporaryDir folder;
        const auto written = window->exportReport(folder.path());
        QVERIFY2(written, written ? "" : toText(written.error()).c_str());
        for (const char* file : {"report.html", "report.pdf", "roofline.png", "comparison.svg", "serving.yaml"})
            QVERIFY2(QFileInfo(folder.filePath(file)).size() > 200, file);
        const QString project = folder.filePath("demo.yaml");
        QVERIFY_DONE(window->document().saveAs(project));
        QVERIFY(QFileInfo(project).size() > 1000);
        // The command line answers the same file with the same numbers, twice the same bytes.
        QByteArray answers[2];
        for (QByteArray& each : answers) {
            const QTemporaryDir out;
            QProcess cli;
            cli.start(QStringLiteral(ORRERY_CLI), {"project", project, "--out", out.path()});
            QVERIFY(cli.waitForFinished(patience));
            QVERIFY2(cli.exitCode() == 0, cli.readAllStandardError().constData());
            // `estimates.csv` says besides what each answer took.
            for (const QString& name : QDir(out.path()).entryList({"operators-*.csv"}, QDir::Files, QDir::Name)) {
                QFile csv(out.filePath(name));
                QVERIFY(csv.open(QIODevice::ReadOnly));
                each += csv.readAll();
            }
        }
        QVERIFY(answers[0].size() > 200);
        QCOMPARE(answers[0], answers[1]);
    }

    const ScenarioRef& scenario() const { return window->document().state()->scenarios.front(); }
    const Estimate* estimate() const {
        const auto& snapshot = window->live().snapshot();
        return snapshot ? snapshot->primaryEstimate() : nullptr;
    }
    QString headlineOfServing() const {
        const auto* label = window->findChild<ui::Label*>("serving.headline");
        return label ? label->text() : QString();
    }
    void show(Page& page) {
        auto* bar = window->findChild<QTabBar*>("documentTabs");
        QTest::mouseClick(bar, Qt::LeftButton, {}, bar->tabRect(window->studio().router.tabOf(&page)).center());
        QTRY_VERIFY(page.isVisible());
    }
    void undo() {
        auto* button = window->findChild<QToolButton*>("editUndoButton");
        QVERIFY(button && button->isEnabled());
        QTest::mouseClick(button, Qt::LeftButton);
    }
    void answered() { QTRY_VERIFY_WITH_TIMEOUT(window->live().snapshot() && window->live().upToDate(), patience); }
    void dropFile(const char* name, const char* text) {
        const QString path = home.filePath(QLatin1String(name));
        QVERIFY(QDir().mkpath(QFileInfo(path).path()));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
        file.close();
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(path)});
        QVERIFY(ui::fixture::dropAt(window.get(), window->rect().center(), &data, Qt::CopyAction));
    }
};

QTEST_MAIN(TestDemo)
#include "tst_demo.moc"
