// Which answer leads, and does it say why?

#include "evaluation/best_answer.h"
#include "hardware/files/catalogue.h"
#include "methods/kernel_method.h"
#include "methods/model/open_composition.h"
#include "methods/model/pass_evidence.h"
#include "study/best_first.h"

#include <QtTest/QtTest>

#include <chrono>
#include <cmath>

using namespace orrery;

namespace {

Estimate answer(double seconds, double error, double outside = 0, double unmeasured = 0, double width = 1.2) {
    Estimate e;
    e.latency = Seconds(seconds);
    e.interval = {Seconds(seconds / width), Seconds(seconds * width), IntervalKind::Residuals, "by hand"};
    e.support = Support{error, outside, 0, unmeasured, "4 % on 100 kernels"};
    return e;
}

std::vector<std::size_t> order(const std::vector<Estimate>& estimates) {
    std::vector<AskedAnswer> asked;
    for (const Estimate& e : estimates) asked.push_back({"m", &e});
    return rankAnswers(asked).order;
}

std::vector<StudyResult> run(const std::string& device, const std::string& id, Phase phase = Phase::Forward,
                             std::vector<std::string> methods = {"roofline", "hierarchical-roofline", "llm-inference",
                                                                 "forest", "tile-wave", "tile-hybrid"}) {
    auto hardware = loadHardware(device);
    WorkloadOptions options;
    options.phase = phase;
    if (phase != Phase::Forward) options.sequence = 1024;
    auto workload = loadWorkload({id, options});
    if (!hardware || !workload) qFatal("no question");
    Study study;
    study.scenarios.push_back({std::make_shared<const Hardware>(std::move(hardware->hardware)), *workload});
    study.methods = std::move(methods);
    const auto executor = makeSerialExecutor();
    StudyOptions how;
    how.executor = executor.get();
    return runStudy(study, how);
}

}  // namespace

