// Mixtures of experts in a fleet: how tokens choose, ranks that go in step, and caches of latent attention.

#include "methods/system/iteration_times.h"
#include "methods/system/planned_fleet.h"
#include "methods/trace/expert_trace.h"
#include "serving/serving_scenario.h"
#include "support/disaggregation_fixture.h"
#include "support/iteration_fixture.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>

using namespace orrery;
using namespace orrery::testing;

namespace {

ServedTransformer served(const char* model, int tensor, int expert, ExpertRouting routing = {}, int ranks = 1) {
    ServedTransformer result;
    result.config = *transformerConfig(model);
    result.plan = {.tensor = tensor, .expert = expert};
    result.routing = std::move(routing);
    result.dataParallel = ranks;
    return result;
}
// Experts that one device computes, and the rows of each.
std::pair<double, double> grouped(const IterationLaunches& launches, std::int64_t tokens) {
    for (const Launch& launch : launches.of(IterationGroup::Experts, tokens)) {
        const ExpertShape& shape = launch.kernel.experts;
        const auto touched = static_cast<double>(shape.touched);
        if (launch.kernel.kind == KernelKind::Experts) return {touched, static_cast<double>(shape.rows) / touched};
    }
    return {0, 0};
}
ServingScenario mixture() {
    ServingScenario scenario;
    scenario.model.source = "qwen3-30b-a3b";
    scenario.pools[0].hardware = "h200-sxm";
    scenario.pools[0].time.method = "tile-wave";
    return scenario;
}
double priced(const ServingScenario& scenario, const Work& work) {
    const auto planned = fleetOf(scenario, nullptr);
    if (!planned) qFatal("%s", toText(planned.error()).c_str());
    return planned->fleet->replicas[0].time->price(work.work()).lastSeconds;
}

}  // namespace

class TestServingExperts : public QObject {
    Q_OBJECT

private slots:
    // 128 experts on 4 devices, 8 per token. All tokens choose among the first 32: one device has every pair.
    void everythingOnOneDevice() {
        ExpertRouting routing{.kind = RoutingKind::Trace};
        routing.weights.assign(128, 0);
        std::fill_n(routing.weights.begin(), 32, 1.0);
        const auto one = IterationLaunches::make(served("qwen3-30b-a3b", 4, 4, routing));
        QVERIFY2(one, one ? "" : toText(one.error()).c_str());
        const auto [experts, rows] = grouped(*one, 512);
        QCOMPARE(experts, 32.0);
        QCOMPARE(rows, 512.0 * 8 / 32);
        // Evenly: a quarter of the pairs on each device, on as many experts.
        const auto even = IterationLaunches::make(served("qwen3-30b-a3b", 4, 4));
        const auto [evenExperts, evenRows] = grouped(*even, 512);
        QCOMPARE(evenExperts, 32.0);
        QCOMPARE(evenRows, 512.0 * 8 / 128);
    }

    void skewCosts() {
        ServingScenario scenario = mixture();
        PoolSpec& pool = scenario.pools[0];
        pool.plan = {.tensor = 4, .expert = 4};
        const Work prompt = prompts(4, 1024), tokens = decodes(64, 1024);
        const double even = priced(scenario, prompt);
        pool.experts.routing = RoutingKind::Random;
        const double random = priced(scenario, prompt);
        double before = random;
        pool.experts.routing = RoutingKind::Zipf;
        for (const double skew : {0.5, 1.0, 2.0}) {
            pool.experts.skew = skew;
            const double now = priced(scenario, prompt);
            QVERIFY(now >= before * 0.99);  // the fewer experts are chosen, the fewer weights are read
            before = now;
        }
        QVERIFY(random >= even && random < 1.1 * even);  // many tokens: draws come near to their mean
        QVERIFY(before > even);
        // Few tokens that choose the same experts read fewer weights on one device.
        pool.plan = {};
        pool.experts.routing = RoutingKind::Balanced;
        const double decode = priced(scenario, tokens);
        pool.experts.routing = RoutingKind::Zipf;
        QVERIFY(priced(scenario, tokens) < decode);
    }

