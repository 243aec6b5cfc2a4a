// The compare page with real mouse and keys: a question is kept, changed, held against itself, pinned, undone.

#include "app/window/compare/compare_page.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/main_window.h"
#include "app/window/studio.h"
#include "app/window/workload/workload_page.h"
#include "store/project/scenario_baseline.h"
#include "support/studio_fixture.h"
#include "widgets/comparison/break_even_plot.h"
#include "widgets/comparison/difference_list.h"
#include "widgets/comparison/waterfall_plot.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/graph/graph_view.h"

#include <QtWidgets>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

class TestStudioCompare : public QObject {
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
        page_ = window_->findChild<ComparePage*>();
        QVERIFY(page_);
    }
    void cleanup() { window_.reset(); }

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
    QPushButton* button(const char* name) const { return page_->findChild<QPushButton*>(QLatin1String(name)); }
    QString label(const char* name) const {
        auto* found = page_->findChild<QLabel*>(QLatin1String(name));
        return found ? found->toolTip().isEmpty() ? found->text() : found->text() : QString();
    }
    void click(const char* name) const {
        QVERIFY(button(name)->isEnabled());
        QTest::mouseClick(button(name), Qt::LeftButton);
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
    QUndoStack* undo() const { return window_->document().undoStack(); }

    QTemporaryDir home_;
    std::unique_ptr<MainWindow> window_;
    ComparePage* page_ = nullptr;
};

QTEST_MAIN(TestStudioCompare)
#include "tst_studio_compare.moc"
