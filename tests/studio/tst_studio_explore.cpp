// The explore page with real mouse and keys: knobs, the front, a design that is used and undone.

#include "app/window/explore/explore_form.h"
#include "app/window/explore/explore_page.h"
#include "app/window/main_window.h"
#include "app/window/scenario_bar.h"
#include "app/window/studio.h"
#include "app/window/turn_menu.h"
#include "store/project/serving_file.h"
#include "support/studio_fixture.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/theme.h"
#include "widgets/common/value_edit.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/exploration/effect_bars.h"
#include "widgets/exploration/history_plot.h"
#include "widgets/exploration/parallel_plot.h"
#include "widgets/exploration/search_plot.h"

#include <QtWidgets>

using namespace orrery;
using namespace orrery::app;
using namespace orrery::app::test;

namespace {

constexpr const char* servingText =
    "orrery: serving/1\nname: Small\nmodel: {source: llama-2-7b}\npools: [{name: all}]\npromise: {ttft: 500 ms}\n"
    "traffic:\n  requests: 40\n  arrivals: {kind: poisson, rate: 4}\n  prompt: {kind: fixed, mean: 256}\n"
    "  output: {kind: fixed, mean: 16}\n";

}  // namespace

class TestStudioExplore : public QObject {
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
        page_ = window_->findChild<ExplorePage*>();
        QVERIFY(page_);
    }
    void cleanup() { window_.reset(); }

    void nothingIsAskedYet() {
        window_->document().reset({});
        front();
        QVERIFY(!go()->isVisible());
    }
    // From a project without a search: a knob is added, another one, the search runs, a dot is used, all is undone.
    void hbmOrCoresByMouse() {
        window_->document().reset(smallProject());
        front();
        QVERIFY(QTest::qWaitFor([this] { return page_->form()->findChild<QComboBox*>("explore.add")->count() > 5; },
                                10000));
        QVERIFY(!go()->isEnabled());
        add("hbm3.bandwidth");
        QVERIFY(QTest::qWaitFor([this] { return go()->text().contains("5"); }));
        add("sm.count");
        QVERIFY(QTest::qWaitFor([this] { return go()->text().contains("25"); }));
        QCOMPARE(undo()->count(), 2);
        const auto& search = window_->document().state()->search;
        QVERIFY(search && search->knobs.size() == 2);
        QCOMPARE(search->objectives, (std::vector<std::string>{"time", "area"}));
        QTest::mouseClick(go(), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([this] { return !page_->isBusy() && page_->view(); }, 20000));
        QCOMPARE(page_->view()->seen.size(), std::size_t{25});
        QTRY_COMPARE(page_->effects()->bars().size(), std::size_t{2});
        QCOMPARE(page_->effects()->bars().front().name, QString("hbm3.bandwidth"));
        QVERIFY(page_->table()->model()->rowCount() == static_cast<int>(page_->view()->front.points.size()));
        // The quickest point of the front: its dot is clicked, and used.
        const int best = static_cast<int>(page_->view()->front.points.front());
        QTest::mouseClick(page_->plot(), Qt::LeftButton, {}, page_->plot()->placeOf(best).toPoint());
        QCOMPARE(page_->plot()->current(), best);
        QCOMPARE(page_->table()->currentRow(), 0);
        const double before = bandwidthOf(window_->document(), "hbm3");
        QTest::mouseClick(button("explore.use"), Qt::LeftButton);
        QCOMPARE(undo()->count(), 3);
        QCOMPARE(bandwidthOf(window_->document(), "hbm3"), 2 * before);
        QVERIFY(undo()->undoText().startsWith("Use hbm3.bandwidth"));
        undo()->undo();
        QCOMPARE(bandwidthOf(window_->document(), "hbm3"), before);
        undo()->undo();
        undo()->undo();
        QVERIFY(!window_->document().isModified());
        QVERIFY(!window_->document().state()->search);
    }
    void valuesAreTypedAndRefused() {
        start();
        auto* values = page_->form()->findChild<ui::ValueEdit*>("explore.values.batch");
        QVERIFY(values);
        type(values, "1, 2, 4, 8");
        QVERIFY(QTest::qWaitFor([this] { return go()->text().contains("4"); }));
        values = page_->form()->findChild<ui::ValueEdit*>("explore.values.batch");
        type(values, "1 .. , 3 steps, sideways");
        QVERIFY(values->diagnostic());
        QCOMPARE(window_->document().state()->search->knobs.front().values.size(), std::size_t{4});
        // What no question can set is said by the search, and nothing else happens.
        values->setFocus();
        type(values, "1, many");
        QVERIFY(QTest::qWaitFor([this] { return !go()->isEnabled(); }));
        auto* said = page_->form()->findChild<ui::Label*>("explore.points");
        QVERIFY2(said->text().contains("many"), qPrintable(said->text()));
    }
    // By form: what fits, a limit that starts at what the question has now, typed, refused, removed, undone.
    void constraintsAreChosen() {
        start();
        const auto constraints = [this] { return window_->document().state()->search->constraints; };
        choose("explore.limit", "Fits into memory");
        QCOMPARE(constraints(), std::vector<std::string>{"fits"});
        QVERIFY(QTest::qWaitFor([this] { return entryOf("explore.limit", "Silicon area at most") > 0; }, 20000));
        choose("explore.limit", "Silicon area at most");
        QCOMPARE(constraints().size(), std::size_t{2});
        QCOMPARE(constraints()[1], std::string("area <= 814 mm²"));
        QTRY_VERIFY(entryOf("explore.limit", "Silicon area at most") < 0);
        QTRY_VERIFY(page_->form()->findChild<ui::ValueEdit*>("explore.limit.1"));
        type(page_->form()->findChild<ui::ValueEdit*>("explore.limit.1"), "858 mm2");
        QCOMPARE(constraints()[1], std::string("area <= 858 mm2"));
        QTest::qWait(50);  // the rows follow the document
        auto* edit = newest<ui::ValueEdit>("explore.limit.1");
        QVERIFY(edit && edit->stored() == "858 mm2");
        type(edit, "3 apples");
        QVERIFY(edit->diagnostic());
        QCOMPARE(constraints()[1], std::string("area <= 858 mm2"));
        auto* remove = newest<ui::IconButton>("explore.unlimit.0");
        QVERIFY(remove);
        QTest::mouseClick(remove, Qt::LeftButton);
        QVERIFY2(constraints() == std::vector<std::string>{"area <= 858 mm2"},
                 constraints().empty() ? "none" : constraints().front().c_str());
        for (int i = 0; i < 4; ++i) undo()->undo();
        QVERIFY(constraints().empty());
    }
    void aThirdObjective() {
        start();
        choose("explore.also", "Silicon area");
        QCOMPARE(window_->document().state()->search->objectives, (std::vector<std::string>{"time", "energy", "area"}));
        QVERIFY(QTest::qWaitFor([this] { return go()->isEnabled(); }, 10000));
        search();
        QCOMPARE(page_->parallel()->data()->axes.size(), std::size_t{1 + 3});
        QCOMPARE(page_->view()->seen.objectives, std::size_t{3});
    }
    // Lines across all axes: a drag keeps those that pass, a click chooses one, the file has those that pass.
    void axesAreBrushed() {
        Project project = smallProject();
        project.search = SearchSettings{
            {{"hbm3.bandwidth", {}, {"1 TB/s", "8 TB/s", 8, true}}, {"sm.count", {"66", "132", "264"}, {}}},
            {"time", "area"},
            {},
            "roofline"};
        window_->document().reset(project);
        front();
        QVERIFY(QTest::qWaitFor([this] { return go()->isEnabled(); }, 10000));
        search();
        auto* tabs = page_->findChild<QTabWidget*>("explore.views");
        tabs->setCurrentIndex(ExplorePage::ParallelTab);
        ui::ParallelPlot* plot = page_->parallel();
        QTRY_VERIFY(plot->isPainted());
        QCOMPARE(plot->keptPoints(), std::size_t{24});
        const QPoint end(static_cast<int>(plot->xOf(1)), static_cast<int>(plot->yOf(0)));
        const QPoint middle(end.x(), static_cast<int>(plot->yOf(0.4F)));
        QTest::mousePress(plot, Qt::LeftButton, {}, end);
        QTest::mouseMove(plot, middle);
        QTest::mouseRelease(plot, Qt::LeftButton, {}, middle);
        QVERIFY(plot->brushes()[1].has_value());
        QCOMPARE(plot->keptPoints(), std::size_t{8});
        for (std::size_t i = 0; i < 24; ++i)
            QCOMPARE(plot->isKept(i), page_->problem()->space.levelsAt(page_->view()->seen.points[i])[1] == 0u);
        QTRY_VERIFY(plot->isPainted());
        // A line of the front that passes is chosen by a click beside an axis.
        int wanted = -1;
        for (std::size_t i = 0; i < 24; ++i)
            if (plot->isKept(i) && plot->data()->places[i] == ui::PointPlace::Front) wanted = static_cast<int>(i);
        QVERIFY(wanted >= 0);
        const auto& axes = plot->data()->axes;
        const auto at = static_cast<std::size_t>(wanted);
        const QPointF on((plot->xOf(2) * 3 + plot->xOf(3)) / 4, plot->yOf((axes[2].at[at] * 3 + axes[3].at[at]) / 4));
        QTest::mouseClick(plot, Qt::LeftButton, {}, on.toPoint());
        QVERIFY(plot->current() >= 0 && plot->isKept(static_cast<std::size_t>(plot->current())));
        QCOMPARE(page_->plot()->current(), plot->current());
        QVERIFY(button("explore.use")->isEnabled());
        const QString file = home_.filePath("lines.csv");
        QCOMPARE(page_->written(file, ExplorePage::ParallelTab), QString());
        QFile csv(file);
        QVERIFY(csv.open(QIODevice::ReadOnly));
        QCOMPARE(csv.readAll().count('\n'), 1 + 8);
        QTest::mouseClick(plot, Qt::LeftButton, {}, middle);  // a click lets all pass
        QCOMPARE(plot->keptPoints(), std::size_t{24});
        // A click on a name colours by it.
        QCOMPARE(plot->coloured(), std::size_t{2});
        QTest::mouseClick(plot, Qt::LeftButton, {},
                          QPoint(static_cast<int>(plot->xOf(3)), static_cast<int>(plot->yOf(1)) - 16));
        QCOMPARE(plot->coloured(), std::size_t{3});
        QTRY_VERIFY(plot->isPainted());
    }
    void howItCameToItsBest() {
        start();
        search();
        const auto& curves = page_->history()->curves();
        QCOMPARE(curves.size(), std::size_t{3});  // what the front covers, and the best of both
        for (const ui::HistoryCurve& curve : curves) {
            QCOMPARE(curve.share.back(), 1.0);
            QVERIFY(std::ranges::is_sorted(curve.share));
        }
    }
    // Why points have no answer, how many, and one of them by a click.
    void whatHasNoAnswerIsListed() {
        Project project = smallProject();
        project.search =
            SearchSettings{{{"tp", {"1", "2", "4"}, {}}, {"batch", {"1", "8"}, {}}}, {"time"}, {}, "roofline"};
        window_->document().reset(project);
        front();
        QVERIFY(QTest::qWaitFor([this] { return go()->isEnabled(); }, 10000));
        search();
        std::size_t all = 0;
        for (const auto& each : page_->view()->refused) all += each.points;
        QVERIFY(all > 0);
        QCOMPARE(page_->refused()->model()->rowCount(), static_cast<int>(page_->view()->refused.size()));
        QVERIFY(page_->findChild<QTabWidget*>("explore.views")
                    ->tabText(ExplorePage::RefusedTab)
                    .contains(QString::number(all)));
        emit page_->refused()->rowChosen(0);
        QVERIFY(!button("explore.use")->isEnabled());
    }
    // Energy has no stated interval: table and picture say so.
    void whatIsUnsureIsSaid() {
        start();
        search();
        QVERIFY(page_->plot()->data().y.unsure && !page_->plot()->data().x.unsure);
        const QModelIndex energy = page_->table()->model()->index(0, 2);
        QVERIFY2(energy.data().toString().endsWith(" ?"), qPrintable(energy.data().toString()));
    }
    // From the inspector of a drawn part: its number becomes a knob, the page comes to the front.
    void aNumberIsTurnedFromWhereItStands() {
        window_->document().reset(smallProject());
        window_->studio().router.show(QStringLiteral("hardware"));
        window_->studio().inspection.showComponent(pathOf(window_->document(), "hbm3"));
        window_->studio().inspection.reveal();
        QAction* turn = nullptr;
        QVERIFY(QTest::qWaitFor([&] {
            turn = window_->findChild<QAction*>("inspector.bandwidth.turn");
            return turn != nullptr;
        }));
        turn->trigger();
        QVERIFY(QTest::qWaitFor([this] { return page_->isVisible(); }));
        const auto& search = window_->document().state()->search;
        QVERIFY(search && search->knobs.size() == 1);
        QCOMPARE(search->knobs.front().path, std::string("hbm3.bandwidth"));
        turn->trigger();  // there already
        QCOMPARE(window_->document().state()->search->knobs.size(), std::size_t{1});
        page_->turn(pathOf(window_->document(), "tensor"), "macs.fp16");
        QCOMPARE(window_->document().state()->search->knobs.back().path, std::string("tensor.macs.fp16"));
        QVERIFY(window_->document().state()->search->knobs.back().range.to.ends_with("cycle"));
        emit window_->studio().inspection.turnRequested(pathOf(window_->document(), "sm"), "count");
        QCOMPARE(window_->document().state()->search->knobs.back().path, std::string("sm.count"));
        QCOMPARE(undo()->count(), 3);
    }
    // From the menus of a part, of the plan and of the workload.
    void menusTurnToo() {
        window_->document().reset(smallProject());
        front();
        QTRY_VERIFY(window_->studio().live.workload());
        QMenu part;
        fillTurnMenu(&part, window_->studio().inspection, window_->document().hardware(),
                     pathOf(window_->document(), "nvlink"));
        auto* turn = part.findChild<QMenu*>("turnMenu");
        QVERIFY(turn && turn->findChild<QAction*>("turn.bandwidth"));
        turn->findChild<QAction*>("turn.bandwidth")->trigger();
        turn->findChild<QAction*>("turn.count")->trigger();
        for (const auto& [chooser, action] : {std::pair{"planChooser", "turn.tp"}, {"workloadChooser", "turn.batch"}}) {
            auto* menu = window_->findChild<Chooser*>(chooser)->choices();
            emit menu->aboutToShow();
            auto* knobs = menu->findChild<QMenu*>("turnMenu");
            QVERIFY(knobs && knobs->findChild<QAction*>(action));
            knobs->findChild<QAction*>(action)->trigger();
        }
        std::vector<std::string> paths;
        for (const KnobSetting& knob : window_->document().state()->search->knobs) paths.push_back(knob.path);
        QCOMPARE(paths, (std::vector<std::string>{"nvlink.bandwidth", "nvlink.count", "tp", "batch"}));
        QCOMPARE(undo()->count(), 4);
        QVERIFY(page_->isVisible());
    }
    // A value of the serving form becomes a knob of a search over that run, which becomes the task.
    void aServingValueIsTurned() {
        Project project = smallProject();
        auto read = readServing(servingText);
        QVERIFY_DONE(read);
        project.serving = read->study;
        window_->document().reset(project);
        window_->studio().router.show(QStringLiteral("serving"));
        QAction* turn = nullptr;
        QTRY_VERIFY((turn = window_->findChild<QAction*>("serving.traffic.arrivals.rate.turn")));
        QTRY_VERIFY(window_->studio().live.workload());
        turn->trigger();
        const auto& search = window_->document().state()->search;
        QVERIFY(search && search->knobs.size() == 1);
        QCOMPARE(search->knobs.front().path, std::string("serving.traffic/arrivals/rate"));
        QCOMPARE(window_->document().state()->scenarios.front().task, std::string("serving-run"));
        QVERIFY(page_->isVisible());
    }
    // What a point of a serving search has is set in the run.
    void aServingPointIsUsed() {
        Project project = smallProject();
        project.serving = readServing(servingText)->study;
        project.scenarios.front().task = "serving-run";
        project.search = SearchSettings{{{"serving.rate", {"1", "2"}, {}}, {"software", {"vLLM 0.24.0"}, {}}},
                                        {"Time to first token, 99th percentile", "max Throughput"},
                                        {"slo"},
                                        "serving"};
        window_->document().reset(project);
        front();
        QVERIFY(QTest::qWaitFor([this] { return go()->isEnabled(); }, 10000));
        search();
        QVERIFY2(page_->view()->seen.answered(1),
                 page_->view()->seen.refusals.empty() ? "" : page_->view()->seen.refusals.front().c_str());
        page_->choose(1);
        QTest::mouseClick(button("explore.use"), Qt::LeftButton);
        QCOMPARE(window_->document().state()->serving->traffic.arrivals.rate, 2.0);
        QCOMPARE(window_->document().state()->scenarios.front().software.engine, std::string("vLLM 0.24.0"));
        QCOMPARE(undo()->count(), 1);
        undo()->undo();
        QCOMPARE(window_->document().state()->serving->traffic.arrivals.rate, 4.0);
    }
    // Every word that a person may try in the palette leads here.
    void thePaletteFindsIt() {
        const auto entries = page_->findable();
        for (const char* word : {"sweep", "explore", "Pareto", "design space", "sensitivity", "history"}) {
            QVERIFY2(std::ranges::any_of(entries,
                                         [&](const ui::PaletteEntry& entry) {
                                             return entry.title.contains(QLatin1String(word), Qt::CaseInsensitive);
                                         }),
                     word);
        }
    }
    void aKnobIsRemoved() {
        start();
        auto* remove = page_->form()->findChild<ui::IconButton*>("explore.remove.batch");
        QTest::mouseClick(remove, Qt::LeftButton);
        QVERIFY(window_->document().state()->search->knobs.empty());
        undo()->undo();
        QCOMPARE(window_->document().state()->search->knobs.size(), std::size_t{1});
    }
    void aSearchIsStopped() {
        Project project = smallProject();
        project.search = SearchSettings{
            {{"hbm3.bandwidth", {}, {"1 TB/s", "8 TB/s", 2000, true}}, {"sm.count", {}, {"20", "200", 181, false}}},
            {"time", "area"},
            {},
            "hierarchical-roofline"};
        window_->document().reset(project);
        front();
        QVERIFY(QTest::qWaitFor([this] { return go()->isEnabled(); }, 10000));
        QTest::mouseClick(go(), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([this] { return page_->view() && page_->view()->seen.size() > 600; }, 20000));
        QCOMPARE(go()->text(), QString("Stop"));
        QTest::mouseClick(go(), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([this] { return !page_->isBusy(); }, 5000));
        QVERIFY(page_->view()->seen.size() < 362'000);
    }
    void itIsKeptWithTheProject() {
        start();
        const QString file = home_.filePath("kept.yaml");
        QVERIFY_DONE(window_->document().saveAs(file));
        const SearchSettings before = *window_->document().state()->search;
        QVERIFY_DONE(window_->document().load(file));
        QVERIFY(window_->document().state()->search == before);
    }
    void figuresAndFilesAreWritten() {
        start();
        QTest::mouseClick(go(), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([this] { return !page_->isBusy() && page_->view(); }, 20000));
        QTemporaryDir folder;
        const auto written = page_->report(folder.path());
        QVERIFY(written);
        QCOMPARE(written->size(), 2);
        for (const QString& file : *written) QVERIFY(QFileInfo(file).size() > 100);
    }
    void aSearchFileOpens() {
        window_->document().reset({});
        page_->open(QStringLiteral(ORRERY_SOURCE "/presets/searches/hbm-or-cores.yaml"));
        QVERIFY(QTest::qWaitFor([this] { return go() && go()->text().contains("45"); }, 10000));
        QCOMPARE(window_->document().workload()->recipe.options.batch, 8);
        undo()->undo();  // all of it was one step
        QVERIFY(!window_->document().state()->search && !window_->document().hardware());
    }
    // Task and software come with the file.
    void aSearchFileBringsItsSoftware() {
        window_->document().reset({});
        QFile serving(home_.filePath("run.yaml")), file(home_.filePath("search.yaml"));
        QVERIFY(serving.open(QIODevice::WriteOnly) && file.open(QIODevice::WriteOnly));
        serving.write(servingText);
        file.write(
            "orrery: search/1\nname: Rates\nhardware: h100-sxm\nworkload: {source: llama-2-7b, phase: decode}\n"
            "task: run.yaml\nsoftware: vLLM 0.24.0(graphs=on)\nmethod: serving\nplan: tp=1\n"
            "knobs: {serving.rate: [1, 2]}\nobjectives: [time, max Throughput]\n");
        serving.close();
        file.close();
        page_->open(file.fileName());
        const ProjectState& state = *window_->document().state();
        QCOMPARE(toText(state.scenarios.front().software), std::string("vLLM 0.24.0(graphs=on)"));
        QCOMPARE(state.scenarios.front().task, std::string("serving-run"));
        QVERIFY(state.serving && state.serving->traffic.arrivals.rate == 4);
        QVERIFY(QTest::qWaitFor([this] { return go() && go()->isEnabled(); }, 10000));
    }
    void fastEnoughForAHundredThousandDots() {
        ui::SearchPlotData data;
        RandomStream random(1);
        for (int i = 0; i < 100'000; ++i) {
            for (ui::SearchAxis* axis : {&data.x, &data.y}) {
                axis->value.push_back(1 + random.uniform());
                axis->low.push_back(axis->value.back());
                axis->high.push_back(axis->value.back());
            }
            data.places.push_back(i == 7 ? ui::PointPlace::Front : ui::PointPlace::Beaten);
        }
        window_->document().reset(smallProject());
        front();
        page_->plot()->setData(data);
        QElapsedTimer timer;
        timer.start();
        page_->plot()->repaint();
        qInfo("first picture of 100,000 dots: %lld ms", timer.elapsed());
        timer.start();
        page_->plot()->setCurrent(7);
        page_->plot()->repaint();
        qInfo("again: %lld ms", timer.elapsed());
        QCOMPARE(page_->plot()->indexAt(page_->plot()->placeOf(7)), 7);
    }
    // While points arrive, and when they are all there: the longest time in which the window took no event, on every
    // view in turn. ORRERY_STALL_POINTS asks for more points than a test has time for.
    void theWindowIsNotHeldUp() {
        const int points = std::max(2000, qEnvironmentVariableIntValue("ORRERY_STALL_POINTS"));
        Project project = smallProject();
        project.workloads.front().recipe = {"resnet-50", {}};
        project.search = SearchSettings{{{"hbm3.bandwidth", {}, {"1 TB/s", "8 TB/s", 40, true}},
                                         {"clock", {}, {"1 GHz", "2 GHz", std::max(2, points / 40), false}}},
                                        {"time", "area"},
                                        {"area <= 858 mm2"},
                                        "roofline"};
        window_->document().reset(project);
        front();
        QVERIFY(QTest::qWaitFor([this] { return go()->isEnabled(); }, 10000));
        auto* tabs = page_->findChild<QTabWidget*>("explore.views");
        QTest::mouseClick(go(), Qt::LeftButton);
        QElapsedTimer since;
        since.start();
        qint64 longest = 0;
        int beats = 0;
        QTimer beat;
        beat.setTimerType(Qt::PreciseTimer);
        connect(&beat, &QTimer::timeout, this, [&] {
            longest = std::max(longest, since.nsecsElapsed());
            since.restart();
            if (++beats % 200 == 0) tabs->setCurrentIndex((tabs->currentIndex() + 1) % tabs->count());
        });
        beat.start(1);
        QVERIFY(QTest::qWaitFor([this] { return !page_->isBusy() && page_->view(); }, 120000));
        QTest::qWait(300);
        beat.stop();
        qInfo("%zu points: at most %.1f ms without an event", page_->view()->seen.size(),
              static_cast<double>(longest) / 1e6);
        QVERIFY(longest < 2'000'000'000);
        QCOMPARE(page_->view()->seen.size(), static_cast<std::size_t>(page_->problem()->space.points()));
    }
    // Lines of 100,000 points are drawn beside the window: what holds it up is only what stands in front of them.
    void fastEnoughForAHundredThousandLines() {
        auto lines = std::make_shared<ui::ParallelData>();
        RandomStream random(1);
        for (int a = 0; a < 6; ++a) {
            ui::ParallelAxis axis{QString("axis %1").arg(a), a > 3, {}, {{0, "low"}, {1, "high"}}};
            for (int i = 0; i < 100'000; ++i) axis.at.push_back(static_cast<float>(random.uniform()));
            lines->axes.push_back(std::move(axis));
        }
        lines->places.assign(100'000, ui::PointPlace::Beaten);
        for (std::size_t i = 0; i < 300; ++i) lines->places[i] = ui::PointPlace::Front;
        lines->coloured = 4;
        window_->document().reset(smallProject());
        front();
        page_->findChild<QTabWidget*>("explore.views")->setCurrentIndex(ExplorePage::ParallelTab);
        ui::ParallelPlot* plot = page_->parallel();
        QElapsedTimer timer;
        timer.start();
        plot->setData(lines);
        const qint64 given = timer.nsecsElapsed();
        QVERIFY(QTest::qWaitFor([&] { return plot->isPainted(); }, 30000));
        const qint64 drawn = timer.elapsed();
        timer.start();
        plot->repaint();
        const qint64 shown = timer.nsecsElapsed();
        timer.start();
        plot->setBrush(0, ui::ParallelPlot::Span{0.2F, 0.4F});
        const qint64 brushed = timer.nsecsElapsed();
        qInfo("100,000 lines: taken in %.1f ms, there after %lld ms, painted in %.1f ms, brushed in %.1f ms",
              static_cast<double>(given) / 1e6, drawn, static_cast<double>(shown) / 1e6,
              static_cast<double>(brushed) / 1e6);
        QVERIFY(plot->keptPoints() > 15'000 && plot->keptPoints() < 25'000);
    }

private:
    void front() {
        window_->findChild<Studio*>();
        window_->studio().router.show(page_);
        QVERIFY(QTest::qWaitFor([this] { return page_->isVisible() && page_->form(); }));
        QTest::qWait(50);
    }
    void start() {
        Project project = smallProject();
        project.search = SearchSettings{{{"batch", {"1", "8"}, {}}}, {"time", "energy"}, {}, "roofline"};
        window_->document().reset(project);
        front();
        QVERIFY(QTest::qWaitFor([this] { return go()->isEnabled(); }, 10000));
    }
    void search() {
        QTest::mouseClick(go(), Qt::LeftButton);
        QVERIFY(QTest::qWaitFor([this] { return !page_->isBusy() && page_->view(); }, 20000));
        QTRY_VERIFY(page_->parallel()->data() == page_->view()->parallel && !page_->history()->curves().empty());
        QTRY_VERIFY(page_->refused()->model()->rowCount() == static_cast<int>(page_->view()->refused.size()));
    }
    /// Rows that were replaced may not have gone yet.
    template <class Control>
    Control* newest(const char* name) const {
        const auto all = page_->form()->findChildren<Control*>(name);
        return all.isEmpty() ? nullptr : all.last();
    }
    int entryOf(const char* box, const char* text) const {
        const auto* combo = page_->form()->findChild<QComboBox*>(box);
        for (int i = 0; i < combo->count(); ++i)
            if (combo->itemText(i).startsWith(QLatin1String(text))) return i;
        return -1;
    }
    void choose(const char* box, const char* text) {
        auto* combo = page_->form()->findChild<QComboBox*>(box);
        const int at = entryOf(box, text);
        QVERIFY2(at >= 0, text);
        combo->setCurrentIndex(at);
        emit combo->activated(at);
    }
    void add(const char* path) {
        auto* box = page_->form()->findChild<QComboBox*>("explore.add");
        for (int i = 0; i < box->count(); ++i) {
            if (!box->itemText(i).startsWith(QLatin1String(path) + QLatin1Char(' '))) continue;
            box->setCurrentIndex(i);
            emit box->activated(i);
            return;
        }
        QFAIL(path);
    }
    static void type(ui::ValueEdit* edit, const char* text) {
        edit->setFocus();
        edit->selectAll();
        QTest::keyClicks(edit, text);
        QTest::keyClick(edit, Qt::Key_Return);
    }
    QPushButton* button(const char* name) const { return page_->findChild<QPushButton*>(name); }
    QPushButton* go() const { return button("explore.go"); }
    QUndoStack* undo() const { return window_->document().undoStack(); }

    QTemporaryDir home_;
    std::unique_ptr<MainWindow> window_;
    ExplorePage* page_ = nullptr;
};

QTEST_MAIN(TestStudioExplore)
#include "tst_studio_explore.moc"
