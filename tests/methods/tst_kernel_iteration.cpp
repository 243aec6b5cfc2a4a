// Iteration times from kernel methods: against the model-level method, against the kernels one by one, and by laws.

#include "base/executor.h"
#include "methods/method.h"
#include "methods/model/compose.h"
#include "support/iteration_fixture.h"
#include "workload/workload.h"

#include <QtTest/QtTest>

#include <cmath>
#include <random>
#include <stdexcept>

using namespace orrery;
using namespace orrery::testing;

namespace {

double modelLevel(const char* model, Phase phase, int batch, int sequence) {
    auto hardware = loadHardware("h100-sxm");
    WorkloadRecipe recipe;
    recipe.source = model;
    recipe.options.batch = batch;
    recipe.options.sequence = sequence;
    recipe.options.phase = phase;
    recipe.options.weights = recipe.options.activations = recipe.options.kv = DType::BF16;
    auto workload = loadWorkload(recipe);
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, {}};
    context.wantTimeline = false;
    const Scenario scenario{std::make_shared<const Hardware>(hardware->hardware), *workload};
    const auto answer = estimate(*findMethod("tile-wave"), scenario, context);
    return answer ? answer->latency.value : -1;
}

}  // namespace

class TestKernelIteration : public QObject {
    Q_OBJECT
private slots:
    void agreesWithTheModelLevel_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<bool>("decode");
        QTest::addColumn<int>("batch");
        QTest::addColumn<int>("tokens");
        for (const char* model : {"llama-3-8b", "gpt-3-175b", "gemma-2-9b", "mixtral-8x7b", "bloom-176b"}) {
            for (const int batch : {1, 12, 100}) {
                QTest::addRow("%s decode %d", model, batch) << model << true << batch << 1500;
            }
            QTest::addRow("%s prefill", model) << model << false << 1 << 1500;
            QTest::addRow("%s prefill of 3", model) << model << false << 3 << 700;
        }
        QTest::addRow("deepseek-v3 decode") << "deepseek-v3" << true << 12 << 1500;
        QTest::addRow("deepseek-v3 prefill") << "deepseek-v3" << false << 1 << 1500;
    }
    void agreesWithTheModelLevel() {
        QFETCH(QString, model);
        QFETCH(bool, decode);
        QFETCH(int, batch);
        QFETCH(int, tokens);
        const std::string id = model.toStdString();
        const auto time = iterationTime({.model = id.c_str(), .sampler = false});
        const Work work = decode ? decodes(batch, tokens) : prompts(batch, tokens);
        const double mine = time->price(work.work()).lastSeconds;
        const double theirs = modelLevel(id.c_str(), decode ? Phase::Decode : Phase::Prefill, batch, tokens);
        // Points of the serving table lie where the learned table of products has steps, and experts whole tiles.
        QVERIFY2(std::fabs(mine / theirs - 1) < 0.03, qPrintable(QString("%1 against %2").arg(mine).arg(theirs)));
    }

    void betweenPointsIsCloseToTheKernels() {
        const auto time = iterationTime({.tensor = 4});
        std::mt19937 random(3);
        for (int i = 0; i < 60; ++i) {
            Work work;
            const auto upTo = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
            if (i % 3 != 0) work = decodes(upTo(400), upTo(6000));
            if (i % 3 != 1) work.prompts = {PromptChunk{upTo(3000), upTo(4000) - 1}};
            double exact = 0;
            for (const Launch& launch : time->kernelsOf(work.work())) {
                const KernelPrice price = time->pricer().price(launch.kernel);
                const DeviceView device = gpuView(loadHardware("h100-sxm")->hardware)->device;
                exact += launch.count * pricedLaunch(price, launch, device, device.main().bandwidth.value).seconds;
            }
            const double mine = time->price(work.work()).lastSeconds;
            QVERIFY2(std::fabs(mine / exact - 1) < 0.03, qPrintable(QString("%1 against %2").arg(mine).arg(exact)));
        }
    }

    void growsWithWork() {
        const auto time = iterationTime({});
        double before = 0;
        for (const int context : {64, 300, 1000, 5000, 20000, 100000, 400000}) {
            const double now = time->price(decodes(64, context).work()).lastSeconds;
            QVERIFY(now >= before);
            before = now;
        }
        before = 0;
        for (const int tokens : {128, 512, 2048, 8192, 20000, 60000}) {
            const double now = time->price(prompts(1, tokens).work()).lastSeconds;
            QVERIFY(now > before);
            before = now;
        }
        // Work that has been cached is not done again, but it is attended to.
        const double alone = time->price(prompts(1, 512).work()).lastSeconds;
        const double later = time->price(prompts(1, 512, 8192).work()).lastSeconds;
        const double whole = time->price(prompts(1, 8704).work()).lastSeconds;
        QVERIFY(alone < later && later < whole);
        QCOMPARE(time->price(IterationWork{}).lastSeconds, 0.0);
    }

    void aShardHoldsItsShare() {
        const auto whole = iterationTime({.model = "llama-2-70b"});
        QVERIFY(std::fabs(whole->launches().facts().parameters / 68.98e9 - 1) < 0.001);
        for (const int tensor : {2, 4, 8}) {
            const auto part = iterationTime({.model = "llama-2-70b", .tensor = tensor});
            // Norms stand on every device: less than a thousandth.
            QVERIFY(std::fabs(part->launches().weightBytes() * tensor / whole->launches().weightBytes() - 1) < 1e-3);
            QCOMPARE(part->launches().kvBytesPerToken() * tensor, whole->launches().kvBytesPerToken());
            QVERIFY(part->price(prompts(1, 2048).work()).lastSeconds <
                    whole->price(prompts(1, 2048).work()).lastSeconds);
        }
        // 80 layers × 2 × 8 heads × 128 × 2 bytes.
        QCOMPARE(whole->launches().kvBytesPerToken(), 327680.0);
        // Eight key-value heads over 16 devices: each is held twice.
        const auto twice = iterationTime({.model = "llama-2-70b", .tensor = 16});
        QCOMPARE(twice->launches().kvBytesPerToken() * 8, whole->launches().kvBytesPerToken());
    }

    void stagesShareTheLayers() {
        const auto one = iterationTime({}), four = iterationTime({.pipeline = 4});
        const Work work = prompts(1, 2048);
        const IterationPrice whole = one->price(work.work()), part = four->price(work.work());
        QCOMPARE(four->stages(), 4);
        const double sum = 3 * part.seconds + part.lastSeconds;
        QVERIFY(sum > whole.lastSeconds && sum < 1.1 * whole.lastSeconds);
        QVERIFY(part.lastSeconds < 0.3 * whole.lastSeconds);
    }

    void theHostCanBeTheSlowerOne() {
        const auto graph = iterationTime({}), eager = iterationTime({.software = "eager"});
        const Work small = decodes(1, 512), large = prompts(1, 8192);
        const double launches = 32 * 7;  // at least: two norms, four products, attention
        QVERIFY(eager->price(small.work()).lastSeconds >= launches * 10e-6);
        QVERIFY(graph->price(small.work()).lastSeconds <= eager->price(small.work()).lastSeconds);
        // A long prompt keeps the device busy: the host does not show.
        const double ratio = eager->price(large.work()).lastSeconds / graph->price(large.work()).lastSeconds;
        QVERIFY(ratio < 1.01);
    }

    void aSlowerClockCostsPromptsMoreThanDecodes() {
        const auto time = iterationTime({.model = "llama-2-70b", .tensor = 8});
        const Work decode = decodes(32, 1024), prompt = prompts(1, 4096);
        const auto slower = [&](const Work& work) {
            return time->price(work.work(), 0.5).lastSeconds / time->price(work.work(), 1).lastSeconds;
        };
        QVERIFY(slower(prompt) > slower(decode));
        QVERIFY(slower(prompt) <= 2.0 + 1e-9 && slower(decode) >= 1);
        const auto joules = [&](const Work& work, double share) {
            const IterationPrice price = time->price(work.work(), share);
            return price.watts * price.lastSeconds;
        };
        QVERIFY(joules(decode, 0.9) < joules(decode, 1));
        QVERIFY(time->price(prompt.work()).watts <= 8 * 700.0 * 1.001);  // the cap
    }

    void aPowerCapIsHeldByTheClock_data() {
        QTest::addColumn<QString>("hardware");
        QTest::addColumn<double>("own");
        QTest::newRow("H100") << "h100-sxm" << 700.0;
        QTest::newRow("A100") << "a100-80-sxm" << 400.0;
    }
    // A lower cap is never faster and never drawn beyond; what is drawn covers static power; the own cap changes
    // nothing.
    void aPowerCapIsHeldByTheClock() {
        QFETCH(QString, hardware);
        QFETCH(double, own);
        const std::string id = hardware.toStdString();
        const auto capped = [&](double watts) {
            return iterationTime({.model = "llama-2-70b", .hardware = id.c_str(), .tensor = 4, .powerCap = watts});
        };
        const auto free = capped(0);
        Work mixed = decodes(64, 900);
        mixed.prompts = {PromptChunk{1500, 0}};
        const double leastWatts = powerModel(gpuView(loadHardware(id)->hardware).value()).staticWatts;
        bool slowed = false;
        for (const Work& work : {prompts(2, 2000), mixed, decodes(1, 500), decodes(64, 2000), decodes(400, 500)}) {
            const IterationPrice nominal = free->price(work.work());
            QVERIFY(nominal.watts <= 4 * own * (1 + 1e-9));
            double before = nominal.lastSeconds;
            for (const double share : {1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.35, 0.31}) {
                if (share * own <= leastWatts) break;
                const IterationPrice price = capped(share * own)->price(work.work());
                QVERIFY(price.lastSeconds >= before * (1 - 1e-9));
                QVERIFY(price.watts <= 4 * share * own * (1 + 1e-6));
                QVERIFY(price.watts * price.lastSeconds >= 4 * leastWatts * price.lastSeconds * (1 - 1e-9));
                if (nominal.watts <= 4 * share * own) QCOMPARE(price.lastSeconds, nominal.lastSeconds);
                slowed |= price.lastSeconds > 1.05 * nominal.lastSeconds;
                before = price.lastSeconds;
                // Asked for a slower clock still, it is no faster and draws no more.
                const IterationPrice slower = capped(share * own)->price(work.work(), 0.5);
                QVERIFY(slower.lastSeconds >= price.lastSeconds * (1 - 1e-6));
                QVERIFY(slower.watts <= price.watts * (1 + 1e-6));
            }
        }
        QVERIFY(slowed);
    }

    void aCapThatCannotBeHeldIsRefused() {
        for (const double watts : {-1.0, 1.0, 200.0, std::nan("")}) {
            try {
                iterationTime({.powerCap = watts});
                QFAIL("was made");
            } catch (const std::runtime_error& problem) {
                QVERIFY(QString(problem.what()).contains("power cap"));
            }
        }
    }

    void intervalsHoldThePrice() {
        const auto time = iterationTime({.method = "tile-hybrid"});
        for (const Work& work : {decodes(1, 100), decodes(200, 3000), prompts(2, 900)}) {
            const IterationPrice price = time->price(work.work());
            QVERIFY(price.low < 1 && price.low > 0.2 && price.high > 1 && price.high < 3);
        }
    }

    void badPlansAreRefused_data() {
        QTest::addColumn<int>("tensor");
        QTest::addColumn<int>("pipeline");
        QTest::addColumn<int>("expert");
        QTest::newRow("not a divisor") << 3 << 1 << 1;
        QTest::newRow("zero") << 0 << 1 << 1;
        QTest::newRow("negative") << -2 << 1 << 1;
        QTest::newRow("more stages than layers") << 1 << 100 << 1;
        QTest::newRow("no experts") << 1 << 1 << 2;
    }
    void badPlansAreRefused() {
        QFETCH(int, tensor);
        QFETCH(int, pipeline);
        QFETCH(int, expert);
        const auto config = transformerConfig("llama-3-8b");
        const auto shard = shardOf(*config, {.tensor = tensor, .pipeline = pipeline, .expert = expert});
        QVERIFY(!shard);
        QVERIFY(QString::fromStdString(shard.error().code).startsWith("plan."));
        QVERIFY(!shard.error().expected.empty() && !shard.error().hint.empty());
    }

    void onlyDecodersServe() {
        for (const char* source : {"bert-base", "resnet-50"}) {
            const auto config = transformerConfig(source);
            QVERIFY(!config);
            QCOMPARE(QString::fromStdString(config.error().code), QString("workload.not-a-decoder"));
        }
        QVERIFY(!transformerConfig("no-such-model"));
        QVERIFY(!transformerConfig("/no/such/config.json"));
    }

    void anIterationCostsAboutAMicrosecond() {
        const auto time = iterationTime({.model = "llama-2-70b", .tensor = 8});
        Work work = decodes(64, 1000);
        work.prompts = {PromptChunk{448, 0}};
        IterationWork asked = work.work();
        double sum = 0;
        for (int i = 0; i < 64; ++i) {
            asked.decodeContext = 64000 + 64 * i;
            sum += time->price(asked).lastSeconds;
        }
        QVERIFY(sum > 0);
        QBENCHMARK {
            sum += time->price(asked).lastSeconds;
        }
    }
};

QTEST_GUILESS_MAIN(TestKernelIteration)
#include "tst_kernel_iteration.moc"
