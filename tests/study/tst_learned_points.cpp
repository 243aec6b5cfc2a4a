// What a search has found, as a method: how far it is off, what it refuses, and that it does not know more than it was
// told.

#include "base/random.h"
#include "evaluation/best_answer.h"
#include "learning/surrogate.h"
#include "store/project/study_file.h"
#include "study/exploration/agents.h"
#include "study/exploration/learned_points.h"
#include "support/schema_check.h"
#include "support/search_fixture.h"

#include <QtTest/QtTest>

#include <cmath>
#include <fstream>

using namespace orrery;
using namespace orrery::test;

namespace {

SearchProblem problemOf(const std::string& method = "roofline",
                        const std::string& rest = "objectives: [time, area]\n") {
    auto loaded = readSearch(searchYaml(rest, method));
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    auto ready = readied(std::move(loaded->problem));
    if (!ready) qFatal("%s", toText(ready.error()).c_str());
    return std::move(*ready);
}

PointAnswers found(const SearchProblem& problem, const char* agent = "random", std::uint64_t evaluations = 70) {
    return runSearch(problem, **searchAgent(agent), {.evaluations = evaluations});
}

Surrogate learned(const SearchProblem& problem, const PointAnswers& answers, LearnOptions options = {}) {
    options.name = "Small";
    options.date = "2026-11-23";
    auto surrogate = learnPoints(problem, answers, options);
    if (!surrogate) qFatal("%s", toText(surrogate.error()).c_str());
    return std::move(*surrogate);
}

std::string fileOf(const Surrogate& surrogate, const char* name = "learned.json") {
    const std::string folder = std::string(ORRERY_TEST_OUTPUT) + "/learned-points";
    QDir().mkpath(QString::fromStdString(folder));
    std::ofstream(folder + "/" + name) << writeSurrogate(surrogate);
    return folder + "/" + name;
}

Expected<Estimate> asked(const Scenario& scenario, const std::string& file) {
    const auto serial = makeSerialExecutor();
    EstimateContext context{.executor = *serial, .options = {{"file", file}}};
    return estimate(*findMethod("surrogate"), scenario, context);
}

Scenario with(Scenario scenario, const char* attribute, const char* value) {
    auto design = withAttribute(*scenario.hardware, attribute, value);
    if (!design) qFatal("%s", toText(design.error()).c_str());
    scenario.hardware = std::make_shared<const Hardware>(std::move(*design));
    return scenario;
}

Scenario withModel(Scenario scenario, const std::function<void(WorkloadRecipe&)>& change) {
    WorkloadRecipe recipe = scenario.workload->recipe;
    change(recipe);
    auto loaded = loadWorkload(recipe);
    if (!loaded) qFatal("%s", toText(loaded.error()).c_str());
    scenario.workload = std::move(*loaded);
    return scenario;
}

}  // namespace

