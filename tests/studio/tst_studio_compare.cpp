// The compare page with real mouse and keys: a question is kept, changed, held against itself, pinned, undone.

#include "app/window/compare/compare_page.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/workload/workload_page.h"
#include "store/project/scenario_baseline.h"
#include "store/project/serving_file.h"
#include "support/page_window.h"
#include "widgets/comparison/break_even_plot.h"
#include "widgets/comparison/difference_list.h"
#include "widgets/comparison/waterfall_plot.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/graph/graph_view.h"

#include <QtWidgets>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

namespace {

Project servedTwice() {
    Project project = smallProject();
    auto read = readServing(
        "orrery: serving/1\nname: Small\nmodel: {source: llama-2-7b}\npools: [{name: all}]\n"
        "promise: {ttft: 500 ms}\ntraffic:\n  requests: 40\n  arrivals: {kind: poisson, rate: 4}\n"
        "  prompt: {kind: fixed, mean: 256}\n  output: {kind: fixed, mean: 16}\n");
    if (!read) qFatal("%s", toText(read.error()).c_str());
    project.serving = std::move(read->study);
    project.hardware[1] = loadHardware("a100-80-sxm").value().hardware;
    project.scenarios.front().task = "serving-run";
    project.scenarios.push_back(project.scenarios.front());
    project.scenarios.back().hardware = project.hardware[1].name;
    project.prices[""] = 2;
    return project;
}

}  // namespace

class TestStudioCompare : public PageTest<ComparePage> {
    Q_OBJECT
private slots:
    void initTestCase() { prepare(); }
    void init() { open(); }
    void cleanup() { close(); }

