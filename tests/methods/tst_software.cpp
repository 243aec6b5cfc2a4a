// The software of a question: what of it reads back, what is refused, and what it does to an answer.

#include "methods/method.h"
#include "methods/software.h"
#include "methods/system/planned_fleet.h"
#include "serving/serving_scenario.h"
#include "support/devices.h"
#include "support/iteration_fixture.h"
#include "support/method_fixture.h"
#include "support/tile_fixture.h"
#include "workload/engine_kernels.h"
#include "workload/kernel.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>

using namespace orrery;

namespace {

Estimate answerOf(const std::string& software, const char* weights = "fp8") {
    WorkloadOptions options;
    options.phase = Phase::Decode;
    options.sequence = 1024;
    options.batch = 16;
    options.weights = options.activations = *dtype(weights);
    options.kv = DType::BF16;
    auto workload = loadWorkload({"llama-3-8b", options});
    Scenario scenario{fixture::device("h100-sxm"), *workload};
    scenario.software = *parseSoftware(software);
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, {}};
    context.wantTimeline = false;
    auto answer = estimate(*findMethod("tile-hybrid"), scenario, context);
    if (!answer) qFatal("%s", toText(answer.error()).c_str());
    return *answer;
}

/// 64 query heads on one cache head, as StarCoder's 48 and Falcon's 71 are.
Estimate sharedCache(const std::string& software) {
    Kernel kernel = fixture::attention(KernelKind::DecodeAttention, 64, 64, 1, 1024, 128);
    Graph graph;
    addOperator(graph, kernel, "attention");
    Scenario scenario{fixture::device("h100-sxm"), fixture::workloadOf(std::move(graph))};
    scenario.software = *parseSoftware(software);
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, {}};
    auto answer = estimate(*findMethod("tile-hybrid"), scenario, context);
    if (!answer) qFatal("%s", toText(answer.error()).c_str());
    return *answer;
}

double width(const Estimate& answer) {
    return std::log(answer.interval.high.value / answer.interval.low.value);
}

bool warns(const Estimate& answer, std::string_view code) {
    return std::any_of(answer.warnings.begin(), answer.warnings.end(),
                       [&](const Diagnostic& each) { return each.code == code; });
}

}  // namespace

class TestSoftware : public QObject {
    Q_OBJECT
private slots:
    // TensorRT-LLM reads the cache for each of more than 32 query heads (340 us in its own table of H100), vLLM and
    // SGLang once for all (26 and 21 us in theirs).
    void anEngineDecodesWithItsOwnKernels() {
        const Estimate learned = sharedCache(""), other = sharedCache("vLLM 0.24.0");
        QVERIFY(warns(learned, "tile.heads-apart") && !warns(other, "tile.heads-apart"));
        QVERIFY(learned.latency.value > 5 * other.latency.value);
        QCOMPARE(sharedCache("sglang-0.5.14").latency.value, other.latency.value);
        QCOMPARE(sharedCache("trtllm-1.3.0rc20").latency.value, learned.latency.value);
        QVERIFY(decodesByFlash("vLLM 0.24.0") && decodesByFlash("sglang-0.5.14") && !decodesByFlash(""));
        QVERIFY(!decodesByFlash("TensorRT-LLM 1.0.0") && !decodesByFlash("nccl-2.27.3 + trtllm-1.0.0"));
    }

    void readsBack() {
        for (const char* text : {"", "vLLM 0.24.0", "trtllm-1.3.0rc20", "SGLang 0.5.14(graphs=off)",
                                 "PyTorch 2.9(graphs=off, host=12 us)"}) {
            const auto software = parseSoftware(text);
            QVERIFY2(software, text);
            QCOMPARE(QString::fromStdString(toText(*software)), QString(text));
            QCOMPARE(*parseSoftware(toText(*software)), *software);
        }
        QVERIFY(parseSoftware("")->empty());
        QCOMPARE(*parseSoftware("vLLM(host=0.02 ms)")->hostSeconds, 20e-6);
        QCOMPARE(*parseSoftware("(graphs=on)")->graphs, true);
    }