    // Ranks of a wave hold a share of the experts each and the rest whole.
    void wavesHoldTheirShare() {
        const auto alone = IterationLaunches::make(served("qwen3-30b-a3b", 1, 1));
        const auto wave = IterationLaunches::make(served("qwen3-30b-a3b", 1, 1, {}, 4));
        QVERIFY(alone && wave);
        // 48 layers × 128 experts × 3 products of 2048 × 768, two bytes each.
        const double experts = 48.0 * 128 * 3 * 2048 * 768 * 2;
        const double router = 48.0 * (128 - 32) * 2048 * 2;  // rows of the router, which follow the experts held
        QVERIFY(std::abs(alone->weightBytes() - wave->weightBytes() - 0.75 * experts) <= router);
        // 100 tokens of each rank: 100 · 4 · 8 ÷ 4 pairs on every device.
        const auto [held, rows] = grouped(*wave, 100);
        QCOMPARE(held, 32.0);
        QCOMPARE(rows, 25.0);
        int collectives = 0;
        for (const Launch& launch : wave->of(IterationGroup::Experts, 100)) {
            if (launch.kernel.kind != KernelKind::Collective) continue;
            ++collectives;
            QCOMPARE(launch.count, 48.0);
            QCOMPARE(launch.kernel.ranks, std::int64_t{4});
            QCOMPARE(launch.kernel.messageBytes, 400.0 * 2048 * 2);
        }
        QCOMPARE(collectives, 2);
        const auto many = IterationLaunches::make(served("mixtral-8x7b", 1, 1, {}, 16));
        QVERIFY(!many);
        QCOMPARE(QString::fromStdString(many.error().code), QString("serving.waves"));
    }

    void ranksGoInStep() {
        ServingScenario scenario = mixture();
        PoolSpec& pool = scenario.pools[0];
        pool.replicas = 4;
        pool.experts.waves = true;
        const auto planned = fleetOf(scenario, nullptr);
        QVERIFY2(planned, planned ? "" : toText(planned.error()).c_str());
        QVERIFY(planned->fleet->replicas[0].wave == 0 && planned->fleet->replicas[3].wave == 0);
        const auto stream = randomArrivals(3, 120, 40, 800, 40);
        ServingOptions options;
        options.batches = true;
        const auto result = simulate(planned->fleet, stream, options);
        QVERIFY(result);
        QCOMPARE(QString::fromStdString(broken(*result, *stream)), QString());
        const BatchLog& log = result->batches;
        for (std::size_t i = 1; i < log.size(); ++i) {
            // Fractions of a tick are carried by each rank for itself.
            if (std::abs(log.begin[i] - log.begin[i - 1]) <= 1)
                QVERIFY(std::abs(log.end[i] - log.end[i - 1]) <= 2);
            else
                QVERIFY(log.begin[i] >= log.end[i - 1] - 2);
        }
        // Of a dense model there is nothing to share: said, and ignored.
        scenario.model.source = "llama-3-8b";
        const auto dense = fleetOf(scenario, nullptr);
        QVERIFY(dense);
        QCOMPARE(dense->fleet->replicas[0].wave, -1);
        QVERIFY(std::any_of(dense->warnings.begin(), dense->warnings.end(),
                            [](const Diagnostic& each) { return each.code == "serving.no-experts"; }));
        scenario = mixture();
        scenario.pools[0].replicas = 200;
        scenario.pools[0].experts.waves = true;
        const auto many = fleetOf(scenario, nullptr);
        QVERIFY(!many);
        QCOMPARE(QString::fromStdString(many.error().place.path), QString("pools/replicas/experts/waves"));
    }

    void tracesOfExperts() {
        const auto weights = readExpertTraceText("layer,expert,count\n0,0,5\n0,2,1\n1,0,2\n", "t.csv", 4);
        QVERIFY(weights);
        QCOMPARE(*weights, (std::vector<double>{7, 0, 1, 0}));
        struct Bad {
            const char* text;
            int line;
        };
        for (const Bad& bad :
             {Bad{"", 0}, Bad{"expert,times\n0,1\n", 1}, Bad{"expert,count\n4,1\n", 2},
              Bad{"expert,count\n0,1\n-1,1\n", 3}, Bad{"expert,count\n0.5,1\n", 2}, Bad{"expert,count\n0,-1\n", 2},
              Bad{"expert,count\n0,nan\n", 2}, Bad{"expert,count\n0\n", 2}, Bad{"expert,count\n0,0\n", 2}}) {
            const auto read = readExpertTraceText(bad.text, "bad.csv", 4);
            QVERIFY2(!read, bad.text);
            QCOMPARE(QString::fromStdString(read.error().code), QString("routing.trace"));
            QCOMPARE(QString::fromStdString(read.error().place.file), QString("bad.csv"));
            QCOMPARE(read.error().place.line, bad.line);
            QVERIFY(!read.error().hint.empty());
        }
        ServingScenario scenario = mixture();
        scenario.pools[0].experts.routing = RoutingKind::Trace;
        QCOMPARE(QString::fromStdString(fleetOf(scenario, nullptr).error().place.path),
                 QString("pools/replicas/experts/trace"));
        scenario.pools[0].experts.trace = "/nowhere.csv";
        QCOMPARE(QString::fromStdString(fleetOf(scenario, nullptr).error().code), QString("routing.trace"));
        scenario.pools[0].experts = {.routing = RoutingKind::Zipf, .skew = -1};
        QCOMPARE(QString::fromStdString(fleetOf(scenario, nullptr).error().code), QString("routing.skew"));
    }

