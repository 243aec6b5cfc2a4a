// Numbers that become knobs from where they stand: inspector, menus, the serving form; and searches over serving runs.

#include "app/window/scenario_bar.h"
#include "app/window/turn_menu.h"
#include "store/project/serving_file.h"
#include "support/explore_window.h"

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

class TestStudioExploreTurn : public ExploreTest {
    Q_OBJECT
private slots:
    void initTestCase() { prepare(); }
    void init() { open(); }
    void cleanup() { close(); }

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
        ready({{{"serving.rate", {"1", "2"}, {}}, {"software", {"vLLM 0.24.0"}, {}}},
               {"Time to first token, 99th percentile", "max Throughput"},
               {"slo"},
               "serving"},
              std::move(project));
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
};

QTEST_MAIN(TestStudioExploreTurn)
#include "tst_studio_explore_turn.moc"