    void refusesWhatItDoesNotKnow() {
        for (const auto& [text, code] :
             {std::pair{"24.0", "software.bad-name"}, std::pair{"vLLM(", "software.bad-option"},
              std::pair{"vLLM(graph=on)", "software.bad-option"}, std::pair{"vLLM(graphs=yes)", "software.bad-option"},
              std::pair{"vLLM(host=-3 us)", "software.bad-option"}, std::pair{"vLLM(host=4 GB)", "software.bad-option"},
              std::pair{"vLLM(host=nan)", "software.bad-option"}}) {
            const auto software = parseSoftware(text);
            QVERIFY2(!software, text);
            QCOMPARE(QString::fromStdString(software.error().code), QString(code));
        }
    }

    void anotherEngineIsDoubted() {
        const Estimate none = answerOf(""), own = answerOf("TensorRT-LLM 1.2"), other = answerOf("vLLM 0.24.0");
        QCOMPARE(own.latency.value, none.latency.value);
        // Element-wise kernels were measured under another engine, and are few.
        QVERIFY(width(own) < 1.3 * width(none));
        QCOMPARE(other.latency.value, none.latency.value);
        QVERIFY(!warns(none, "calibration.other-stack"));
        QVERIFY(width(other) > 1.5 * width(none));
        QVERIFY(warns(other, "calibration.other-stack"));
        QVERIFY(other.support->outside > none.support->outside + 0.3);
        // Wider products are nearly the same in every engine.
        QVERIFY(width(answerOf("vLLM 0.24.0", "bf16")) < width(other));
    }

    void servingIsDoubtedByTheSameRule() {
        const auto priced = [](const char* software) {
            ServingScenario scenario;
            scenario.model = {"llama-3-8b", DType::FP8, DType::FP8, DType::BF16};
            scenario.pools[0].hardware = "h100-sxm";
            scenario.pools[0].time.software = software;
            const auto planned = fleetOf(scenario, nullptr);
            if (!planned) qFatal("%s", toText(planned.error()).c_str());
            return planned->fleet->replicas[0].time->price(testing::decodes(32, 1024).work());
        };
        const IterationPrice none = priced(""), other = priced("vLLM 0.24.0"),
                             eager = priced("vLLM 0.24.0(graphs=off)");
        QCOMPARE(other.lastSeconds, none.lastSeconds);
        QVERIFY(std::log(other.high / other.low) > 1.3 * std::log(none.high / none.low));
        QVERIFY(eager.lastSeconds > other.lastSeconds);
        ServingScenario wrong;
        wrong.pools[0].hardware = "h100-sxm";
        wrong.pools[0].time.software = "vLLM 0.24.0(graph=off)";
        const auto refused = fleetOf(wrong, nullptr);
        QVERIFY(!refused);
        QCOMPARE(QString::fromStdString(refused.error().code), QString("software.bad-option"));
        QVERIFY(refused.error().place.path.ends_with("time/software"));
    }

    void hostsAreWaitedForWithoutGraphs() {
        const Estimate graph = answerOf("TensorRT-LLM 1.3"), eager = answerOf("TensorRT-LLM 1.3(graphs=off)"),
                       slow = answerOf("TensorRT-LLM 1.3(graphs=off, host=100 us)"),
                       hidden = answerOf("TensorRT-LLM 1.3(graphs=on, host=100 us)");
        QVERIFY(eager.latency > graph.latency);
        QVERIFY(slow.latency > eager.latency);
        QVERIFY(slow.latency.value > 32 * 6 * 100e-6);  // layers, kernels of each
        QCOMPARE(hidden.latency.value, graph.latency.value);
    }
};

QTEST_GUILESS_MAIN(TestSoftware)
#include "tst_software.moc"
