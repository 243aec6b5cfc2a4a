// What must hold of every method on every device: asked of the catalogue and of models small and large.

#include "hardware/files/catalogue.h"
#include "methods/answer/timeline.h"
#include "methods/kernel_method.h"
#include "methods/method.h"
#include "support/devices.h"
#include "support/near.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>

using namespace orrery;
using orrery::fixture::device;
using orrery::test::near;

namespace {

WorkloadPtr load(std::string source, WorkloadOptions options = {}) {
    auto workload = loadWorkload({std::move(source), options});
    if (!workload) qFatal("%s", toText(workload.error()).c_str());
    return *workload;
}

WorkloadPtr llama(Phase phase, std::int64_t batch, std::int64_t sequence) {
    WorkloadOptions options;
    options.phase = phase;
    options.batch = batch;
    options.sequence = sequence;
    return load("llama-2-7b", options);
}

HardwarePtr with(const HardwarePtr& base, const std::string& path, std::string_view value) {
    auto changed = withAttribute(*base, path, value);
    if (!changed) qFatal("%s", toText(changed.error()).c_str());
    return std::make_shared<const Hardware>(std::move(*changed));
}

Expected<Estimate> ask(std::string_view method, const HardwarePtr& hardware, const WorkloadPtr& workload,
                       bool wantTimeline = true) {
    static const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, {}, nullptr, 1, wantTimeline};
    return estimate(*findMethod(method), {hardware, workload}, context);
}

double latency(std::string_view method, const HardwarePtr& hardware, const WorkloadPtr& workload) {
    auto answer = ask(method, hardware, workload, false);
    if (!answer) qFatal("%s", toText(answer.error()).c_str());
    return answer->latency.value;
}

constexpr const char* a100 = "a100-80-sxm";

/// Every analytic method for any device, so that a new one is held to all of this without a line here. Those that need
/// an array of processing elements (no GPU among their platforms) have tests of their own.
const std::vector<std::string_view>& all() {
    static const std::vector<std::string_view> ids = [] {
        std::vector<std::string_view> found;
        for (const auto& method : builtinMethods()) {
            const auto& platforms = method.card.platforms;
            const bool anywhere = std::find(platforms.begin(), platforms.end(), "GPU") != platforms.end();
            if (method.card.methodology == Methodology::Analytical && anywhere && method.card.answers(TaskKind::Pass))
                found.push_back(method.card.id);
        }
        return found;
    }();
    return ids;
}

}  // namespace

