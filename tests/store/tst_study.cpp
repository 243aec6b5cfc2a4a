#include "base/hash.h"
#include "hardware/files/catalogue.h"
#include "methods/provenance.h"
#include "study/study.h"
#include "support/method_fixture.h"

#include <QtTest/QtTest>

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <thread>

using namespace orrery;

namespace {

Expected<Estimate> answerOf(const Scenario& scenario, EstimateContext& context) {
    Estimate e;
    const auto rows = scenario.workload->costs.size();
    // Work of uneven length whose result depends on seed and input alone.
    double sum = static_cast<double>(context.seed);
    for (std::size_t i = 0; i < 2000 * rows; ++i) sum = std::fmod(sum * 1.000001 + 1, 1e6);
    e.operators.seconds.assign(rows, sum);
    e.operators.bound.resize(rows);
    e.operators.flops.resize(rows);
    e.operators.bytes.resize(rows);
    e.latency = Seconds(sum * static_cast<double>(rows));
    e.interval = {e.latency, e.latency, IntervalKind::Bound, "test"};
    return e;
}
Expected<Estimate> refuse(const Scenario&, EstimateContext&) {
    return fail("test.refused", "this pair cannot be answered");
}
Expected<Estimate> throwing(const Scenario&, EstimateContext&) {
    throw std::runtime_error("third party");
}
std::atomic<std::stop_source*> stopper{nullptr};
Expected<Estimate> stopping(const Scenario& scenario, EstimateContext& context) {
    stopper.load()->request_stop();
    return answerOf(scenario, context);
}

Method method(std::string_view id, Expected<Estimate> (*function)(const Scenario&, EstimateContext&)) {
    MethodCard card{};
    card.id = id;
    card.version = "1";
    return {card, function};
}
const std::vector<Method> methods{method("good", &answerOf), method("refuses", &refuse), method("throws", &throwing),
                                  method("stops", &stopping)};

Study study(int scenarios, std::vector<std::string> ids) {
    Study s;
    s.seed = 7;
    s.methods = std::move(ids);
    for (int i = 0; i < scenarios; ++i) {
        auto hardware = std::make_shared<Hardware>();
        hardware->name = "H" + std::to_string(i);
        auto workload = fixture::workloadOf(fixture::chain(1 + i % 5, 64));
        s.scenarios.push_back({hardware, workload});
    }
    return s;
}

std::vector<StudyResult> run(const Study& s, Executor& executor, std::function<void(const StudyResult&)> sink = {},
                             std::stop_token stop = {}, Progress* progress = nullptr) {
    StudyOptions options;
    options.executor = &executor;
    options.methods = methods;
    options.onResult = std::move(sink);
    options.stop = stop;
    options.progress = progress;
    return runStudy(s, options);
}

}  // namespace