    // Bytes of keys and values per token, BF16: 70.272 KB of DeepSeek-V3 (61 layers of kv_lora_rank 512 and 64 rotary
    // dimensions) against 516.096 KB of Llama-3.1 405B (DeepSeek-AI, Insights into DeepSeek-V3, ISCA 2025, table 1).
    void latentCaches_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<int>("tensor");
        QTest::addColumn<double>("bytes");   // that a device holds per token
        QTest::addColumn<double>("copies");  // over the replica's devices
        QTest::newRow("latent") << "deepseek-v3" << 1 << 61.0 * (512 + 64) * 2 << 1.0;
        QTest::newRow("latent, every device has it") << "deepseek-v3" << 8 << 70272.0 << 8.0;
        QTest::newRow("grouped heads") << "llama-3-405b" << 1 << 516096.0 << 1.0;
        QTest::newRow("grouped heads, spread") << "llama-3-405b" << 8 << 516096.0 / 8 << 1.0;
    }
    void latentCaches() {
        QFETCH(QString, model);
        QFETCH(int, tensor);
        QFETCH(double, bytes);
        QFETCH(double, copies);
        const double whole = model == "deepseek-v3" ? 70272.0 : 516096.0;
        ServingScenario scenario;
        scenario.model.source = model.toStdString();
        PoolSpec& pool = scenario.pools[0];
        pool.hardware = "h200-sxm";
        pool.plan.tensor = tensor;
        pool.kvBlocks = 10000;
        pool.time.kind = SlotKind::Law;
        pool.time.law = {.fixed = 0.01};
        scenario.pools.push_back(pool);
        scenario.pools[0].role = ReplicaRole::Prefill;
        scenario.pools[1].role = ReplicaRole::Decode;
        scenario.pools[1].name = "decode";
        scenario.transfer = TransferSpec{.bytesPerSecond = 1e10};
        const auto planned = fleetOf(scenario, nullptr);
        QVERIFY2(planned, planned ? "" : toText(planned.error()).c_str());
        QCOMPARE(planned->fleet->replicas[0].kvBytesPerToken, whole * copies);
        // 1,000 tokens after a prompt's iteration of 10 ms, then one decode step: what is between is the transfer.
        const auto stream = arrivals({{0, 1000, 2}});
        const ServingResult result = serve(*planned->fleet, stream);
        QVERIFY(std::abs(ended(result, 0) - 0.02 - 1000 * whole * copies / 1e10) < 1e-9);
        // Between replicas of unlike plans the copies of the smaller side move.
        FleetSpec unlike = *planned->fleet;
        unlike.replicas[1].kvBytesPerToken = whole;
        QVERIFY(std::abs(ended(serve(unlike, stream), 0) - 0.02 - 1000 * whole / 1e10) < 1e-9);
        // The capacity counts what one device holds.
        scenario.model.weights = DType::FP8;
        scenario.pools.resize(1);
        scenario.pools[0].role = ReplicaRole::Whole;
        scenario.pools[0].kvBlocks = 0;
        const auto fits = fleetOf(scenario, nullptr);
        QCOMPARE(fits.has_value(), tensor == 8);
        if (!fits) return;
        const CapacityPlan& capacity = fits->pools[0].capacity;
        for (const CapacityPart& part : capacity.parts) {
            if (part.use == CapacityUse::KvCache)
                QVERIFY(std::abs(part.bytes / (static_cast<double>(capacity.tokens) * bytes) - 1) < 1e-9);
        }
        scenario.model.kv = DType::FP8;
        const auto half = fleetOf(scenario, nullptr);
        QVERIFY(std::abs(static_cast<double>(half->pools[0].capacity.tokens) / static_cast<double>(capacity.tokens) -
                         2) < 0.001);
    }
};

QTEST_GUILESS_MAIN(TestServingExperts)
#include "tst_serving_experts.moc"
