// Are graphs turned into the kernels that would be launched, are their prices added up as they run, and is what is not
// known said? Prices come from a kernel method made by hand, so that every time is arithmetic on paper.

#include "base/random.h"
#include "hardware/files/catalogue.h"
#include "methods/model/columns.h"
#include "methods/model/explain.h"
#include "methods/model/model_methods.h"
#include "methods/model/whole_error.h"
#include "support/devices.h"
#include "support/method_fixture.h"
#include "support/near.h"
#include "workload/models/builder.h"
#include "workload/passes.h"

#include <QtTest/QtTest>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

using namespace orrery;
using orrery::fixture::device;
using orrery::test::near;

namespace {

/// 10 µs and 1 ns per MFLOP and per kB; ±10 %. Softmax is not covered, normalisation lies outside the domain.
class HandPricer : public KernelPricer {
public:
    KernelPrice price(const Kernel& k) const override {
        KernelPrice p;
        p.seconds = 10e-6 + k.flops * 1e-15 + k.bytes() * 1e-12;
        p.low = 0.9 * p.seconds;
        p.high = 1.1 * p.seconds;
        p.bound = {BoundKind::Memory, 0};
        p.priced = k.kind != KernelKind::Softmax;
        if (k.kind == KernelKind::Normalization) p.domain = DomainVerdict::Outside;
        return p;
    }
    KernelStory explain(const Kernel&) const override {
        KernelStory story;
        story.terms.push_back({"launch", 10e-6, Dimension::Time, {}, "by hand"});
        return story;
    }
    double correlation(KernelKind) const override { return 0.5; }
};

Expected<KernelPricerPtr> bindHand(const GpuView&, const CalibrationSet&) {
    return KernelPricerPtr(std::make_shared<HandPricer>());
}
const KernelMethod hand{.id = "hand", .version = "1", .binder = &bindHand, .fit = nullptr};

WorkloadPtr model(std::string id, Phase phase, std::int64_t sequence, bool flash = true, DType type = DType::F16) {
    WorkloadOptions options;
    options.phase = phase;
    options.sequence = sequence;
    options.flashAttention = flash;
    options.weights = options.activations = options.kv = type;
    auto workload = loadWorkload({std::move(id), options});
    if (!workload) qFatal("%s", toText(workload.error()).c_str());
    return *workload;
}

/// x → linear → GeLU → linear → + x → norm, the sum handed out too.
WorkloadPtr feedForward() {
    GraphBuilder g("ff", {});
    const TensorId x = g.input("x", {512, 1024});
    const TensorId up = g.elementwise("GeluTanh", "act", {g.linear("up", x, 4096)});
    const TensorId sum = g.elementwise("Residual", "sum", {x, g.linear("down", up, 1024)});
    g.output(g.layerNorm("norm", sum));
    g.output(sum);
    return fixture::workloadOf(g.finish());
}

Expected<Estimate> ask(const HardwarePtr& hardware, const WorkloadPtr& workload, OptionValues options = {}) {
    static const auto executor = makeSerialExecutor();
    static const Method method = modelMethod(hand);
    EstimateContext context{*executor, {}};
    context.options = std::move(options);
    return estimate(method, {hardware, workload}, context);
}

std::vector<std::string> namesOf(const LaunchList& list) {
    std::vector<std::string> names;
    for (const Launch& launch : list.launches) {
        names.emplace_back(launch.kernel.kind == KernelKind::Gemm ? "gemm" : launch.kernel.function);
    }
    return names;
}

double sumOf(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum;
}

bool told(const Estimate& answer, std::string_view code) {
    return std::any_of(answer.warnings.begin(), answer.warnings.end(),
                       [&](const Diagnostic& d) { return d.code == code; });
}

double figure(const Estimate& answer, std::string_view label) {
    for (const Figure& f : answer.figures) {
        if (f.label == label) return f.value;
    }
    return -1;
}

using Names = std::vector<std::string>;

}  // namespace