class TestStudy : public QObject {
    Q_OBJECT
private slots:
    void resultsAreTheSameWhateverTheExecutor() {
        const auto s = study(40, {"good", "refuses"});
        const auto serial = makeSerialExecutor();
        const auto expected = run(s, *serial);
        QCOMPARE(expected.size(), std::size_t{80});
        for (const auto& executor : {makeThreadExecutor(4), makeTbbExecutor(4), makeThreadExecutor(1)}) {
            const auto got = run(s, *executor);
            QCOMPARE(got.size(), expected.size());
            for (std::size_t i = 0; i < got.size(); ++i) {
                QCOMPARE(got[i].scenario, i / 2);
                QCOMPARE(got[i].method, s.methods[i % 2]);
                QCOMPARE(got[i].estimate != nullptr, expected[i].estimate != nullptr);
                QVERIFY(got[i].failure == expected[i].failure);
                if (!got[i].estimate) continue;
                QCOMPARE(got[i].estimate->latency.value, expected[i].estimate->latency.value);
                QVERIFY(got[i].estimate->operators.seconds == expected[i].estimate->operators.seconds);
                QCOMPARE(got[i].estimate->provenance.hardwareHash, expected[i].estimate->provenance.hardwareHash);
            }
        }
    }
    // The real methods on real questions: everything but the cost is the same bytes.
    void builtinMethodsAnswerTheSameOnEveryExecutor() {
        Study s;
        s.methods = {"roofline", "hierarchical-roofline", "llm-inference"};
        for (const char* id : {"h100-sxm", "t4", "tpu-v4"}) {
            auto loaded = loadHardware(id);
            QVERIFY(loaded);
            const auto hardware = std::make_shared<const Hardware>(std::move(loaded->hardware));
            for (const char* source : {"resnet-50", "llama-2-7b"}) {
                const auto workload = loadWorkload({source, {}});
                QVERIFY(workload);
                s.scenarios.push_back({hardware, *workload});
            }
        }
        const auto everything = [&](Executor& executor) {
            StudyOptions options;
            options.executor = &executor;
            std::vector<std::string> texts;
            for (const auto& r : runStudy(s, options)) {
                Hash hash;
                if (r.failure) hash.add(toText(*r.failure));
                if (r.estimate) {
                    const auto& e = *r.estimate;
                    hash.add(e.latency.value)
                        .add(e.interval.low.value)
                        .add(e.interval.high.value)
                        .add(e.interval.basis);
                    for (const double v : e.operators.seconds) hash.add(v);
                    for (const auto& level : e.operators.levelBytes) {
                        for (const double v : level) hash.add(v);
                    }
                    for (const auto& span : e.timeline.spans) hash.add(static_cast<std::uint64_t>(span.endPs));
                    for (const auto& text : e.assumptions) hash.add(text);
                    for (const auto& f : e.figures) hash.add(f.label).add(f.value);
                    hash.add(e.provenance.hardwareHash).add(e.provenance.workloadHash);
                }
                texts.push_back(hash.hex());
            }
            return texts;
        };
        const auto expected = everything(*makeSerialExecutor());
        QCOMPARE(expected.size(), std::size_t{18});
        QVERIFY(everything(*makeThreadExecutor(4)) == expected);
        QVERIFY(everything(*makeTbbExecutor(4)) == expected);
    }
    void sinkIsCalledOncePerPairAndNeverTwiceAtATime() {
        const auto s = study(50, {"good", "refuses", "throws"});
        const auto executor = makeThreadExecutor(4);
        std::atomic<int> inside{0};
        std::atomic<bool> overlapped{false};
        std::vector<int> seen(150, 0);
        Progress progress;
        const auto results = run(
            s, *executor,
            [&](const StudyResult& r) {
                if (inside.fetch_add(1) != 0) overlapped = true;
                for (std::size_t m = 0; m < s.methods.size(); ++m) {
                    if (s.methods[m] == r.method) ++seen[r.scenario * 3 + m];
                }
                std::this_thread::yield();
                inside.fetch_sub(1);
            },
            {}, &progress);
        QVERIFY(!overlapped);
        for (const int count : seen) QCOMPARE(count, 1);
        QCOMPARE(progress.done(), std::uint64_t{150});
        QCOMPARE(progress.total(), std::uint64_t{150});
    }
    void aFailingPairStopsNoOther() {
        const auto executor = makeSerialExecutor();
        const auto results = run(study(2, {"throws", "nonesuch", "good"}), *executor);
        QCOMPARE(results[0].failure->code, std::string("method.failed"));
        QVERIFY(results[0].failure->message.find("third party") != std::string::npos);
        QCOMPARE(results[1].failure->code, std::string("method.unknown"));
        QVERIFY(results[1].failure->expected.find("good") != std::string::npos);
        QVERIFY(results[2].estimate);
        QVERIFY(results[5].estimate);
    }
    void pairsNotBegunAreCancelled() {
        const auto s = study(6, {"good", "stops", "good"});
        const auto executor = makeSerialExecutor();
        std::stop_source source;
        stopper = &source;
        int calls = 0;
        const auto results = run(
            s, *executor, [&](const StudyResult&) { ++calls; }, source.get_token());
        QVERIFY(results[0].estimate);
        QVERIFY(results[1].estimate);  // it had begun
        for (std::size_t i = 2; i < results.size(); ++i) {
            QVERIFY(!results[i].estimate);
            QCOMPARE(results[i].failure->code, std::string("study.cancelled"));
        }
        QCOMPARE(calls, 18);
    }
    void anEmptyStudyHasNoResults() {
        const auto executor = makeSerialExecutor();
        QVERIFY(run(study(3, {}), *executor).empty());
        QVERIFY(run(study(0, {"good"}), *executor).empty());
    }
    void aScenarioWithoutHardwareOrWorkloadIsRefused() {
        auto s = study(2, {"good"});
        s.scenarios[0].hardware = nullptr;
        s.scenarios[1].workload = nullptr;
        const auto executor = makeSerialExecutor();
        for (const auto& r : run(s, *executor)) QCOMPARE(r.failure->code, std::string("scenario.incomplete"));
    }
    void hashesFollowWhatMethodsReadAndNothingElse() {
        Hardware a;
        a.name = "A";
        a.root.name = "system";
        a.root.attributes = {{"clock", Measure{1e9, false, "1 GHz"}, "data sheet", {}}};
        auto b = a;
        b.description = b.layoutYaml = "moved on the canvas";
        b.root.attributes[0].source = "another";
        QCOMPARE(hardwareHash(a), hardwareHash(b));
        b.root.attributes[0].value = Measure{1.1e9, false, "1.1 GHz"};
        QVERIFY(hardwareHash(a) != hardwareHash(b));
        b = a;
        b.root.count = 2;
        QVERIFY(hardwareHash(a) != hardwareHash(b));

        auto w = *fixture::workloadOf(fixture::chain(7, 64));
        const auto before = workloadHash(w);
        for (std::size_t i = 0; i < w.costs.size(); ++i) {
            auto other = w;
            other.costs.inputBytes[i] += 1;
            QVERIFY(workloadHash(other) != before);
        }
        std::swap(w.costs.flops[1], w.costs.flops[2]);
        w.costs.flops[1] += 1;
        QVERIFY(workloadHash(w) != before);
    }
    void scenarioNamesSayModelPhaseAndDevice() {
        auto workload = fixture::workloadOf(fixture::chain(1, 1));
        workload->name = "Llama-2 7B";
        workload->recipe.options.phase = Phase::Decode;
        auto hardware = std::make_shared<Hardware>();
        hardware->name = "H100 SXM";
        QCOMPARE((Scenario{hardware, workload}.name()), std::string("Llama-2 7B decode on H100 SXM"));
    }
};

QTEST_GUILESS_MAIN(TestStudy)
#include "tst_study.moc"
