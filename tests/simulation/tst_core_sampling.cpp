#include "base/random.h"
#include "simulation/cpu/core/interval.h"
#include "simulation/cpu/core/kernels/kernel.h"
#include "simulation/cpu/core/pipeline.h"
#include "simulation/cpu/core/sampling.h"
#include "simulation/cpu/core/strata.h"
#include "simulation/sampling/statistics.h"

#include <QtTest/QtTest>

using namespace orrery;
using namespace orrery::pipeline;

namespace {

struct Ran {
    Machine machine;
    LoopNest nest;
    Counters whole;
    std::vector<double> units;  ///< cycles per operation of each 1,000 operations
    double cpi = 0;             ///< cycles per operation
};

Ran ranOf(const std::string& core, const std::string& text) {
    Ran ran;
    auto machine = loadMachine(core);
    if (!machine) qFatal("%s", toText(machine.error()).c_str());
    ran.machine = *machine;
    const auto spec = readKernel(text);
    if (!spec) qFatal("%s", toText(spec.error()).c_str());
    auto nest = nestOf(*spec, ran.machine);
    if (!nest) qFatal("%s", toText(nest.error()).c_str());
    ran.nest = std::move(*nest);
    const auto ops = boundOps(ran.machine, ran.nest.ops);
    Pipeline pipeline(ran.machine, ops);
    NestStream stream(ran.nest);
    OpChunk chunk;
    std::uint64_t cycles = 0, operations = 0;
    while (stream.next(chunk, 1000)) {
        pipeline.run(chunk);
        const auto now = pipeline.counters();
        if (now.operations - operations < 1000) continue;
        ran.units.push_back(static_cast<double>(now.cycles - cycles) /
                            static_cast<double>(now.operations - operations));
        cycles = now.cycles;
        operations = now.operations;
    }
    ran.whole = pipeline.counters();
    ran.cpi = static_cast<double>(ran.whole.cycles) / static_cast<double>(ran.whole.operations);
    return ran;
}

}  // namespace

class TestCoreSampling : public QObject {
    Q_OBJECT

private slots:
    void studentsQuantiles() {
        // Tables of Student's t at 97.5 %.
        QVERIFY(std::fabs(studentQuantile(0.975, 4) - 2.776) < 0.02);
        QVERIFY(std::fabs(studentQuantile(0.975, 10) - 2.228) < 0.002);
        QVERIFY(std::fabs(studentQuantile(0.975, 30) - 2.042) < 0.001);
        QVERIFY(std::fabs(studentQuantile(0.95, 100) - 1.660) < 0.001);
    }

    // Of units drawn one from each stratum of a whole run, the interval holds the mean of all as often as it says: 500
    // draws each of several kernels, which are neither normal nor alike.
    void intervalsHoldAtTheirRate() {
        for (const char* text :
             {"gemm m=160 n=160 k=160 avx2", "softmax rows=512 columns=512 avx2", "attention avx2 heads=4"}) {
            const auto ran = ranOf("skylake-server", text);
            double mean = 0;
            for (const double x : ran.units) mean += x / static_cast<double>(ran.units.size());
            RandomStream random(11);
            int held = 0;
            const std::size_t strata = std::min<std::size_t>(60, ran.units.size() / 4);
            for (int draw = 0; draw < 500; ++draw) {
                std::vector<double> drawn;
                for (std::size_t i = 0; i < strata; ++i) {
                    const std::size_t from = ran.units.size() * i / strata, to = ran.units.size() * (i + 1) / strata;
                    drawn.push_back(ran.units[from + random.below(to - from)]);
                }
                const auto estimate = meanOf(drawn, 0.95);
                held += std::fabs(estimate.mean - mean) <= estimate.half;
            }
            QVERIFY2(held >= 500 * 92 / 100, qPrintable(QString("%1: %2 of 500").arg(text).arg(held)));
        }
    }

