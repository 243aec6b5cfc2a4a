// One question, four tasks: what a task and a plan change, and that files and the run database keep them.

#include "methods/method.h"
#include "methods/system/planned_fleet.h"
#include "serving/metrics.h"
#include "serving/serving_study.h"
#include "store/export/exports.h"
#include "store/project/project.h"
#include "store/project/study_file.h"
#include "store/runs/run_store.h"
#include "support/devices.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>

using namespace orrery;
using orrery::fixture::device;

namespace {

WorkloadPtr model(const char* id, Phase phase = Phase::Forward, std::int64_t batch = 1) {
    WorkloadOptions options = builtinWorkload(id)->usual;
    options.phase = phase;
    options.batch = batch;
    auto loaded = loadWorkload({id, options, {}});
    return loaded ? *loaded : nullptr;
}

Expected<Estimate> ask(std::string_view text, const Scenario& scenario) {
    const auto choice = methodChoice(text, builtinMethods());
    if (!choice) return Unexpected(choice.error());
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor};
    context.options = choice->options;
    return estimate(*findMethod(choice->id), scenario, context);
}

std::shared_ptr<const ServingStudy> chat() {
    ServingStudy study;
    study.name = "Chat";
    study.scenario.model.source = "llama-3-8b";
    study.traffic.requests = 60;
    return std::make_shared<const ServingStudy>(std::move(study));
}

double figure(const Estimate& answer, std::string_view label) {
    for (const Figure& each : answer.figures)
        if (each.label == label) return each.value;
    return std::nan("");
}

constexpr const char* projectText = R"(orrery: project/1
name: Four tasks
hardware:
  - preset: dgx-h100
workloads:
  - {name: Llama, source: llama-3-8b, phase: decode}
  - {name: ResNet, source: resnet-50, batch: 16}
scenarios:
  - {hardware: NVIDIA DGX H100, workload: Llama, plan: "tp=8"}
  - {hardware: NVIDIA DGX H100, workload: ResNet, plan: dp=8, task: training-step}
  - {hardware: NVIDIA DGX H100, workload: Llama, task: serving-run}
methods: [tile-hybrid]
serving: {model: {source: llama-3-8b}, traffic: {requests: 40}}
)";

}  // namespace