class TestBestAnswer : public QObject {
    Q_OBJECT
private slots:
    void theLeastMeasuredErrorLeads() {
        QCOMPARE(order({answer(1, 0.2), answer(2, 0.03), answer(3, 0.1)}), (std::vector<std::size_t>{1, 2, 0}));
    }
    void whatLiesOutsideOrWasNeverMeasuredCounts() {
        QCOMPARE(order({answer(1, 0.05, 0.9), answer(2, 0.08)}), (std::vector<std::size_t>{1, 0}));
        QCOMPARE(order({answer(1, 0.05, 0, 0.9), answer(2, 0.08)}), (std::vector<std::size_t>{1, 0}));
    }
    // Kernels that nobody measured, of which whole passes tell: their error says all, and no share is doubted again.
    void whatWholePassesSpeakForIsNotDoubtedTwice() {
        for (const auto& [outside, unmeasured] : {std::pair{1.0, 1.0}, std::pair{0.0, 1.0}, std::pair{1.0, 0.0}}) {
            Estimate told = answer(1, 0.14, outside, unmeasured);
            QVERIFY(std::fabs(expectedError(told) - 0.14 - 0.1 * (outside + unmeasured)) < 1e-12);
            told.support->edge = 1;
            QVERIFY(std::fabs(expectedError(told) - 0.14) < 1e-12);
        }
    }
    // Kernels of which no error is known, at the border of the domain: nobody measured them, and no pass speaks for
    // them. They lost their doubt once, since both shares were one.
    void unknownKernelsAtTheBorderAreDoubted() {
        auto hardware = loadHardware("h100-sxm");
        WorkloadOptions options;
        options.phase = Phase::Decode;  // no class of passes
        options.sequence = 1024;
        auto workload = loadWorkload({"llama-2-7b", options});
        QVERIFY(hardware && workload);
        const Scenario scenario{std::make_shared<const Hardware>(std::move(hardware->hardware)), *workload};
        const auto executor = makeSerialExecutor();
        EstimateContext context{.executor = *executor};
        auto composed = compose(scenario, *findKernelMethod("tile-wave"), {}, context);
        QVERIFY2(composed, composed ? "" : composed.error().message.c_str());
        for (const bool known : {false, true}) {
            for (PricedLaunch& each : composed->prices) {
                each.price.priced = true, each.price.domain = DomainVerdict::Edge;
                each.known = known;
            }
            const auto answer = estimateOf(scenario, "tile-wave", {}, *composed, context);
            QVERIFY(answer && answer->support);
            const Support& support = *answer->support;
            QCOMPARE(support.unmeasured, known ? 0.0 : 1.0);
            QCOMPARE(support.edge, known ? 1.0 : 0.0);
            QVERIFY(std::fabs(expectedError(*answer) - support.error - 0.1 * support.unmeasured) < 1e-12);
        }
    }
    // Only whole passes make shares overlap: of decoding there are none.
    void sharesOverlapOnlyWherePassesSpeak() {
        int passes = 0;
        for (const char* device : {"h100-sxm", "rtx-4090", "v100", "mi300x", "epyc-9654", "tpu-v4"}) {
            for (const Phase phase : {Phase::Decode, Phase::Forward}) {
                for (const auto& result : run(device, phase == Phase::Decode ? "llama-2-7b" : "resnet-50", phase)) {
                    if (!result.estimate || !result.estimate->support) continue;
                    const Support& support = *result.estimate->support;
                    const bool overlap = std::max(support.outside, support.unmeasured) + support.edge > 1 + 1e-9;
                    if (!overlap) continue;
                    ++passes;
                    QVERIFY2(phase == Phase::Forward && passEvidence(result.method, PassClass::Convolutions),
                             (result.method + " on " + device).c_str());
                }
            }
        }
        QVERIFY(passes > 0);
    }
    void ofLikeErrorsTheNarrowerIntervalLeads() {
        QCOMPARE(order({answer(1, 0.1, 0, 0, 1.5), answer(2, 0.1, 0, 0, 1.2)}), (std::vector<std::size_t>{1, 0}));
        QCOMPARE(order({answer(1, 0.1), answer(2, 0.1)}), (std::vector<std::size_t>{0, 1}));
    }
    void aBoundLeadsOnlyWhereNothingElseAnswers() {
        Estimate bound = answer(1, 0.001);
        bound.interval.kind = IntervalKind::Bound;
        QCOMPARE(order({bound, answer(2, 3)}), (std::vector<std::size_t>{1, 0}));
        const std::vector<AskedAnswer> alone{{"roofline", &bound}, {"other", nullptr}};
        const auto ranking = rankAnswers(alone);
        QCOMPARE(*ranking.best, std::size_t{0});
        QVERIFY(ranking.reason.find("bound") != std::string::npos);
    }
    // `≥` stands before a time that nothing beats, and not before one that is above its own bound.
    void whatMayBeBeatenIsNoLeastTime() {
        Estimate e = answer(1, 0.001);
        QVERIFY2(!isLeastTime(e), "a prediction");
        e.interval.kind = IntervalKind::Bound;
        e.latency = Seconds(4.27), e.interval.low = Seconds(4.06);
        QVERIFY(!isLeastTime(e));
        e.interval.low = e.latency;
        QVERIFY(isLeastTime(e));
    }
    void nothingLeadsWhereNothingAnswers() {
        const std::vector<AskedAnswer> none{{"a", nullptr}, {"b", nullptr}};
        QVERIFY(!rankAnswers(none).best);
        QVERIFY(!rankAnswers({}).best);
    }
    void anAnswerThatSaysNothingOfItselfCountsByItsInterval() {
        Estimate silent = answer(1, 0, 0, 0, 1.05);
        silent.support.reset();
        QVERIFY(std::fabs(expectedError(silent) - (std::log(1.05) + 0.1)) < 1e-12);
        QCOMPARE(order({silent, answer(2, 0.05)}), (std::vector<std::size_t>{1, 0}));
    }
    void onAMeasuredDeviceTheCalibratedMethodLeadsAndSaysWhy() {
        const auto results = run("h100-sxm", "llama-2-7b", Phase::Prefill);
        const auto ranking = rankScenario(results, 0);
        QVERIFY(ranking.best);
        QCOMPARE(results[*ranking.best].method, std::string("tile-hybrid"));
        QVERIFY2(ranking.reason.find("kernels of this device") != std::string::npos, ranking.reason.c_str());
        QVERIFY(ranking.bound && *ranking.bound <= results[*ranking.best].estimate->latency);
        const auto sorted = bestFirst(results);
        QCOMPARE(sorted.size(), results.size());
        QCOMPARE(sorted.front().method, std::string("tile-hybrid"));
        QCOMPARE(sorted.back().method, std::string("roofline"));
    }
    void everyAnswerOfACatalogueDeviceHasSupport() {
        for (const char* device : {"h100-sxm", "mi300x", "v100", "epyc-9654", "tpu-v4"}) {
            for (const auto& result : run(device, "resnet-50")) {
                if (!result.estimate) continue;
                QVERIFY2(result.estimate->support, result.method.c_str());
                QVERIFY(result.estimate->support->error > 0 && !result.estimate->support->what.empty());
            }
        }
    }
    void rankingIsQuickEnoughForEveryEdit() {
        const auto results = run("h100-sxm", "llama-2-7b", Phase::Prefill);
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < 100; ++i) QVERIFY(rankScenario(results, 0).best);
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        QVERIFY(spent.count() / 100 < 1e-3);
    }
};

QTEST_GUILESS_MAIN(TestBestAnswer)
#include "tst_best_answer.moc"