class TestMethodEstimates : public QObject {
    Q_OBJECT
private slots:
    void everyCardIsComplete() {
        QVERIFY(all().size() >= 3);
        for (const auto& method : builtinMethods()) {
            const auto& card = method.card;
            QVERIFY(findMethod(card.id) == &method);
            for (const auto text : {card.id, card.title, card.summary, card.failureMode, card.version}) {
                QVERIFY(!text.empty());
            }
            QVERIFY(!card.platforms.empty() && !card.needs.empty() && !card.lineage.empty());
            // Nobody has published a measured distribution of steps.
            if (card.id == "step-distribution") continue;
            QVERIFY2(!card.evidence.empty(), (std::string(card.id) + ": measure its error first").c_str());
            for (const auto& evidence : card.evidence) {
                QVERIFY2(evidence.finding.find_first_of("0123456789") != std::string_view::npos,
                         "a finding has a number");
            }
        }
        QVERIFY(!findMethod("nonesuch"));
    }
    void everyDeviceIsAnsweredConsistently() {
        const std::vector<WorkloadPtr> workloads{load("resnet-50"), llama(Phase::Prefill, 2, 256),
                                                 llama(Phase::Decode, 4, 1000)};
        const auto entries = hardwareCatalogue();
        QVERIFY(!entries.empty());
        for (const auto& entry : entries) {
            const auto hardware = device(entry.id);
            for (const auto& workload : workloads) {
                for (const auto id : all()) {
                    const auto what = std::string(id) + " of " + Scenario{hardware, workload}.name();
                    const auto answer = ask(id, hardware, workload);
                    if (id == "llm-inference" && !workload->transformer) {
                        QVERIFY2(!answer && answer.error().code == "method.not-applicable", what.c_str());
                        continue;
                    }
                    if (!answer && findKernelMethod(id)) {  // methods over kernels are for GPUs alone
                        QVERIFY2(answer.error().code == "method.not-applicable" && entry.group != "GPU", what.c_str());
                        continue;
                    }
                    if (!answer) {  // arrays of integers only: refused by name, with what they can do
                        QVERIFY2(answer.error().code == "hardware.missing-peak" && entry.group != "GPU", what.c_str());
                        QVERIFY2(answer.error().hint.find("int") != std::string::npos, answer.error().hint.c_str());
                        continue;
                    }
                    const auto& e = *answer;
                    QVERIFY2(e.latency.value > 0 && e.interval.low <= e.latency && e.latency <= e.interval.high,
                             what.c_str());
                    QVERIFY2(!e.interval.basis.empty(), what.c_str());
                    QVERIFY2(e.interval.low < e.interval.high, (what + ": no interval; has it stated errors?").c_str());
                    double sum = 0;
                    for (const double s : e.operators.seconds) sum += s;
                    QVERIFY2(near(sum, e.latency.value, 1e-9), what.c_str());
                    QVERIFY2(!e.ceilings.empty() && !e.assumptions.empty() && e.memory, what.c_str());
                    if (e.timeline.truncated) continue;
                    std::int64_t drawn = 0;
                    std::int64_t last = 0;
                    for (const auto& span : e.timeline.spans) {
                        QVERIFY(span.startPs == last && span.endPs >= span.startPs);
                        last = span.endPs;
                        drawn += span.endPs - span.startPs;
                    }
                    QVERIFY2(std::fabs(static_cast<double>(drawn) - e.latency.value * 1e12) <=
                                 1 + 1e-9 * e.latency.value * 1e12,
                             what.c_str());
                }
            }
        }
    }
    void decodeOfLlamaOnA100IsBoundByMemoryAndMovesWeightsAndCache() {
        constexpr double context = 1000;
        const auto workload = llama(Phase::Decode, 1, 1000);
        // Llama-2-7B by its config.json: 32 layers of 4 × 4096² and 3 × 4096 × 11008, and the output head.
        const double weights = 2 * (32 * (4 * 4096.0 * 4096 + 3 * 4096.0 * 11008) + 32000.0 * 4096);
        const double cache = context * 2 * 32 * 4096 * 2;
        for (const auto id : all()) {
            const auto answer = ask(id, device(a100), workload);
            QVERIFY(answer);
            double bytes = 0;
            double inMemory = 0;
            for (std::size_t i = 0; i < answer->operators.size(); ++i) {
                bytes += answer->operators.bytes[i];
                if (answer->operators.bound[i].kind == BoundKind::Memory) inMemory += answer->operators.seconds[i];
            }
            QVERIFY2(near(bytes, weights + cache, 0.01),
                     qPrintable(QString("%1 against %2").arg(bytes).arg(weights + cache)));
            // As fitted, the stall model counts a fifth of a kernel as its start; the mapping search was measured on an
            // eager framework, which spends 13 to 46 us on starting a kernel of about 100 us.
            const std::string_view name(id);
            const double least = name == "mapping-search" ? 0.5 : name == "interval-analysis" ? 0.75 : 0.85;
            QVERIFY2(inMemory > least * answer->latency.value, id.data());
        }
    }
    void nothingBeatsTheRoofsOfItsDevice() {
        const auto workload = llama(Phase::Prefill, 1, 2048);
        const auto hardware = device("h100-sxm");
        const auto view = deviceView(*hardware);
        QVERIFY(view);
        const double least = 2 * workload->totals.macs / view->peak(true, DType::F16).value;
        const auto roof = ask("roofline", hardware, workload);
        const auto llm = ask("llm-inference", hardware, workload);
        for (const auto id : all()) QVERIFY(latency(id, hardware, workload) >= least);
        for (std::size_t i = 0; i < roof->operators.size(); ++i) {
            QVERIFY(llm->operators.seconds[i] >= roof->operators.seconds[i]);
        }
    }
    void widerMemoryAndFasterClockNeverSlow() {
        const auto base = device(a100);
        const auto view = deviceView(*base);
        const auto& main = view->main();
        const auto wider = with(
            base, main.name + ".bandwidth",
            formatMeasure(main.bandwidth.value / static_cast<double>(main.instances) * 1.5, Dimension::DataRate, 9));
        for (const auto& workload : {load("resnet-50"), llama(Phase::Prefill, 1, 512), llama(Phase::Decode, 8, 512)}) {
            for (const auto id : all()) {
                if (id == "llm-inference" && !workload->transformer) continue;
                const double before = latency(id, base, workload);
                const double after = latency(id, wider, workload);
                QVERIFY(after <= before);
                QVERIFY(after * 1.5 >= before * (1 - 1e-9));
            }
        }
        const auto decode = llama(Phase::Decode, 1, 512);
        QVERIFY(latency("roofline", wider, decode) < latency("roofline", base, decode));
    }
    void timeGrowsWithBatchButNotFasterThanIt() {
        const auto hardware = device(a100);
        for (const auto id : all()) {
            for (const auto phase : {Phase::Prefill, Phase::Decode}) {
                double last = 0;
                for (const std::int64_t batch : {1, 2, 4, 8, 16}) {
                    const double now = latency(id, hardware, llama(phase, batch, 512));
                    QVERIFY(now >= last);
                    if (last > 0) QVERIFY(now <= 2 * last * (1 + 1e-9));
                    last = now;
                }
            }
        }
        // Weights are read once whatever the batch: decode must gain from batching.
        const double one = latency("llm-inference", hardware, llama(Phase::Decode, 1, 512));
        QVERIFY(latency("llm-inference", hardware, llama(Phase::Decode, 8, 512)) < 2 * one);
    }
    void quantisedWeightsMakeDecodeFasterByTheirBytes() {
        WorkloadOptions options;
        options.phase = Phase::Decode;
        options.sequence = 16;
        const double half = latency("roofline", device(a100), load("llama-2-7b", options));
        options.weights = DType::I4;
        const double quarter = latency("roofline", device(a100), load("llama-2-7b", options));
        QVERIFY(half / quarter > 3.5 && half / quarter < 4.05);
    }
    void unfusedAttentionWritesItsScores() {
        WorkloadOptions options;
        options.phase = Phase::Prefill;
        options.sequence = 4096;
        const auto fused = load("llama-2-7b", options);
        options.flashAttention = false;
        const auto unfused = load("llama-2-7b", options);
        const auto bytes = [](const Estimate& e) {
            double sum = 0;
            for (const double b : e.operators.bytes) sum += b;
            return sum;
        };
        const auto with = ask("llm-inference", device(a100), unfused);
        const auto without = ask("llm-inference", device(a100), fused);
        QVERIFY(with->latency > without->latency);
        // Scores and probabilities of 32 layers × 32 heads over all pairs of tokens, in fp16, each written and read.
        const double pairs = 4096.0 * 4096;
        QVERIFY(near(bytes(*with) - bytes(*without), 32 * 32 * pairs * 2 * 4, 1e-6));
    }
    void whatDoesNotFitIsSaid() {
        WorkloadOptions options;
        options.phase = Phase::Decode;
        options.batch = 64;
        options.sequence = 4096;
        const auto answer = ask("llm-inference", device("t4"), load("llama-2-7b", options));
        QVERIFY(answer);
        const auto told = std::any_of(answer->warnings.begin(), answer->warnings.end(),
                                      [](const Diagnostic& d) { return d.code == "memory.does-not-fit"; });
        QVERIFY(told);
        QVERIFY(answer->memory->total() > answer->memory->capacity);
    }
    void figuresOfDecodeAgreeWithEachOther() {
        const auto answer = ask("llm-inference", device(a100), llama(Phase::Decode, 8, 1024));
        QVERIFY(answer);
        std::map<std::string, double> figure;
        for (const auto& f : answer->figures) figure[f.label] = f.value;
        QCOMPARE(figure["Time per output token"], answer->latency.value);
        QVERIFY(near(figure["Throughput"], 8 / answer->latency.value, 1e-12));
        QVERIFY(figure["Memory bandwidth utilisation"] > 0.3 && figure["Memory bandwidth utilisation"] < 1);
        const double batch = figure["Largest batch that fits"];
        QVERIFY(batch >= 8);
        const auto fits =
            ask("llm-inference", device(a100), llama(Phase::Decode, static_cast<std::int64_t>(batch), 1024));
        QVERIFY(fits->memory->total() <= fits->memory->capacity * 1.01);
    }
    void missingBandwidthIsNamed() {
        auto broken = *device(a100);
        const auto view = deviceView(broken);
        const auto path = findComponent(broken.root, view->main().name);
        QVERIFY(path);
        auto* memory = componentAt(broken.root, *path);
        std::erase_if(memory->attributes, [](const Attribute& a) { return a.name == "bandwidth"; });
        for (const auto id : all()) {
            const auto answer = ask(id, std::make_shared<const Hardware>(broken), llama(Phase::Decode, 1, 16));
            QVERIFY(!answer);
            QVERIFY(answer.error().place.path.ends_with(view->main().name + ".bandwidth"));
        }
    }
    void platformsWithoutReferencesSaySo() {
        const auto workload = llama(Phase::Prefill, 1, 128);
        for (const auto& entry : hardwareCatalogue()) {
            const auto answer = ask("llm-inference", device(entry.id), workload, false);
            if (!answer) continue;
            const bool told = std::any_of(answer->warnings.begin(), answer->warnings.end(),
                                          [](const Diagnostic& d) { return d.code == "method.no-reference"; });
            const auto what = entry.id + " of group " + entry.group;
            // The device that is asked decides, not the group: the systems are made of GPUs, but for the TPU pod and
            // UPMEM's server.
            const bool gpu = entry.group == "GPU" || entry.id == "jetson-agx-orin" ||
                             (entry.group == "System" && !entry.id.starts_with("tpu") && entry.id != "upmem-server");
            QVERIFY2(told == !gpu, what.c_str());
        }
    }
    void sameQuestionSameBytes() {
        const auto a = ask("hierarchical-roofline", device(a100), llama(Phase::Prefill, 1, 128));
        const auto b = ask("hierarchical-roofline", device(a100), llama(Phase::Prefill, 1, 128));
        QVERIFY(a->operators.seconds == b->operators.seconds);
        QVERIFY(a->operators.levelBytes == b->operators.levelBytes);
        QCOMPARE(a->provenance.hardwareHash, b->provenance.hardwareHash);
        QCOMPARE(a->provenance.workloadHash, b->provenance.workloadHash);
    }
    void foldedBlocksAreUnrolledInOrderAndCutWithNotice() {
        const auto workload = llama(Phase::Decode, 1, 64);
        const auto answer = ask("roofline", device(a100), workload);
        const auto whole = answer->timeline;
        QVERIFY(!whole.truncated);
        // After the last operator of a layer comes the first of the next layer.
        int turns = 0;
        for (std::size_t i = 1; i < whole.spans.size(); ++i) {
            const auto& before = whole.spans[i - 1];
            const auto& now = whole.spans[i];
            if (now.repetition != before.repetition + 1) continue;
            ++turns;
            QVERIFY(now.op < before.op);
        }
        QCOMPARE(turns, 31);
        const auto cut = serialTimeline(*workload, answer->operators, "device", 100);
        QCOMPARE(cut.spans.size(), std::size_t{100});
        QVERIFY(cut.truncated);
        QCOMPARE(cut.rows.size(), std::size_t{2});
        QVERIFY(std::equal(
            cut.spans.begin(), cut.spans.end(), whole.spans.begin(),
            [](const TimelineSpan& a, const TimelineSpan& b) { return a.op == b.op && a.endPs == b.endPs; }));
    }
};

QTEST_GUILESS_MAIN(TestMethodEstimates)
#include "tst_method_estimates.moc"