class TestTasks : public QObject {
    Q_OBJECT
private slots:
    void tasksAreReadAndWritten_data() {
        QTest::addColumn<QString>("text");
        for (const char* text : {"pass", "training-step", "training-step(optimizer=sgd)", "operator(layers.o_proj)"})
            QTest::newRow(text) << text;
    }
    void tasksAreReadAndWritten() {
        QFETCH(QString, text);
        const auto task = parseTask(text.toStdString());
        QVERIFY(task);
        QCOMPARE(QString::fromStdString(toText(*task)), text);
    }
    void wrongTasksAreRefused_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("code");
        QTest::newRow("none") << ""
                              << "task.unknown";
        QTest::newRow("near") << "training"
                              << "task.unknown";
        QTest::newRow("option") << "training-step(optimizer=lion)"
                                << "task.bad-option";
        QTest::newRow("open") << "operator(x"
                              << "task.bad-option";
        QTest::newRow("nameless") << "operator()"
                                  << "task.unknown";
    }
    void wrongTasksAreRefused() {
        QFETCH(QString, text);
        QFETCH(QString, code);
        const auto task = parseTask(text.toStdString());
        QVERIFY(!task);
        QCOMPARE(QString::fromStdString(task.error().code), code);
        QVERIFY(!task.error().expected.empty());
    }
    void oneOperatorStandsAlone() {
        const auto workload = model("llama-2-7b", Phase::Decode);
        Scenario scenario{device("h100-sxm"), workload, {}, OneOperator{"layers.o_proj"}};
        const auto whole = ask("tile-hybrid", {scenario.hardware, workload});
        const auto alone = ask("tile-hybrid", scenario);
        QVERIFY(whole && alone);
        QCOMPARE(alone->operators.size(), workload->costs.size());
        std::size_t timed = 0;
        for (const double seconds : alone->operators.seconds) timed += seconds > 0;
        QCOMPARE(timed, std::size_t{1});
        QVERIFY(alone->latency < whole->latency && alone->interval.low <= alone->latency);
        scenario.task = OneOperator{"layers.o_porj"};
        const auto near = ask("tile-hybrid", scenario);
        QVERIFY(!near && near.error().code == "task.no-operator");
        QVERIFY(near.error().hint.find("o_proj") != std::string::npos);
    }
    // What older files ask by an option of the method is the task of today.
    void aTrainingStepIsATask() {
        const auto workload = model("resnet-50", Phase::Forward, 8);
        const Scenario pass{device("a100-80-sxm"), workload};
        Scenario step = pass;
        step.task = TrainingStep{Optimizer::Sgd};
        const auto now = ask("tile-wave", step), before = ask("tile-wave(step=training, optimizer=sgd)", pass);
        const auto forward = ask("tile-wave", pass);
        QVERIFY(now && before && forward);
        QVERIFY(now->latency == before->latency);
        QVERIFY(now->latency.value > 2 * forward->latency.value);
        const auto roofline = ask("roofline", step);
        QVERIFY(!roofline && roofline.error().code == "method.not-applicable");
    }
    // Samples per second × seconds per step = the batch, however it is cut.
    void throughputIsThatOfTheWholeBatch_data() {
        QTest::addColumn<QString>("plan");
        for (const char* plan : {"tp=1", "tp=2", "dp=4", "pp=4,mb=4", "tp=2,pp=2,dp=2,mb=2"})
            QTest::newRow(plan) << plan;
    }
    void throughputIsThatOfTheWholeBatch() {
        QFETCH(QString, plan);
        const auto workload = model("llama-3-8b", Phase::Decode, 16);
        const auto answer = ask("tile-wave", {device("dgx-h100"), workload, *parsePlan(plan.toStdString())});
        QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
        QVERIFY(std::fabs(figure(*answer, "Throughput") * answer->latency.value / 16 - 1) < 1e-9);
    }
    // The system method's figures are those of the simulation that it runs.
    void aServingRunIsAnAnswer() {
        const auto study = chat();
        const auto hardware = device("h100-sxm");
        const auto workload = model("llama-3-8b", Phase::Decode);
        const Scenario scenario{hardware, workload, {}, ServingRun{study}};
        const auto answer = ask("serving", scenario);
        QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
        const auto fleet = fleetOf(study->scenario, hardware);
        auto requests = requestsOf(study->scenario, study->traffic, study->seed);
        QVERIFY(fleet && requests);
        ServingOptions options;
        options.seed = study->seed;
        const auto run = simulate(fleet->fleet, std::make_shared<const RequestStream>(std::move(*requests)), options);
        QVERIFY(run);
        const ServingMetrics metrics = measure(*run, *fleet->fleet);
        QCOMPARE(answer->latency.value, metrics.endToEnd.mean);
        QCOMPARE(figure(*answer, "Time to first token, 99th percentile"), metrics.ttft.p99);
        QCOMPARE(figure(*answer, "Throughput"), metrics.outputTokensPerSecond);
        QVERIFY(answer->interval.low < answer->latency && answer->latency < answer->interval.high);
        QVERIFY(!answer->timeline.spans.empty());
        const auto reads = [&](const std::vector<UsedParts::Part>& parts, std::string_view end) {
            return std::any_of(parts.begin(), parts.end(), [&](const auto& part) { return part.path.ends_with(end); });
        };
        QVERIFY(reads(answer->parts.used, "/hbm3"));
        // Any kernel method fills its slot, by either name.
        const auto filled = ask("serving(compute=tile-wave)", scenario), named = ask("tile-wave", scenario);
        QVERIFY(filled && named);
        QVERIFY(filled->latency == named->latency && filled->latency != answer->latency);
    }
    // Two studies of one name are two inputs: in the answer, its export and the run database.
    void servingStudiesOfOneNameDiffer() {
        const auto hardware = device("h100-sxm");
        const auto workload = model("llama-3-8b", Phase::Decode);
        ServingStudy other = *chat();
        other.scenario.pools[0].scheduler.id = "sarathi";
        Study study{.name = "Twice", .scenarios = {}, .methods = {"serving"}};
        study.scenarios = {{hardware, workload, {}, ServingRun{chat()}},
                           {hardware, workload, {}, ServingRun{std::make_shared<const ServingStudy>(other)}},
                           {hardware, workload, {}, ServingRun{chat()}}};
        QTemporaryDir folder;
        auto store = RunStore::open(folder.filePath("runs.sqlite").toStdString());
        QVERIFY(store);
        const auto run = (*store)->beginRun(study);
        QVERIFY(run);
        for (std::size_t i = 0; i < study.scenarios.size(); ++i) {
            auto answer = ask("serving", study.scenarios[i]);
            QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
            QCOMPARE(answer->provenance.taskHash.size(), std::size_t{16});
            QVERIFY((*store)->add(*run, study, {i, "serving", std::make_shared<const Estimate>(*answer), {}}));
        }
        const auto restored = restoreRun(**store, *run);
        QVERIFY2(restored, restored ? "" : toText(restored.error()).c_str());
        const auto from = [&](std::size_t i) { return restored->results[i].estimate->provenance; };
        QCOMPARE(from(0).task, from(1).task);  // by name they are one
        QVERIFY(from(0).taskHash != from(1).taskHash);
        QCOMPARE(from(0).taskHash, from(2).taskHash);
        const auto results = (*store)->results(*run);
        QVERIFY(results && results->at(0).estimateJson.find(from(0).taskHash) != std::string::npos);
        QVERIFY(results->at(1).estimateJson.find(from(1).taskHash) != std::string::npos);
        const auto pass = ask("roofline", {hardware, workload});
        QVERIFY(pass && pass->provenance.taskHash.empty());
    }
    void slotsTakeMethodsWithOptions() {
        const auto nested = methodChoice("serving(compute=tile-hybrid(launch=eager, fusion=none))", builtinMethods());
        QVERIFY(nested);
        QCOMPARE(toText(*nested), std::string("serving(compute=tile-hybrid(launch=eager, fusion=none))"));
        const auto wrong = methodChoice("serving(compute=roofline)", builtinMethods());
        QVERIFY(!wrong && wrong.error().code == "method.bad-option");
        const auto unknown = methodChoice("serving(compute=tile-hybird)", builtinMethods());
        QVERIFY(!unknown && unknown.error().code == "method.unknown");
    }
    void projectsKeepPlansAndTasks() {
        const auto loaded = readProject(projectText);
        QVERIFY2(loaded, loaded ? "" : toText(loaded.error()).c_str());
        const auto& scenarios = loaded->project.scenarios;
        QCOMPARE(scenarios[0].plan.tensor, std::int64_t{8});
        QCOMPARE(scenarios[1].plan.data, std::int64_t{8});
        QCOMPARE(scenarios[1].task, std::string("training-step"));
        const std::string written = writeProject(loaded->project);
        const auto again = readProject(written);
        QVERIFY(again && again->project == loaded->project);
        const auto study = studyOfProject(loaded->project);
        QVERIFY(study);
        QCOMPARE(kindOf(study->study.scenarios[2].task), TaskKind::ServingRun);
        for (const auto& [from, to] : {std::pair{"dp=8", "dq=8"}, std::pair{"training-step", "training-stop"}}) {
            std::string text = projectText;
            text.replace(text.find(from), std::string_view(from).size(), to);
            const auto wrong = readProject(text, "p.yaml");
            QVERIFY(!wrong && wrong.error().place.line > 0 && !wrong.error().expected.empty());
        }
    }
    // Four tasks by one method in one run: stored, read back, exported, in one report.
    void oneStudyHoldsAllTasks() {
        const auto project = readProject(projectText);
        QVERIFY(project);
        auto loaded = studyOfProject(project->project);
        QVERIFY(loaded);
        Study& study = loaded->study;
        study.scenarios.push_back(study.scenarios.front());
        study.scenarios.back().plan = {};
        study.scenarios.back().task = OneOperator{"layers.o_proj"};
        const auto executor = makeSerialExecutor();
        StudyOptions options;
        options.executor = executor.get();
        const auto results = runStudy(study, options);
        QTemporaryDir folder;
        auto store = RunStore::open(folder.filePath("runs.sqlite").toStdString());
        QVERIFY(store);
        const auto id = (*store)->beginRun(study);
        QVERIFY(id);
        for (const StudyResult& result : results) {
            QVERIFY2(result.estimate, result.failure ? toText(*result.failure).c_str() : "");
            QVERIFY((*store)->add(*id, study, result));
        }
        QVERIFY((*store)->finishRun(*id));
        const auto restored = restoreRun(**store, *id);
        QVERIFY2(restored, restored ? "" : toText(restored.error()).c_str());
        QCOMPARE(restored->study.scenarios.size(), study.scenarios.size());
        for (std::size_t i = 0; i < study.scenarios.size(); ++i) {
            QVERIFY(restored->study.scenarios[i].plan == study.scenarios[i].plan);
            QCOMPARE(toText(restored->study.scenarios[i].task), toText(study.scenarios[i].task));
            QVERIFY(restored->results[i].estimate->latency == results[i].estimate->latency);
            QCOMPARE(restored->results[i].estimate->figures.size(), results[i].estimate->figures.size());
            QVERIFY(restored->results[i].estimate->parts == results[i].estimate->parts);
        }
        const std::string report = reportHtml(study, results);
        for (const Scenario& scenario : study.scenarios)
            QVERIFY2(report.find(scenario.name().substr(0, 12)) != std::string::npos, scenario.name().c_str());
    }
};

QTEST_GUILESS_MAIN(TestTasks)
#include "tst_tasks.moc"