class TestModelComposition : public QObject {
    Q_OBJECT
private slots:
    void fusionDecidesWhatIsLaunched() {
        const auto workload = feedForward();
        ModelOptions options;
        options.fusion = Fusion::Epilogue;
        const auto engine = launchesOf(*workload, options);
        QCOMPARE(namesOf(engine), (Names{"gemm", "gemm", "LayerNormalization"}));
        QCOMPARE(engine.leader, (std::vector<std::int32_t>{0, 0, 2, 3, 3}));
        // The activation is applied on the way out; residual and norm read two tensors and two vectors, write two.
        constexpr double rows = 512 * 1024 * 2, wide = 512 * 4096 * 2;
        QCOMPARE(engine.launches[0].kernel.writeBytes, wide);
        QCOMPARE(engine.launches[0].kernel.epilogue.bytes, 0.0);
        QCOMPARE(engine.launches[2].kernel.readBytes, 2 * rows + 2 * 1024 * 2);
        QCOMPARE(engine.launches[2].kernel.writeBytes, 2 * rows);
        QCOMPARE(engine.launches[2].kernel.operands, 2);
        options.fusion = Fusion::Compile;
        QCOMPARE(namesOf(launchesOf(*workload, options)), (Names{"gemm", "GeluTanh", "gemm", "LayerNormalization"}));
        options.fusion = Fusion::None;
        const auto eager = launchesOf(*workload, options);
        QCOMPARE(eager.launches.size(), std::size_t{2 + 8 + 2});
        QCOMPARE(eager.leader, (std::vector<std::int32_t>{0, 1, 2, 3, 4}));
        // Flops of products are the same whoever runs them.
        const auto products = [](const LaunchList& list) {
            double flops = 0;
            for (const auto& l : list.launches) flops += l.kernel.kind == KernelKind::Gemm ? l.kernel.flops : 0;
            return flops;
        };
        QVERIFY(near(products(eager), 2 * 2.0 * 512 * 1024 * 4096 + 512 * (4096 + 1024)));
        QVERIFY(products(engine) >= products(eager));
    }
    void residualWithoutNormGoesIntoTheProduct() {
        GraphBuilder g("residual", {});
        const TensorId x = g.input("x", {512, 1024});
        g.output(g.elementwise("Residual", "sum", {x, g.linear("down", x, 1024)}));
        const auto list = launchesOf(*fixture::workloadOf(g.finish()), {});
        QCOMPARE(list.launches.size(), std::size_t{1});
        QCOMPARE(list.launches[0].kernel.epilogue.bytes, 0.0);  // x is the product's operand already
        GraphBuilder h("other residual", {});
        const TensorId a = h.input("a", {512, 2048}), b = h.input("b", {512, 1024});
        h.output(h.elementwise("Residual", "sum", {b, h.linear("down", a, 1024)}));
        QCOMPARE(launchesOf(*fixture::workloadOf(h.finish()), {}).launches[0].kernel.epilogue.bytes, 512.0 * 1024 * 2);
    }
    void attentionWrittenOutIsOneKernelInAnEngine() {
        GraphBuilder g("attention", {});
        const TensorId q = g.input("q", {2, 8, 512, 64}), k = g.input("k", {2, 8, 64, 512});
        const TensorId v = g.input("v", {2, 8, 512, 64}), mask = g.input("mask", {1, 1, 512, 512});
        const TensorId scaled = g.elementwise("Mul", "scale", {g.matmul("scores", q, k)});
        const TensorId masked = g.elementwise("Add", "masked", {scaled, mask});
        g.output(g.matmul("context", g.softmax("softmax", masked), v));
        const auto workload = fixture::workloadOf(g.finish());
        const auto list = launchesOf(*workload, {});
        QCOMPARE(list.launches.size(), std::size_t{1});
        const Kernel& kernel = list.launches[0].kernel;
        QVERIFY(kernel.kind == KernelKind::PrefillAttention && kernel.attention.flash);
        QVERIFY(kernel.attention.batch == 2 && kernel.attention.heads == 8 && kernel.attention.headDim == 64);
        QVERIFY(kernel.attention.queries == 512 && kernel.attention.keys == 512);
        constexpr double heads = 2 * 8 * 512 * 64 * 2;
        QCOMPARE(kernel.bytes(), 4 * heads + 512 * 512 * 2);
        ModelOptions compiled;
        compiled.fusion = Fusion::Compile;
        QCOMPARE(launchesOf(*workload, compiled).launches.size(), std::size_t{3});
    }
    void unfusedAttentionMovesItsScores() {
        const auto workload = model("gpt-2", Phase::Forward, 256, false, DType::F32);
        ModelOptions eager;
        eager.fusion = Fusion::None;
        const auto list = launchesOf(*workload, eager);
        const double scores = 12 * 256.0 * 256 * 4;
        int seen = 0;
        for (const Launch& l : list.launches) {
            if (l.what == "scale" || l.what == "mask" || l.what == "softmax") {
                QCOMPARE(l.kernel.readBytes, scores);
                QCOMPARE(l.kernel.writeBytes, scores);
                QCOMPARE(l.count, 12.0);
                ++seen;
            }
        }
        QCOMPARE(seen, 3);
    }
    void columnsSumToTheLatencyAndFusedOperatorsTakeNoTime() {
        const auto answer = ask(device("a100-80-sxm"), feedForward());
        QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
        QVERIFY(near(sumOf(answer->operators.seconds), answer->latency.value));
        QCOMPARE(answer->operators.seconds[1], 0.0);
        QCOMPARE(answer->operators.seconds[4], 0.0);
        QCOMPARE(figure(*answer, "Kernels launched"), 3.0);
        for (const auto* fusion : {"none", "epilogue", "compile"}) {
            for (const auto* launch : {"eager", "graph"}) {
                for (const auto* step : {"inference", "training"}) {
                    const auto each = ask(device("a100-80-sxm"), model("gpt-2", Phase::Forward, 128, false),
                                          {{"fusion", fusion}, {"launch", launch}, {"step", step}});
                    QVERIFY(each);
                    QVERIFY(near(sumOf(each->operators.seconds), each->latency.value));
                    double drawn = 0;
                    for (const auto& span : each->timeline.spans) drawn += double(span.endPs - span.startPs);
                    if (!each->timeline.truncated) QVERIFY(near(drawn * 1e-12, each->latency.value, 1e-6));
                    QVERIFY(each->interval.low < each->latency && each->latency < each->interval.high);
                }
            }
        }
    }
    void launchesArePipelinedAsByHand() {
        // Every launch followed one by one, against the closed form of repeated blocks.
        RandomStream random(11);
        for (int round = 0; round < 200; ++round) {
            std::vector<double> seconds;
            std::vector<LaunchRun> runs;
            const double issue = 1e-6 * (1 + 9 * random.uniform());
            for (std::size_t r = 0; r < 1 + random.below(4); ++r) {
                const std::size_t first = seconds.size(), length = 1 + random.below(5);
                for (std::size_t i = 0; i < length; ++i) seconds.push_back(20e-6 * random.uniform() * random.uniform());
                runs.push_back({first, seconds.size(), double(1 + random.below(200))});
            }
            double host = 0, gpu = 0;
            for (const auto& run : runs) {
                for (double t = 0; t < run.times; ++t) {
                    for (std::size_t i = run.first; i < run.end; ++i) {
                        host += issue;
                        gpu = std::fmax(gpu, host) + seconds[i];
                    }
                }
            }
            const auto result = pipelined(runs, seconds, issue);
            QVERIFY2(near(result.total, gpu, 1e-9), qPrintable(QString("%1: %2").arg(result.total).arg(gpu)));
            double busy = 0;
            for (const auto& run : runs) {
                for (std::size_t i = run.first; i < run.end; ++i) busy += run.times * seconds[i];
            }
            QVERIFY(near(busy + sumOf(result.idle), result.total, 1e-9));
        }
        // A block repeated without end is not followed to the end.
        const std::vector<LaunchRun> endless{{0, 1, 1e15}};
        QVERIFY(near(pipelined(endless, std::vector{2e-6}, 5e-6).total, 5e9, 1e-6));
    }
    void eagerLaunchesBoundSmallModelsOnly() {
        const auto small = model("gpt-2", Phase::Decode, 16), large = model("llama-2-70b", Phase::Prefill, 2048);
        const auto hardware = device("h100-sxm");
        for (const auto& workload : {small, large}) {
            const auto eager = ask(hardware, workload, {{"launch", "eager"}}), graph = ask(hardware, workload);
            QVERIFY(eager && graph && eager->latency.value >= graph->latency.value * 0.999);
        }
        const auto answer = ask(hardware, large, {{"launch", "eager"}});
        QVERIFY(figure(*answer, "Launch-bound share") < 0.01);
    }
    void foldedAndUnfoldedAreTheSame() {
        const auto folded = model("llama-2-7b", Phase::Prefill, 256);
        Graph graph = folded->graph;
        QVERIFY(unfoldRepeats(graph) > 100);
        const auto unfolded = fixture::workloadOf(std::move(graph));
        // Between two layers a folded residual is added by the product before it, an unfolded one by the norm after it.
        for (const auto& [fusion, tolerance] : {std::pair{"none", 1e-9}, {"epilogue", 0.02}}) {
            const auto a = ask(device("h100-sxm"), folded, {{"fusion", fusion}});
            const auto b = ask(device("h100-sxm"), unfolded, {{"fusion", fusion}});
            QVERIFY(a && b);
            QVERIFY2(near(a->latency.value, b->latency.value, tolerance),
                     qPrintable(QString("%1: %2 and %3").arg(fusion).arg(a->latency.value).arg(b->latency.value)));
            QCOMPARE(figure(*a, "Kernels launched"), figure(*b, "Kernels launched"));
        }
    }
    void intervalLiesBetweenItsLimits() {
        const auto hardware = device("h100-sxm");
        const auto executor = makeSerialExecutor();
        EstimateContext context{*executor};
        const auto composed = compose({hardware, feedForward()}, hand, {}, context);
        QVERIFY(composed);
        const auto i = composeLaunches(composed->prices, composed->list().launches, *composed->pricer);
        QVERIFY(i.correlatedLow < i.low && i.low < i.independentLow);
        QVERIFY(i.independentHigh < i.high && i.high < i.correlatedHigh);
    }
    // A pass is missed by more than its kernels say, one kernel is not; nor is there more where no software stands
    // between kernels.
    void wholesAreLessSureThanTheirKernels() {
        QCOMPARE(wholeError(0, 1).above, 0.0);
        QCOMPARE(wholeError(1, 0).below, wholeOtherSoftware.below);
        QCOMPARE(wholeError(1, 0).above, wholeOtherSoftware.above);
        QCOMPARE(wholeError(0, 0).above, wholeOwnSoftware.above);
        QVERIFY(wholeError(0.2, 0).above > wholeError(0, 0).above &&
                wholeError(0.2, 0.5).above < wholeError(0.2, 0).above);
        const auto executor = makeSerialExecutor();
        EstimateContext context{*executor};
        const Scenario scenario{device("h100-sxm"), feedForward()};
        ModelOptions options;
        const auto graph = compose(scenario, hand, options, context);
        options.launch = LaunchMode::Eager;
        const auto eager = compose(scenario, hand, options, context);
        QVERIFY(graph && eager);
        const auto kernels = composeLaunches(graph->prices, graph->list().launches, *graph->pricer);
        QVERIFY(graph->interval.low < kernels.low && kernels.high < graph->interval.high);
        double least = 0;
        for (std::size_t i = 0; i < graph->prices.size(); ++i)
            least += graph->prices[i].least * graph->list().launches[i].count;
        QVERIFY(graph->interval.low >= std::min(least, graph->interval.seconds));
        // A host may take longer than assumed, and kernels of microseconds wait for it.
        QVERIFY(eager->interval.high > graph->interval.high);
    }
    void trainingIsThreeProductsForOne() {
        const auto workload = model("gpt-2", Phase::Forward, 128);
        ModelOptions options;
        options.step = Step::Training;
        for (const Fusion fusion : {Fusion::None, Fusion::Epilogue, Fusion::Compile}) {
            options.fusion = fusion;
            double forward = 0, backward = 0;
            for (const Launch& l : launchesOf(*workload, options).launches) {
                const Kernel& k = l.kernel;
                const double flops = 2.0 * double(k.batch) * double(k.m) * double(k.n) * double(k.k) * l.count;
                if (k.kind == KernelKind::Gemm) (l.part == Part::Forward ? forward : backward) += flops;
            }
            QVERIFY2(near(backward, 2 * forward), qPrintable(QString("%1 and %2").arg(forward).arg(backward)));
        }
        const auto answer = ask(device("a100-80-sxm"), workload, {{"step", "training"}});
        QVERIFY(answer);
        const double parameters = workload->totals.parameters;
        QVERIFY(near(figure(*answer, "Gradients"), 2 * parameters, 0.01));
        QVERIFY(near(figure(*answer, "Optimizer state"), 12 * parameters, 0.01));
        QVERIFY(figure(*answer, "Backward pass") > figure(*answer, "Forward pass"));
        QVERIFY(answer->memory->total().value > 16 * parameters);
        const auto sgd = ask(device("a100-80-sxm"), workload, {{"step", "training"}, {"optimizer", "none"}});
        QVERIFY(sgd->latency < answer->latency);
    }
    void streamsOverlapOnlyWhatIsIndependent() {
        GraphBuilder g("branches", {});
        const TensorId x = g.input("x", {64, 64});
        TensorId left = g.linear("l1", x, 64), right = g.linear("r1", x, 64);
        left = g.linear("l2", left, 64), right = g.linear("r2", right, 64);
        g.output(g.elementwise("Mul", "join", {left, right}));
        const auto branches = fixture::workloadOf(g.finish());
        const auto hardware = device("h100-sxm");
        const auto apart = ask(hardware, branches), over = ask(hardware, branches, {{"streams", "on"}});
        QVERIFY(apart && over);
        // Four kernels of 10 µs and little more. The last joins the branches, so it waits for both: three on the
        // longest chain.
        QVERIFY2(near(apart->latency.value - over->latency.value, 10e-6, 0.02),
                 qPrintable(QString("%1 and %2").arg(apart->latency.value).arg(over->latency.value)));
        QVERIFY(near(sumOf(over->operators.seconds), over->latency.value));
        const auto chain = fixture::workloadOf(fixture::chain(5, 1000));
        QCOMPARE(ask(hardware, chain, {{"streams", "on"}})->latency.value, ask(hardware, chain)->latency.value);
    }
    void whatIsNotKnownIsSaid() {
        const auto answer = ask(device("h100-sxm"), model("gpt-2", Phase::Forward, 256, false), {{"fusion", "none"}});
        QVERIFY(answer);
        QVERIFY(told(*answer, "method.kernels-not-covered"));  // softmax
        QVERIFY(told(*answer, "calibration.extrapolates"));    // norms
        QVERIFY(
            !told(*ask(device("h100-sxm"), fixture::workloadOf(fixture::chain(3, 100))), "method.kernels-not-covered"));
    }
    void refusals() {
        const auto array = ask(device("eyeriss-like"), feedForward());
        QVERIFY(!array && array.error().code == "method.not-applicable");
        const auto empty = ask(device("h100-sxm"), fixture::workloadOf({}));
        QVERIFY(!empty && empty.error().code == "workload.empty");
        const Scenario scenario{device("h100-sxm"), feedForward()};
        const auto story = explainOperator(scenario, {"hierarchical-roofline", {}}, 0);
        QVERIFY(!story && story.error().code == "method.no-story");
        // A person is told what to choose, by its title.
        const std::string said = story.error().message + story.error().hint;
        QVERIFY2(said.find(methodTitle("hierarchical-roofline")) != std::string::npos, said.c_str());
        QVERIFY2(story.error().hint.find(methodTitle("tile-wave")) != std::string::npos, said.c_str());
        QVERIFY2(said.find("hierarchical-roofline") == std::string::npos, said.c_str());
    }
    // Asked about one operator, the terms are of that operator once: all of the answer, not a layer's share of a pass.
    void oneOperatorIsExplainedAlone() {
        const auto workload = model("llama-2-7b", Phase::Prefill, 512);
        const auto& operators = workload->graph.operators;
        const auto repeated = std::ranges::find_if(
            operators, [](const Operator& each) { return each.kind == OperatorKind::MatMul && each.repeat > 1; });
        QVERIFY(repeated != operators.end());
        const auto op = static_cast<std::size_t>(repeated - operators.begin());
        const Scenario scenario{device("a100-80-sxm"), workload, {}, OneOperator{repeated->name}};
        for (const char* id : {"tile-wave", "roofline"}) {
            const MethodChoice choice{id, {}};
            const auto story = explainOperator(scenario, choice, op);
            QVERIFY2(story, story ? "" : toText(story.error()).c_str());
            QCOMPARE(story->size(), std::size_t{1});
            const ExplainedKernel& one = story->front();
            QCOMPARE(one.times, 1.0);
            QCOMPARE(one.operators, std::vector{static_cast<std::int32_t>(op)});
            const auto executor = makeSerialExecutor();
            EstimateContext context{*executor, {}};
            const auto answer = estimate(*findMethod(id), scenario, context);
            QVERIFY(answer);
            // The kernel is all of the answer but for its launch, which no kernel before it hides.
            const double latency = answer->latency.value;
            constexpr double launch = 5e-6;
            QVERIFY2(one.price.seconds <= latency * (1 + 1e-9) && one.price.seconds >= latency - launch,
                     fmt::format("{}: {} of {}", id, one.price.seconds, latency).c_str());
            QVERIFY2(near(one.share, one.price.seconds / latency, 1e-6), fmt::format("{} {}", id, one.share).c_str());
            const auto other = explainOperator(scenario, choice, op + 1);
            QVERIFY(!other && other.error().code == "method.no-story");
        }
    }
    void operatorsAreExplainedByTheirKernels() {
        if (kernelMethods().empty()) QSKIP("no kernel method is listed");
        const Scenario scenario{device("a100-80-sxm"), feedForward()};
        const MethodChoice choice{"tile-wave", {}};
        const auto story = explainOperator(scenario, choice, 1);
        QVERIFY2(story, story ? "" : toText(story.error()).c_str());
        QCOMPARE(story->size(), std::size_t{1});
        QCOMPARE(story->front().operators, (std::vector<std::int32_t>{0, 1}));
        QVERIFY(!story->front().story.terms.empty() && story->front().share > 0 && story->front().share < 1);
        QVERIFY(!explainOperator(scenario, choice, 99));
    }
    // The longer of two times that a student can work out on paper from the data sheet.
    void theRooflineIsExplainedByItsTwoTimes() {
        for (const char* fusion : {"none", "epilogue"}) {
            const Scenario scenario{device("a100-80-sxm"), feedForward()};
            const MethodChoice choice{"roofline", {{"fusion", fusion}}};
            const auto executor = makeSerialExecutor();
            EstimateContext context{*executor, {}};
            context.options = choice.options;
            const auto answer = estimate(*findMethod("roofline"), scenario, context);
            QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
            double all = 0;
            std::set<std::int32_t> told;
            for (std::size_t op = 0; op < scenario.workload->graph.operators.size(); ++op) {
                const auto story = explainOperator(scenario, choice, op);
                QVERIFY2(story, story ? "" : toText(story.error()).c_str());
                if (story->empty()) continue;
                const ExplainedKernel& one = story->front();
                QVERIFY(one.bound);
                if (!told.insert(one.operators.front()).second) continue;
                all += one.times * one.price.seconds;
                const auto term = [&](std::string_view name) {
                    const auto at = std::ranges::find_if(
                        one.story.terms, [&](const KernelTerm& each) { return each.name.starts_with(name); });
                    return at == one.story.terms.end() ? -1.0 : at->value;
                };
                QCOMPARE(term("bandwidth"), 2.039e12);  // A100 80 GB SXM, data sheet
                QVERIFY(near(term("time of the bytes"), term("bytes") / 2.039e12, 1e-9));
                if (term("time of the work") > 0) {
                    QVERIFY(near(term("time of the work"), term("work") / term("peak rate"), 1e-9));
                    QVERIFY(near(term("ridge point"), term("peak rate") / 2.039e12, 1e-9));
                    const bool left = term("arithmetic intensity") < term("ridge point");
                    QCOMPARE(left, term("time of the bytes") > term("time of the work"));
                }
            }
            QVERIFY2(near(all, answer->latency.value, 1e-6), fmt::format("{} {}", all, answer->latency.value).c_str());
        }
    }
    void sameQuestionSameBytes() {
        const auto workload = model("llama-2-7b", Phase::Decode, 512);
        const auto a = ask(device("h100-sxm"), workload), b = ask(device("h100-sxm"), workload);
        QVERIFY(a->operators.seconds == b->operators.seconds && a->interval.low == b->interval.low);
    }
};

QTEST_GUILESS_MAIN(TestModelComposition)
#include "tst_model_composition.moc"