    // Real samples, of both kinds: near the whole run within their interval in most draws, at a small part of its work.
    void samplesHoldTheWholeRun() {
        const auto ran = ranOf("skylake-server", "gemm m=288 n=288 k=288 avx2");
        for (const auto kind : {SampleKind::Smarts, SampleKind::SimPoint, SampleKind::Loops}) {
            int held = 0;
            double far = 0;
            for (std::uint64_t seed = 1; seed <= 6; ++seed) {
                SampleOptions options;
                options.kind = kind;
                options.units = 60;
                options.seed = seed;
                const auto sample = sampled(ran.nest, ran.machine, options);
                QVERIFY(!sample.whole && sample.simulated * 20 < ran.whole.operations);
                held += sample.low <= ran.cpi && ran.cpi <= sample.high;
                far += std::fabs(sample.cpi / ran.cpi - 1) / 6;
            }
            qInfo("%s: %d of 6 intervals hold, mean error %.1f %%",
                  kind == SampleKind::Smarts     ? "smarts"
                  : kind == SampleKind::SimPoint ? "simpoint"
                                                 : "loops",
                  held, 100 * far);
            QVERIFY(held >= 5);
        }
    }

    // A run of two phases, the slow one last: units from the first part alone would miss it.
    void unitsComeFromAllPhases() {
        const auto machine = loadMachine("skylake-server");
        QVERIFY(machine);
        NestWriter writer;
        for (const auto& [kind, trips] : {std::pair{OpKind::Integer, 150000}, std::pair{OpKind::Divide, 100000}}) {
            writer.open(trips);
            writer.compute(kind, 8, 1, {1});
            writer.compute(kind, 8, 2, {1});
            writer.close();
        }
        const LoopNest nest = writer.finish();
        const auto ops = boundOps(*machine, nest.ops);
        Pipeline pipeline(*machine, ops);
        NestStream stream(nest);
        OpChunk chunk;
        while (stream.next(chunk)) pipeline.run(chunk);
        const auto whole = pipeline.counters();
        const double cpi = static_cast<double>(whole.cycles) / static_cast<double>(whole.operations);
        for (const auto kind : {SampleKind::Smarts, SampleKind::SimPoint, SampleKind::Loops}) {
            SampleOptions options;
            options.kind = kind;
            options.units = 50;
            const auto sample = sampled(nest, *machine, options);
            QVERIFY(!sample.whole);
            QVERIFY2(std::fabs(sample.cpi / cpi - 1) < 0.05, qPrintable(QString("%1 of %2").arg(sample.cpi).arg(cpi)));
        }
    }

    // Every operation is as likely as another of its stratum, and stands where the draw says.
    void strataHoldAllOperations() {
        const auto machine = loadMachine("skylake-server");
        QVERIFY(machine);
        for (const char* text : {"gemm m=70 n=200 k=300 avx2", "attention heads=2 q=60 kv=70 d=64 avx2"}) {
            const auto nest = *nestOf(*readKernel(text), *machine);
            const Strata strata(nest, 512);
            std::vector<double> counted(strata.count(), 0.0);
            std::vector<int> stratumAt;
            NestStream stream(nest);
            OpChunk chunk;
            while (stream.next(chunk)) {
                for (std::size_t i = 0; i < chunk.size; ++i) {
                    const int stratum = strata.of()[chunk.op[i]];
                    counted[static_cast<std::size_t>(stratum)] += 1;
                    stratumAt.push_back(stratum);
                }
            }
            std::vector<double> firstHalf(strata.count(), 0.0);
            for (std::size_t i = 0; i < stratumAt.size() / 2; ++i)
                firstHalf[static_cast<std::size_t>(stratumAt[i])] += 1;
            RandomStream random(5);
            for (std::size_t s = 0; s < strata.count(); ++s) {
                QCOMPARE(strata.operations()[s], counted[s]);
                int before = 0;
                constexpr int draws = 4000;
                for (int i = 0; i < draws; ++i) {
                    const auto at = strata.draw(s, random.uniform(), random);
                    QCOMPARE(stratumAt[at], static_cast<int>(s));
                    before += at < stratumAt.size() / 2;
                }
                // Four standard deviations of a share of 4,000.
                QVERIFY(std::fabs(double(before) / draws - firstHalf[s] / counted[s]) < 0.032);
            }
        }
    }
    // Packing is 2 % of this product's operations and a third of its time, for it streams from memory: units drawn by
    // number alone rarely meet it.
    void rareSlowLoopsAreDrawn() {
        auto ran = ranOf("skylake-server", "relu n=16 avx2");
        ran.machine.caches.back().bytes = 19.25e6 / 14;
        ran.machine.memoryBandwidth = 93.9e9 / 14;
        const auto nest = *nestOf(*readKernel("gemm m=256 n=448 k=768 avx512"), ran.machine);
        const auto ops = boundOps(ran.machine, nest.ops);
        Pipeline pipeline(ran.machine, ops);
        NestStream stream(nest);
        OpChunk chunk;
        while (stream.next(chunk)) pipeline.run(chunk);
        const double cpi = static_cast<double>(pipeline.counters().cycles) / static_cast<double>(nest.length());
        double far = 0;
        int held = 0;
        constexpr int draws = 8;
        for (std::uint64_t seed = 1; seed <= draws; ++seed) {
            SampleOptions options;
            options.kind = SampleKind::Loops;
            options.units = 100;
            options.confidence = 0.9;
            options.seed = seed;
            const auto sample = sampled(nest, ran.machine, options);
            QVERIFY(!sample.whole && sample.clusters > 3);
            held += sample.low <= cpi && cpi <= sample.high;
            far += std::fabs(sample.cpi / cpi - 1) / draws;
        }
        qInfo("%d of %d intervals hold, mean error %.1f %%", held, draws, 100 * far);
        QVERIFY(held >= 6);
        QVERIFY(far < 0.06);
    }