class TestLearnedPoints : public QObject {
    Q_OBJECT
private slots:
    // Points that it has not seen: nine in ten lie within its interval, and it is close to them.
    void coversPointsThatWereLeftOut() {
        const SearchProblem problem = problemOf("tile-hybrid");
        const PointAnswers seen = found(problem);
        const Surrogate surrogate = learned(problem, seen);
        QCOMPARE(surrogate.targets.size(), std::size_t{3});  // time and its interval; the area follows from the design
        SearchProblem other = problem;
        other.method = "surrogate(file=" + fileOf(surrogate) + ")";
        const PointAnswers own = found(problem, "grid", 0), answers = found(other, "grid", 0);
        std::vector<bool> known(own.size(), false);
        for (const std::uint64_t point : seen.points) known[point] = true;
        double inside = 0, insideAlone = 0, count = 0, off = 0;
        for (std::size_t i = 0; i < own.size(); ++i) {
            QVERIFY2(answers.answered(i), answers.refusals.empty() ? "" : answers.refusals.front().c_str());
            QCOMPARE(answers.value[2 * i + 1], own.value[2 * i + 1]);
            if (known[own.points[i]]) continue;
            const double value = own.value[2 * i];
            inside += answers.low[2 * i] <= value && value <= answers.high[2 * i] ? 1 : 0;
            const auto scenario = problem.space.scenarioAt(own.points[i]);
            std::vector<double> row;
            for (const SurrogateInput& input : surrogate.inputs) {
                const auto& knobs = problem.space.knobs();
                const auto at = std::ranges::find(knobs, input.name, &Knob::path) - knobs.begin();
                const auto level = problem.space.levelsAt(own.points[i])[static_cast<std::size_t>(at)];
                const Knob& knob = knobs[static_cast<std::size_t>(at)];
                row.push_back(knob.words ? placeOfWord(input, knob.values[level]) : knob.numbers[level]);
            }
            const auto alone = answerOf(surrogate, surrogate.targets.front(), row);
            insideAlone += alone.low <= value && value <= alone.high ? 1 : 0;
            off += std::abs(answers.value[2 * i] / value - 1);
            count += 1;
        }
        qInfo("%.0f left out: off by %.2f %%, inside %.1f %%, of the fit alone %.1f %%", count, 100 * off / count,
              100 * inside / count, 100 * insideAlone / count);
        QVERIFY(count > 50);
        QVERIFY(inside / count >= 0.9);
        QVERIFY(insideAlone / count >= 0.75);
        QVERIFY(off / count < 0.1);
    }
    void saysWhereItsIntervalIsFrom() {
        const SearchProblem problem = problemOf("tile-hybrid");
        const std::string file = fileOf(learned(problem, found(problem)));
        const auto answer = asked(problem.space.base(), file);
        QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
        QCOMPARE(answer->interval.kind, IntervalKind::Residuals);
        QVERIFY(answer->interval.basis.find("held out, coverage") != std::string::npos);
        // No surer than the method that it has learned from.
        const auto serial = makeSerialExecutor();
        EstimateContext context{.executor = *serial};
        const auto own = estimate(*findMethod("tile-hybrid"), problem.space.base(), context);
        const auto width = [](const Estimate& e) { return std::log(e.interval.high.value / e.interval.low.value); };
        qInfo("width %.3f, of the method itself %.3f", width(*answer), width(*own));
        QVERIFY(width(*answer) > 0.9 * width(*own));
        QVERIFY(width(*answer) < 5 * width(*own));
        QVERIFY(answer->support && answer->support->edge == 0 && answer->support->unmeasured == 1);
        QVERIFY(answer->memory.has_value());
        QCOMPARE(answer->operators.size(), std::size_t{0});
    }
    void wideAtTheEdgeAndRefusedBeyond() {
        const SearchProblem problem = problemOf();
        const std::string file = fileOf(learned(problem, found(problem, "grid", 0)));
        const Scenario base = problem.space.base();
        const auto home = asked(with(base, "hbm3.bandwidth", "8 TB/s"), file);
        const auto edge = asked(with(base, "hbm3.bandwidth", "9 TB/s"), file);
        const auto beyond = asked(with(base, "hbm3.bandwidth", "16 TB/s"), file);
        QVERIFY(home && edge && !beyond);
        QVERIFY(std::ranges::any_of(edge->warnings, [](const auto& w) { return w.code == "surrogate.edge"; }));
        // Nobody measured what it says, at the edge neither: the error there is no less doubted.
        QVERIFY(expectedError(*edge) > edge->support->error + 0.099);
        QVERIFY(edge->interval.high.value / edge->interval.low.value >
                home->interval.high.value / home->interval.low.value);
        QCOMPARE(beyond.error().code, std::string("surrogate.outside"));
        QVERIFY(beyond.error().message.find("hbm3.bandwidth") != std::string::npos);
        const auto word = asked(withModel(base,
                                          [](WorkloadRecipe& r) {
                                              r.options.setWeights({DType::I8, {}});
                                          }),
                                file);
        QVERIFY(!word);
        QCOMPARE(word.error().code, std::string("surrogate.outside"));
    }
    void anotherQuestionIsNamed() {
        const SearchProblem problem = problemOf();
        const std::string file = fileOf(learned(problem, found(problem)));
        const Scenario base = problem.space.base();
        const auto why = [&](const Scenario& scenario, const char* part) {
            const auto answer = asked(scenario, file);
            if (answer || answer.error().code != "surrogate.other-question") return false;
            return answer.error().message.find(part) != std::string::npos;
        };
        QVERIFY(asked(base, file));
        QVERIFY(why(with(base, "l2.capacity", "100 MB"), "l2.capacity"));
        QVERIFY(why(with(base, "tensor.macs.fp16", "2048/cycle"), "macs.fp16"));
        QVERIFY(why(withModel(base, [](WorkloadRecipe& r) { r.options.sequence = 4096; }),
                    "`sequence` is 4096 and was 512"));
        QVERIFY(why(withModel(base, [](WorkloadRecipe& r) { r.options.phase = Phase::Prefill; }), "phase"));
        QVERIFY(why(withModel(base, [](WorkloadRecipe& r) { r.source = "llama-3-8b"; }), "workload"));
        Scenario other = base;
        other.plan = *parsePlan("tp=2");
        QVERIFY(why(other, "plan"));
        other = base;
        other.task = TrainingStep{};
        QVERIFY(why(other, "task"));
        other = base;
        other.software = *parseSoftware("vLLM 0.24.0");
        QVERIFY(why(other, "software"));
        // A spelling is no difference, and a name is none.
        Hardware design = *base.hardware;
        design.name = "Mine";
        other = base;
        other.hardware = std::make_shared<const Hardware>(std::move(design));
        QVERIFY(asked(with(other, "hbm3.capacity", "80000 MB"), file).has_value() ==
                asked(with(other, "hbm3.capacity", "80 GB"), file).has_value());
        QVERIFY(asked(other, file));
    }
    void theSameBytesForTheSameSeed() {
        const SearchProblem problem = problemOf();
        const PointAnswers answers = found(problem);
        const auto threads = makeThreadExecutor(3);
        LearnOptions own, parallel, another;
        parallel.fit.executor = threads.get();
        another.fit.seed = 7;
        const std::string text = writeSurrogate(learned(problem, answers, own));
        QCOMPARE(writeSurrogate(learned(problem, answers, parallel)), text);
        QVERIFY(writeSurrogate(learned(problem, answers, another)) != text);
        for (const std::string& error : schemaErrors(text, "surrogate")) QFAIL(error.c_str());
        const auto read = parseSurrogate(text, "a.json");
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        QCOMPARE(writeSurrogate(*read), text);
    }
    // Answers that scatter by 10 % cannot be learned to be sure: neither error nor interval may promise it.
    void noSurerThanItsAnswersScatter() {
        const SearchProblem problem = problemOf("roofline", "objectives: [time]\n");
        PointAnswers answers = found(problem, "grid", 0);
        RandomStream random(3);
        for (double& value : answers.value) value *= std::exp(0.1 * random.normal());
        const Surrogate surrogate = learned(problem, answers);
        const SurrogateTarget& time = surrogate.targets.front();
        qInfo("off by %.1f %%, inside %.0f %%", 100 * time.stated.mape, 100 * time.stated.coverage);
        QVERIFY(time.stated.mape > 0.05);  // 8 % of a normal error of 10 %
        std::vector<double> row;
        for (const SurrogateInput& input : surrogate.inputs)
            row.push_back(input.words ? 0 : std::sqrt(input.low * input.high));
        const auto answer = answerOf(surrogate, time, row);
        QVERIFY(std::log(answer.high / answer.low) > 2 * 1.3 * 0.1);
    }
    // The same of a study: what its scenarios differ in are the knobs.
    void aStudyIsLearnedToo() {
        const auto study = readStudy(
            "orrery: study/1\nname: Sweep\nhardware: [h100-sxm]\n"
            "workloads: [{source: llama-2-7b, phase: decode, sequence: 512}]\nmethods: [roofline, tile-hybrid]\n"
            "sweep: {hbm3.bandwidth: [1 TB/s, 2 TB/s, 4 TB/s, 8 TB/s], batch: [1, 8, 64], weights: [fp16, fp8]}\n");
        QVERIFY2(study, study ? "" : toText(study.error()).c_str());
        const auto executor = makeDefaultExecutor();
        const auto results = runStudy(study->study, {.executor = executor.get(), .wantTimeline = false});
        const auto surrogate = learnStudy(study->study, results, "roofline", {});
        QVERIFY2(surrogate, surrogate ? "" : toText(surrogate.error()).c_str());
        QCOMPARE(surrogate->inputs.size(), std::size_t{3});
        QCOMPARE(surrogate->rows, std::size_t{24});
        const std::string file = fileOf(*surrogate, "study.json");
        for (std::size_t i = 0; i < study->study.scenarios.size(); ++i) {
            const auto answer = asked(study->study.scenarios[i], file);
            QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
            const double own = results[2 * i].estimate->latency.value;
            QVERIFY(answer->interval.low.value <= own && own <= answer->interval.high.value);
        }
        QCOMPARE(learnStudy(study->study, results, "tile-wave", {}).error().code, std::string("surrogate.method"));
        const auto two = readStudy(
            "orrery: study/1\nhardware: [h100-sxm, a100-80-sxm]\nworkloads: [resnet-50]\n"
            "methods: [roofline]\n");
        const auto both = runStudy(two->study, {.executor = executor.get(), .wantTimeline = false});
        QCOMPARE(learnStudy(two->study, both, "roofline", {}).error().code, std::string("surrogate.differ"));
    }
    void whatCannotBeLearnedIsRefused() {
        const auto codeOf = [](const SearchProblem& problem) {
            const auto made = learnable(problem);
            return made ? std::string() : made.error().code;
        };
        QCOMPARE(codeOf(problemOf()), std::string());
        QCOMPARE(codeOf(problemOf("roofline", "objectives: [energy]\n")), std::string("surrogate.time"));
        const auto knob = readSearch(
            "orrery: search/1\nhardware: h100-sxm\nworkload: llama-2-7b\nmethod: tile-hybrid\n"
            "knobs: {method.launch: [eager, graph], batch: [1, 2]}\n");
        QVERIFY2(knob, knob ? "" : toText(knob.error()).c_str());
        QCOMPARE(codeOf(knob->problem), std::string("surrogate.knob"));
        const SearchProblem problem = problemOf();
        QCOMPARE(learnPoints(problem, found(problem, "random", 5), {}).error().code, std::string("surrogate.rows"));
        // A file that is none, one of a table, none at all.
        QCOMPARE(asked(problem.space.base(), "").error().code, std::string("surrogate.no-file"));
        QCOMPARE(asked(problem.space.base(), "/nowhere/a.json").error().code, std::string("surrogate.unreadable"));
        Surrogate table = learned(problem, found(problem));
        table.question.clear();
        table.facts.clear();
        QCOMPARE(asked(problem.space.base(), fileOf(table, "table.json")).error().code,
                 std::string("surrogate.no-question"));
        // Facts that are cut off are no file.
        std::string text = writeSurrogate(learned(problem, found(problem)));
        text.replace(text.find("\"facts\""), 7, "\"facks\"");
        QVERIFY(!parseSurrogate(text, "b.json"));
    }
};

QTEST_GUILESS_MAIN(TestLearnedPoints)
#include "tst_learned_points.moc"