    void nothingIsAskedYet() {
        window_->document().reset({});
        front();
        QVERIFY(!button("compare.keep")->isVisible());
    }
    // Keep this as A, double the bandwidth, see what it brings, undo all of it.
    void keptThenChangedThenUndone() {
        window_->document().reset(smallProject());
        front();
        QVERIFY(settled(1));
        QVERIFY(!button("compare.heat")->isEnabled());
        click("compare.keep");
        const auto& state = window_->document().state();
        QCOMPARE(undo()->count(), 1);
        QCOMPARE(state->scenarios.size(), std::size_t{2});
        QVERIFY(isBaseline(state->scenarios[1]) && !isBaseline(state->scenarios[0]));
        QVERIFY(state->scenarios[1].hardware != state->scenarios[0].hardware);
        QVERIFY(settled(2));
        // Once is enough.
        click("compare.keep");
        QCOMPARE(undo()->count(), 1);

        const double before = bandwidthOf(window_->document(), "hbm3");
        auto changed = withAttribute(*window_->document().hardware(), "hbm3.bandwidth",
                                     formatMeasure(2 * before, Dimension::DataRate, 12));
        QVERIFY(changed);
        QVERIFY(window_->document().apply(Edit{[&] {
                                                   ProjectState after = *state;
                                                   after.hardware[std::size_t(after.currentHardware())] =
                                                       std::make_shared<const Hardware>(*changed);
                                                   return after;
                                               }(),
                                               "Twice the bandwidth",
                                               {},
                                               {},
                                               {}}));
        QVERIFY(QTest::qWaitFor([this] { return faster() && !page_->isBusy(); }, 20000));
        // The kept design did not change.
        QCOMPARE(bandwidthOf(window_->document(), "hbm3"), 2 * before);
        const auto kept = state->hardware[std::size_t(state->hardwareIndex(state->scenarios[1].hardware))];
        QVERIFY(!(kept->root == window_->document().hardware()->root));
        QVERIFY(label("compare.headline").contains("× as fast"));

        // Bars add up to the totals, and a click selects the operators of a row.
        const ui::WaterfallData& bars = page_->waterfall()->data();
        QVERIFY(bars.rows.size() >= 3);
        double sum = bars.from;
        for (const ui::WaterfallRow& row : bars.rows) sum += row.change;
        QVERIFY(std::abs(sum - bars.to) <= 1e-11 * bars.from);
        window_->studio().selection.clear();
        QTest::mouseClick(page_->waterfall(), Qt::LeftButton, {}, page_->waterfall()->rowRect(0).center().toPoint());
        QCOMPARE(page_->waterfall()->current(), 0);
        QVERIFY(!window_->studio().selection.operators().isEmpty());

        // Parts and times, old → new.
        tab(1);
        QVERIFY(
            QTest::qWaitFor([this] { return !page_->isBusy() && page_->changes()->model()->rowCount() == 2; }, 20000));
        const QString change = page_->changes()->model()->index(0, 0).data().toString();
        QVERIFY2(change.contains("hbm3 bandwidth") && change.contains(" → "), qPrintable(change));
        QCOMPARE(page_->changes()->model()->index(0, 2).data(), page_->changes()->model()->index(1, 2).data());

        // Where both are alike: at the bandwidth that A has.
        tab(2);
        QVERIFY(
            QTest::qWaitFor([this] { return !page_->isBusy() && page_->even() && page_->even()->has_value(); }, 30000));
        const BreakEven& even = **page_->even();
        QCOMPARE(even.path, std::string("hbm3.bandwidth"));
        QCOMPARE(even.crossings.size(), std::size_t{1});
        QVERIFY(std::abs(even.crossings.front().at / before - 1) < 5e-3);
        QVERIFY(page_->curve()->curve().x.size() > 10);

        // On the graph and on the drawing.
        click("compare.heat");
        auto* workload = window_->studio().router.page<WorkloadPage>();
        QVERIFY(QTest::qWaitFor([&] { return workload->isVisible() && workload->graph()->shownMetric(); }));
        QVERIFY2(workload->graph()->metric().startsWith("ratio/compare"), qPrintable(workload->graph()->metric()));
        const auto& heat = *workload->graph()->shownMetric();
        QVERIFY(heat.diverging && heat.logarithmic);
        QVERIFY(std::ranges::any_of(heat.values, [](double ratio) { return ratio < 0.8; }));

        while (undo()->canUndo()) undo()->undo();
        QVERIFY(!window_->document().isModified());
        QCOMPARE(window_->document().state()->scenarios.size(), std::size_t{1});
        QCOMPARE(window_->document().state()->hardware.size(), std::size_t{2});
    }
    void theExampleIsPinnedByMouse() {
        openExample();
        QVERIFY(settled(3));
        QCOMPARE(page_->view()->comparison.baseline, std::size_t{1});
        const auto cell = [&](int row, int column) {
            const QModelIndex index = page_->table()->model()->index(row, column);
            return page_->table()->visualRect(index).center();
        };
        QTest::mouseClick(page_->table()->viewport(), Qt::LeftButton, {}, cell(2, 0));
        const auto& state = window_->document().state();
        QCOMPARE(undo()->count(), 1);
        QVERIFY(isBaseline(state->scenarios[2]) && !isBaseline(state->scenarios[1]));
        QVERIFY(QTest::qWaitFor([this] { return !page_->isBusy() && page_->view()->comparison.baseline == 2; }, 20000));
        QCOMPARE(page_->chosen(), 0);
        // A row is chosen, opened, taken out.
        QTest::mouseClick(page_->table()->viewport(), Qt::LeftButton, {}, cell(1, 1));
        QCOMPARE(page_->chosen(), 1);
        QVERIFY(label("compare.headline").startsWith("NVIDIA A100"));
        const std::string opened = state->scenarios[1].hardware;
        click("compare.open");
        QCOMPARE(window_->document().state()->scenarios.front().hardware, opened);
        QVERIFY(settled(3));
        QTest::mouseClick(page_->table()->viewport(), Qt::LeftButton, {}, cell(1, 1));
        click("compare.remove");
        QCOMPARE(window_->document().state()->scenarios.size(), std::size_t{2});
        QVERIFY(settled(2));
        // Saved and read again.
        const std::string yaml = window_->document().yaml();
        QVERIFY(yaml.find("baseline: true") != std::string::npos);
        const auto again = readProject(yaml);
        QVERIFY(again);
        for (const Diagnostic& said : again->warnings) QVERIFY(said.code != "yaml.unknown-key");
        QVERIFY(again->project.scenarios == window_->document().state()->scenarios);
        while (undo()->canUndo()) undo()->undo();
        QCOMPARE(window_->document().state()->scenarios.size(), std::size_t{3});
        QVERIFY(!window_->document().isModified());
    }
    // Generations call their parts otherwise; what differs still reads old → new.
    void partsAreMatchedByTheirRole() {
        openExample();
        QVERIFY(settled(3));
        QCOMPARE(page_->chosen(), 0);
        tab(1);
        QVERIFY(
            QTest::qWaitFor([this] { return !page_->isBusy() && page_->changes()->model()->rowCount() > 3; }, 20000));
        bool memory = false;
        for (int row = 0; row < page_->changes()->model()->rowCount(); ++row) {
            const QString text = page_->changes()->model()->index(row, 0).data().toString();
            QVERIFY2(!text.contains("hbm") || text.startsWith(QString::fromUtf8("hbm2e → hbm3: ")), qPrintable(text));
            memory = memory || text.contains("bandwidth");
        }
        QVERIFY(memory);
    }
    // Two fleets under the same traffic, and a pass beside them: their figures are columns, a pass is none of them.
    void servingRunsAreCases() {
        Project project = servedTwice();
        project.scenarios.push_back(smallProject().scenarios.front());
        window_->document().reset(project);
        front();
        QVERIFY(settled(3));
        const auto& cases = page_->view()->comparison.cases;
        const auto value = [&](std::size_t at, const char* name) { return cases[at].values[*caseQuantity(name)]; };
        for (std::size_t i : {0u, 1u}) {
            QVERIFY2(cases[i].estimate, cases[i].failure ? cases[i].failure->message.c_str() : "");
            const Estimate& answer = *cases[i].estimate;
            const auto figure = [&](const char* label) {
                return std::ranges::find(answer.figures, std::string(label), &Figure::label)->value;
            };
            QCOMPARE(value(i, "goodput")->value, figure("Goodput"));
            QCOMPARE(value(i, "slo_kept")->value, figure("SLO attainment"));
            QCOMPARE(value(i, "ttft_p99")->value, figure("Time to first token, 99th percentile"));
            QCOMPARE(value(i, "throughput")->value, figure("Throughput"));
            // Tokens for a dollar at two dollars an hour of the one device.
            const double tokens = figure("Throughput") * figure("Makespan"), paid = 2 * figure("Makespan") / 3600;
            QVERIFY(std::abs(value(i, "per_dollar")->value / (tokens / paid) - 1) < 1e-9);
        }
        QVERIFY(cases[2].estimate && !value(2, "goodput") && value(2, "time"));
        // The runs are held against each other, the pass against none of them.
        QCOMPARE(page_->view()->comparison.baseline, std::size_t{1});
        QVERIFY(againstBaseline(cases[1], cases[0], *caseQuantity("ttft_p99")).has_value());
        QVERIFY(!againstBaseline(cases[1], cases[2], *caseQuantity("time")).has_value());
        QVERIFY(againstBaseline(cases[1], cases[2], *caseQuantity("area")).has_value());
        QVERIFY(page_->waterfall()->data().rows.empty());
        QStringList heads;
        for (int c = 0; c < page_->table()->model()->columnCount(); ++c)
            heads << page_->table()->model()->headerData(c, Qt::Horizontal).toString();
        for (const char* head : {"Goodput", "SLO attainment", "First token, p99", "Throughput per dollar"})
            QVERIFY2(heads.contains(QLatin1String(head)), head);
    }
    // A break-even is kept with the project, asked again when its case is chosen, and let go by the same button.
    void aBreakEvenIsKept() {
        openExample();
        QVERIFY(settled(3));
        tab(2);
        const auto found = [this] { return !page_->isBusy() && page_->even() && page_->even()->has_value(); };
        QVERIFY(QTest::qWaitFor(found, 30000));
        auto* attribute = page_->findChild<QComboBox*>("compare.attribute");
        attribute->setCurrentText("sm.count");
        emit attribute->activated(0);
        QVERIFY(QTest::qWaitFor([&] { return found() && (*page_->even())->path == "sm.count"; }, 30000));
        click("compare.evenKeep");
        QCOMPARE(undo()->count(), 1);
        const auto kept = breakEvenOf(window_->document().state()->scenarios.front());
        QVERIFY(kept && kept->attribute == "sm.count" && kept->found == toText(**page_->even()));
        const QString file = home_.filePath("kept.yaml");
        QVERIFY_DONE(window_->document().saveAs(file));
        const auto again = readProject(window_->document().yaml());
        QVERIFY(again);
        QVERIFY(breakEvenOf(again->project.scenarios.front()) == kept);
        for (const Diagnostic& said : again->warnings) QVERIFY(said.code != "yaml.unknown-key");
        attribute->setCurrentText("hbm3.bandwidth");
        QVERIFY_DONE(window_->document().load(file));
        QVERIFY(QTest::qWaitFor([&] { return found() && (*page_->even())->path == "sm.count"; }, 30000));
        QVERIFY(button("compare.evenKeep")->isChecked());
        // The file that is exported has it too.
        const QString json = home_.filePath("even.json");
        QCOMPARE(page_->exportTo(json), QString());
        QFile in(json);
        QVERIFY(in.open(QIODevice::ReadOnly));
        QVERIFY(in.readAll().contains("\"break_even\""));
        click("compare.evenKeep");
        QVERIFY(!breakEvenOf(window_->document().state()->scenarios.front()));
        undo()->undo();
        QVERIFY(breakEvenOf(window_->document().state()->scenarios.front()) == kept);
    }
    // Beside open docks of a small window no control is cut.
    void aNarrowPageCutsNothing() {
        openExample();
        QVERIFY(settled(3));
        for (int at : {0, 1, 2}) {
            tab(at);
            QVERIFY2(page_->minimumSizeHint().width() <= 560,
                     qPrintable(QString::number(page_->minimumSizeHint().width())));
        }
    }
    void aDesignOfTheLibraryIsAdded() {
        window_->document().reset(smallProject());
        front();
        QVERIFY(settled(1));
        auto* menu = window_->findChild<QMenu*>("compareAddMenu");
        emit menu->aboutToShow();
        QAction* found = nullptr;
        for (QMenu* group : menu->findChildren<QMenu*>())
            for (QAction* action : group->actions())
                if (action->text() == "NVIDIA A100 SXM 80 GB") found = action;
        QVERIFY(found);
        found->trigger();
        QCOMPARE(window_->document().state()->hardware.size(), std::size_t{3});
        QVERIFY(isBaseline(window_->document().state()->scenarios[1]));
        QVERIFY(settled(2));
        QCOMPARE(page_->view()->comparison.base().asked.name, std::string("NVIDIA A100 SXM 80 GB"));
        undo()->undo();
        QCOMPARE(window_->document().state()->hardware.size(), std::size_t{2});
    }
    void exportsWhatItShows() {
        openExample();
        QVERIFY(settled(3));
        for (const char* name : {"a.svg", "a.pdf", "a.png", "a.csv", "a.json"}) {
            const QString file = home_.filePath(QLatin1String(name));
            QCOMPARE(page_->exportTo(file), QString());
            QVERIFY2(QFileInfo(file).size() > 200, name);
        }
        QVERIFY(!page_->exportTo("/nowhere/at/all.csv").isEmpty());
    }
    // The list between two designs reads from the old one to the one that is worked on.
    void differencesReadOldToNew() {
        window_->document().reset(smallProject());
        window_->studio().router.show(QStringLiteral("hardware"));
        window_->actions().find("designDerive")->trigger();
        const double before = bandwidthOf(window_->document(), "hbm3");
        QVERIFY(window_->document().apply(Edit{[&] {
                                                   ProjectState after = *window_->document().state();
                                                   auto changed = withAttribute(
                                                       *window_->document().hardware(), "hbm3.bandwidth",
                                                       formatMeasure(2 * before, Dimension::DataRate, 12));
                                                   after.hardware[std::size_t(after.currentHardware())] =
                                                       std::make_shared<const Hardware>(std::move(*changed));
                                                   return after;
                                               }(),
                                               "Twice the bandwidth",
                                               {},
                                               {},
                                               {}}));
        auto* list = window_->page<HardwarePage>().differenceList();
        QVERIFY(QTest::qWaitFor([&] { return list->model()->rowCount() == 1; }));
        const Difference& row = list->model()->differences().front();
        QCOMPARE(row.attribute, std::string("bandwidth"));
        const auto from = parseMeasure(row.from, Dimension::DataRate), to = parseMeasure(row.to, Dimension::DataRate);
        QVERIFY(from && to);
        QCOMPARE(from->si, before);
        QCOMPARE(to->si, 2 * before);
    }

private:
    QString label(const char* name) const {
        auto* found = page_->findChild<QLabel*>(QLatin1String(name));
        return found ? found->toolTip().isEmpty() ? found->text() : found->text() : QString();
    }
    void tab(int at) const {
        auto* bar = page_->findChild<QTabBar*>("compare.tabs");
        QTest::mouseClick(bar, Qt::LeftButton, {}, bar->tabRect(at).center());
    }
    void front() const { window_->studio().router.show(page_); }
    bool settled(std::size_t cases) const {
        return QTest::qWaitFor(
            [&] { return page_->view() && !page_->isBusy() && page_->view()->comparison.cases.size() == cases; },
            20000);
    }
    bool faster() const {
        if (!page_->view() || page_->view()->comparison.cases.size() != 2) return false;
        const auto& cases = page_->view()->comparison.cases;
        return cases[0].estimate && cases[1].estimate &&
               cases[0].estimate->latency.value < 0.8 * cases[1].estimate->latency.value;
    }
    void openExample() const {
        QVERIFY(window_->document().load(QStringLiteral(ORRERY_SOURCE "/presets/examples/a100-h100-or-h200.yaml")));
        front();
    }
};

QTEST_MAIN(TestStudioCompare)
#include "tst_studio_compare.moc"