    // Student's t of two units is five times that of five: with fewer, a rare loop alone would set the interval.
    void eachLoopHasUnitsEnough() {
        const auto ran = ranOf("skylake-server", "gemm m=400 n=400 k=400 avx2");
        double half = 0;
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            SampleOptions options;
            options.kind = SampleKind::Loops;
            options.units = 20;
            options.seed = seed;
            const auto sample = sampled(ran.nest, ran.machine, options);
            QVERIFY(sample.clusters > 4 && sample.units >= 5 * static_cast<std::uint64_t>(sample.clusters));
            half += (sample.high - sample.low) / 2 / sample.cpi / 6;
        }
        qInfo("+-%.1f %% of 20 units", 100 * half);
        QVERIFY(half < 0.06);
    }
    void sameSeedSameSampleAndShortOnesAreWhole() {
        const auto ran = ranOf("zen2", "gemm m=120 n=128 k=128 avx2");
        SampleOptions options;
        options.units = 20;
        const auto one = sampled(ran.nest, ran.machine, options), again = sampled(ran.nest, ran.machine, options);
        QCOMPARE(one.cpi, again.cpi);
        QCOMPARE(one.high, again.high);
        options.units = 100000;
        const auto whole = sampled(ran.nest, ran.machine, options);
        QVERIFY(whole.whole);
        QCOMPARE(whole.cpi, ran.cpi);
        QCOMPARE(whole.low, whole.high);
    }

    // First order: products within a tenth, kernels of rows within a third; memory-bound ones at the bandwidth.
    void intervalModelIsNear_data() {
        QTest::addColumn<QString>("core");
        QTest::addColumn<QString>("kernel");
        QTest::addColumn<double>("within");
        QTest::newRow("product") << "skylake-server"
                                 << "gemm m=192 n=192 k=192 avx2" << 0.1;
        QTest::newRow("convolution") << "zen2"
                                     << "conv avx2" << 0.1;
        QTest::newRow("neon") << "neoverse-n1"
                              << "gemm m=96 n=96 k=96 neon" << 0.15;
        QTest::newRow("softmax") << "skylake-server"
                                 << "softmax avx2" << 0.35;
        QTest::newRow("sum of arrays") << "skylake-server"
                                       << "add n=300000 avx2" << 0.15;
    }
    void intervalModelIsNear() {
        QFETCH(QString, core);
        QFETCH(QString, kernel);
        QFETCH(double, within);
        const auto ran = ranOf(core.toStdString(), kernel.toStdString());
        const auto ops = boundOps(ran.machine, ran.nest.ops);
        IntervalModel model(ran.machine, ops);
        NestStream stream(ran.nest);
        OpChunk chunk;
        while (stream.next(chunk)) model.run(chunk);
        const auto result = model.result();
        QCOMPARE(result.instructions, ran.whole.instructions);
        const double off = result.cycles / static_cast<double>(ran.whole.cycles) - 1;
        QVERIFY2(std::fabs(off) <= within, qPrintable(QString::number(off)));
    }
};

QTEST_GUILESS_MAIN(TestCoreSampling)
#include "tst_core_sampling.moc"
