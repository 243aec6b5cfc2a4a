// Mixtures of experts as they are launched: one kernel for the experts of a layer, with the work of the graph.

#include "methods/method.h"
#include "methods/model/iteration_launches.h"
#include "methods/model/model_methods.h"
#include "support/devices.h"
#include "support/near.h"
#include "workload/models/transformer_source.h"

#include <QtTest/QtTest>

#include <algorithm>

using namespace orrery;
using orrery::test::near;

namespace {

WorkloadPtr mixture(const char* id, Phase phase, std::int64_t batch, std::int64_t sequence) {
    WorkloadOptions options;
    options.phase = phase;
    options.batch = batch;
    options.sequence = sequence;
    options.weights = options.activations = options.kv = DType::BF16;
    auto made = loadWorkload({id, options});
    if (!made) qFatal("%s", toText(made.error()).c_str());
    return *made;
}

std::vector<Launch> expertsOf(const std::vector<Launch>& launches) {
    std::vector<Launch> found;
    std::copy_if(launches.begin(), launches.end(), std::back_inserter(found),
                 [](const Launch& each) { return each.kernel.kind == KernelKind::Experts; });
    return found;
}

double flopsOf(const std::vector<Launch>& launches) {
    double sum = 0;
    for (const Launch& each : launches) sum += each.count * (each.kernel.flops + each.kernel.epilogue.operations);
    return sum;
}

}  // namespace

class TestModelExperts : public QObject {
    Q_OBJECT
private slots:
    void oneKernelPerLayer_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("layers");
        QTest::addColumn<bool>("decode");
        for (const bool decode : {true, false}) {
            const char* phase = decode ? "decode" : "prefill";
            QTest::addRow("mixtral %s", phase) << "mixtral-8x7b" << 32 << decode;
            QTest::addRow("deepseek %s", phase) << "deepseek-v3" << 58 << decode;
            QTest::addRow("qwen %s", phase) << "qwen3-30b-a3b" << 48 << decode;
        }
    }
    void oneKernelPerLayer() {
        QFETCH(QString, model);
        QFETCH(int, layers);
        QFETCH(bool, decode);
        const auto workload = mixture(model.toStdString().c_str(), decode ? Phase::Decode : Phase::Prefill, 8, 512);
        ModelOptions whole, apart;
        apart.wholeExperts = false;
        const auto launches = launchesOf(*workload, whole).launches;
        const auto experts = expertsOf(launches);
        double count = 0, read = 0;
        for (const Launch& each : experts) {
            count += each.count;
            read += each.count * each.weightBytes;
            const ExpertShape& e = each.kernel.experts;
            QVERIFY(e.touched >= 1 && e.touched <= e.held && e.touched <= e.rows);
            // Never below the weights of the experts that are chosen: those of the graph's expected share.
            const double one = 3.0 * double(e.hidden) * double(e.inner) * 2;
            QVERIFY(each.kernel.readBytes >= (double(e.touched) - 0.5) * one);
            QVERIFY(e.gated);
            QCOMPARE(e.tokens, decode ? 8 : 8 * 512);
        }
        QCOMPARE(count, double(layers));
        const auto loose = launchesOf(*workload, apart).launches;
        QVERIFY(expertsOf(loose).empty());
        QVERIFY(near(flopsOf(launches), flopsOf(loose), 1e-9));
        QVERIFY(read > 0.2 * workload->totals.weightBytes);
        // Neither rows between the products nor anything else is counted twice.
        const double all = [&] {
            double bytes = 0;
            for (const Launch& each : launches) bytes += each.count * each.kernel.bytes();
            return bytes;
        }();
        double looseBytes = 0;
        for (const Launch& each : loose) looseBytes += each.count * each.kernel.bytes();
        QVERIFY(all < looseBytes && all > 0.5 * looseBytes);
    }

    void sharedExpertsAndRoutersStayProducts() {
        const auto workload = mixture("deepseek-v3", Phase::Decode, 64, 4096);
        int shared = 0, routers = 0;
        for (const Launch& each : launchesOf(*workload, {}).launches) {
            const std::string& name = workload->graph.operators[static_cast<std::size_t>(each.op)].name;
            if (each.kernel.kind != KernelKind::Gemm) continue;
            shared += name.find("shared_expert") != std::string::npos;
            routers += name.ends_with("router");
        }
        QCOMPARE(shared, 2);
        QCOMPARE(routers, 1);
    }

    void trainingAndFrameworksLaunchTheParts() {
        const auto workload = mixture("mixtral-8x7b", Phase::TrainingForward, 2, 256);
        ModelOptions training, eager;
        training.step = Step::Training;
        eager.fusion = Fusion::None;
        QVERIFY(expertsOf(launchesOf(*workload, training).launches).empty());
        QVERIFY(expertsOf(launchesOf(*workload, eager).launches).empty());
    }

    void servingAsksForTheBusiestDevice() {
        ServedTransformer model;
        model.config = *transformerConfig("deepseek-v3");
        model.plan = {.tensor = 8, .expert = 8};
        const auto even = IterationLaunches::make(model);
        model.routing = {.kind = RoutingKind::Zipf, .skew = 1};
        const auto uneven = IterationLaunches::make(model);
        QVERIFY(even && uneven);
        for (const std::int64_t tokens : {1, 64, 1024}) {
            const auto a = expertsOf(even->of(IterationGroup::Experts, tokens));
            const auto b = expertsOf(uneven->of(IterationGroup::Experts, tokens));
            QVERIFY(a.size() == 1 && b.size() == 1);
            const ExpertShape& balanced = a[0].kernel.experts;
            const ExpertShape& busy = b[0].kernel.experts;
            QCOMPARE(balanced.tokens, tokens);
            QCOMPARE(balanced.held, 32);
            QVERIFY(balanced.rows >= tokens && balanced.rows < tokens + 8);
            QVERIFY(busy.rows >= balanced.rows || tokens == 1);
            QVERIFY(busy.skew > 0 && balanced.skew == 0);
            QVERIFY(busy.touched <= busy.held && busy.touched <= busy.rows);
        }
        // Nothing of the experts is left among what all tokens cost.
        for (const Launch& each : even->of(IterationGroup::Tokens, 64)) QVERIFY(each.kernel.function != "WeightedSum");
    }

    void noMethodIsFasterThanTheBytes() {
        const auto workload = mixture("deepseek-v3", Phase::Decode, 64, 4096);
        const Scenario scenario{fixture::device("h100-sxm"), workload};
        const double bytes = 58 * 256 * 3.0 * 7168 * 2048 * 2 * (1 - std::pow(1 - 8.0 / 256, 64));
        for (const char* id : {"tile-hybrid", "tile-wave", "interval-analysis", "forest", "booster", "roofline"}) {
            const auto executor = makeSerialExecutor();
            EstimateContext context{*executor, {}};
            context.wantTimeline = false;
            const auto answer = estimate(*findMethod(id), scenario, context);
            QVERIFY2(answer, id);
            QVERIFY2(answer->latency.value > bytes / 3.35e12, id);
            QVERIFY2(answer->interval.low.value > 0.99 * bytes / 3.35e12, id);
        }
    }
};

QTEST_GUILESS_MAIN(TestModelExperts)
#include "tst_model_experts.moc"
