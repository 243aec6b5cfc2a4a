// A kernel by windows: what its arrays leave missing in each cache against caches that are simulated and against counts
// by hand, bounds that hold, one pass against the pipeline.

#include "base/random.h"
#include "simulation/cpu/core/kernels/kernel.h"
#include "simulation/cpu/core/pipeline.h"
#include "simulation/cpu/core/windows/reuse.h"
#include "simulation/cpu/core/windows/windows.h"

#include <QtTest/QtTest>

#include <cmath>

using namespace orrery;
using namespace orrery::pipeline;

namespace {

Machine coreNamed(const std::string& core) {
    auto machine = loadMachine(core);
    if (!machine) qFatal("%s", toText(machine.error()).c_str());
    return *machine;
}

LoopNest nestNamed(const std::string& text, const Machine& machine) {
    const auto spec = readKernel(text);
    if (!spec) qFatal("%s", toText(spec.error()).c_str());
    auto nest = nestOf(*spec, machine);
    if (!nest) qFatal("%s", toText(nest.error()).c_str());
    return std::move(*nest);
}

// Lines that miss in a cache over the whole nest.
double missingIn(const LoopNest& nest, const NestReuse& reuse, std::size_t cache) {
    std::vector<double> times(nest.nodes.size(), 0);
    times[0] = 1;
    double sum = 0;
    for (std::size_t at = 0; at < nest.nodes.size(); ++at) {  // parents stand before their children
        const auto& node = nest.nodes[at];
        for (const int child : node.inside)
            times[static_cast<std::size_t>(child)] = times[at] * static_cast<double>(node.trips);
        if (node.trips > 0) continue;
        for (int a = 0; a < reuse.arrays; ++a) sum += times[at] * reuse.missingOf(static_cast<int>(at), a)[cache];
    }
    return sum;
}

}  // namespace

class TestCoreWindows : public QObject {
    Q_OBJECT

private slots:
    void aStreamMissesEachLineOnce() {
        const Machine machine = coreNamed("zen2");
        const auto nest = nestNamed("relu n=16384 avx2", machine);
        const auto reuse = reuseOf(nest, machine);
        // 16,384 floats in and as many out, 16 of them a line.
        QCOMPARE(reuse.footprint, 2048.0);
        for (std::size_t cache = 0; cache < 3; ++cache) QCOMPARE(missingIn(nest, reuse, cache), 2048.0);
    }
    void whatFitsIsFoundAgain() {
        const Machine machine = coreNamed("zen2");
        // Rows of 2 KiB stay in the first cache between the passes of softmax: each line is missing once.
        const auto shortRows = nestNamed("softmax rows=32 columns=512 avx2", machine);
        QCOMPARE(missingIn(shortRows, reuseOf(shortRows, machine), 0), 2.0 * 32 * 512 / 16);
        // Rows of 64 KiB do not: in and out are read again. In the second cache they do.
        const auto longRows = nestNamed("softmax rows=8 columns=16384 avx2", machine);
        const auto reuse = reuseOf(longRows, machine);
        QCOMPARE(missingIn(longRows, reuse, 0), 4.0 * 8 * 16384 / 16);
        QCOMPARE(missingIn(longRows, reuse, 1), 2.0 * 8 * 16384 / 16);
    }
    // Against caches that are simulated access by access, without prefetchers.
    void missesAreThoseOfSimulatedCaches_data() {
        QTest::addColumn<QString>("kernel");
        for (const char* kernel :
             {"gemm m=96 n=96 k=96 avx2", "gemm m=64 n=256 k=200 avx2", "gemm m=256 n=448 k=768 avx2",
              "conv c=32 k=64 h=12 w=12 avx2", "conv c=256 k=64 h=9 w=16 avx2", "norm rows=64 columns=768 avx2",
              "add n=40000 avx2", "attention heads=1 q=64 kv=96 d=64 avx2", "attention heads=1 q=512 kv=512 d=64 avx2",
              "attention heads=2 q=197 kv=197 d=64 avx2"})
            QTest::newRow(kernel) << kernel;
    }
    void missesAreThoseOfSimulatedCaches() {
        QFETCH(QString, kernel);
        Machine machine = coreNamed("zen2");
        for (CacheSpec& cache : machine.caches) cache.nextLine = cache.stride = cache.stream = false;
        const auto nest = nestNamed(kernel.toStdString(), machine);
        const auto reuse = reuseOf(nest, machine);
        Memory memory(machine);
        NestStream stream(nest);
        OpChunk chunk;
        while (stream.next(chunk)) {
            for (std::size_t i = 0; i < chunk.size; ++i) {
                const auto& op = nest.ops[chunk.op[i]];
                if (op.kind == OpKind::Load || op.kind == OpKind::Store)
                    memory.touch(chunk.address[i], op.kind == OpKind::Store, chunk.op[i]);
            }
        }
        const auto& counts = memory.counts();
        for (std::size_t cache = 0; cache < machine.caches.size(); ++cache) {
            const double ours = missingIn(nest, reuse, cache), theirs = static_cast<double>(counts.misses[cache]);
            qInfo("%s: %.0f by footprints, %.0f simulated", machine.caches[cache].name.c_str(), ours, theirs);
            // What memory brings is a count of lines; the first cache is nearly full and not fully associative.
            const double within = cache == 0 ? 0.2 : cache == 1 ? 0.15 : 0.05;
            QVERIFY2(std::fabs(ours - theirs) < within * theirs, machine.caches[cache].name.c_str());
        }
    }
    // A core among others has a small share of the last cache: lines come and go back again and again. Bytes are
    // conserved: as many are read and written as simulated caches read and write.
    void linesOfASmallShareGoAndComeBack_data() {
        QTest::addColumn<QString>("kernel");
        for (const char* kernel :
             {"gemm m=74 n=1536 k=768 avx512", "gemm m=500 n=512 k=128 avx512",
              "attention heads=1 q=512 kv=512 d=64 avx512", "attention heads=1 q=800 kv=800 d=64 avx512",
              "softmax rows=8 columns=60000 avx512", "add n=200000 avx512"})
            QTest::newRow(kernel) << kernel;
    }
    void linesOfASmallShareGoAndComeBack() {
        QFETCH(QString, kernel);
        Machine machine = coreNamed("skylake-server");
        machine.caches.back().bytes = 19.25e6 / 14;
        for (CacheSpec& cache : machine.caches) cache.nextLine = cache.stride = cache.stream = false;
        const auto nest = nestNamed(kernel.toStdString(), machine);
        const auto reuse = reuseOf(nest, machine);
        Memory memory(machine);
        NestStream stream(nest);
        OpChunk chunk;
        while (stream.nextTouching(chunk, ~0ull)) {
            for (std::size_t i = 0; i < chunk.size; ++i) {
                const auto& op = nest.ops[chunk.op[i]];
                if (op.kind == OpKind::Load || op.kind == OpKind::Store)
                    memory.touch(chunk.address[i], op.kind == OpKind::Store, chunk.op[i]);
            }
        }
        const auto reads = static_cast<double>(memory.counts().memoryReads),
                   writes = static_cast<double>(memory.counts().memoryWrites);
        const double ourWrites = reuse.writesPerRead * reuse.fromMemory;
        qInfo("%.0f read and %.0f written by reuse, %.0f and %.0f simulated", reuse.fromMemory, ourWrites, reads,
              writes);
        QVERIFY(std::fabs(reuse.fromMemory - reads) < 0.15 * reads);
        QVERIFY(std::fabs(ourWrites - writes) < 0.25 * reads);
    }
    // Every line comes at least once; a larger cache never brings more, and what goes back has come.
    void aLargerCacheNeverBringsMore() {
        RandomStream random(3);
        const auto upTo = [&](double most) {
            return 1 + static_cast<int>(std::exp(random.uniform() * std::log(most)));
        };
        for (int i = 0; i < 60; ++i) {
            Machine machine = coreNamed(i % 2 ? "zen4" : "skylake-server");
            std::string kernel;
            switch (i % 3) {
                case 0:
                    kernel = "gemm m=" + std::to_string(upTo(2000)) + " n=" + std::to_string(upTo(2000)) +
                             " k=" + std::to_string(upTo(2000));
                    break;
                case 1:
                    kernel = "attention heads=" + std::to_string(upTo(8)) + " q=" + std::to_string(upTo(900)) +
                             " kv=" + std::to_string(upTo(900)) + " d=64";
                    break;
                default:
                    kernel = "softmax rows=" + std::to_string(upTo(900)) + " columns=" + std::to_string(upTo(20000));
            }
            // Blocks are those of the core; the cache is then another one.
            const auto nest = nestNamed(kernel + " avx2", machine);
            double before = INFINITY;
            for (const double bytes : {1.1e6, 1.7e6, 4e6, 1.6e7, 1e9}) {
                machine.caches.back().bytes = bytes;
                const auto reuse = reuseOf(nest, machine);
                QVERIFY2(reuse.fromMemory >= 0.98 * reuse.footprint, kernel.c_str());
                QVERIFY2(reuse.fromMemory <= before * (1 + 1e-9), kernel.c_str());
                QVERIFY(reuse.writesPerRead >= 0 && reuse.writesPerRead <= 1);
                before = reuse.fromMemory;
            }
            // Nothing leaves a cache that holds all.
            QVERIFY2(std::fabs(before / reuseOf(nest, machine).footprint - 1) < 0.02, kernel.c_str());
        }
    }
    void windowsCoverTheKernelAndHoldTheirBounds() {
        for (const char* core : {"skylake-server", "neoverse-n1"}) {
            const Machine machine = coreNamed(core);
            for (const char* kernel : {"gemm m=80 n=96 k=120", "softmax rows=8 columns=3000", "silu n=20000"}) {
                const auto nest = nestNamed(kernel, machine);
                const auto ops = boundOps(machine, nest.ops);
                const auto windows = windowsOf(nest, machine, ops);
                double shares = 0, operations = 0;
                for (const WindowBounds& each : windows.classes) {
                    shares += each.share;
                    operations += each.operations;
                    const auto bound = [&](Resource r) { return each.cycles[static_cast<std::size_t>(r)]; };
                    // Queues only ever hold back, and so do caches.
                    QVERIFY(bound(Resource::Window) >= bound(Resource::Dependence) - 1e-9);
                    QVERIFY(each.together >= bound(Resource::Width) - 1e-9);
                    QVERIFY(each.together >= bound(Resource::MemoryBandwidth) - 1e-9);
                    QVERIFY(bound(Resource::Ports) > 0 && bound(Resource::Fetch) > 0);
                }
                QVERIFY(std::fabs(shares - 1) < 1e-9);
                QVERIFY(std::fabs(operations / static_cast<double>(nest.length()) - 1) < 1e-9);
                const auto again = windowsOf(nest, machine, ops);
                for (std::size_t i = 0; i < windows.classes.size(); ++i)
                    QCOMPARE(again.classes[i].together, windows.classes[i].together);
            }
        }
    }
    // One window of each class, run by the pipeline with its lines where the reuse says, against the pipeline on the
    // whole kernel.
    void windowsTellTheWholeKernel() {
        double error = 0;
        int count = 0;
        for (const auto& [core, set] : {std::pair{"zen4", "avx2"}, {"neoverse-v1", "neon"}, {"cortex-a72", "neon"}}) {
            const Machine machine = coreNamed(core);
            for (const char* kernel : {"gemm m=96 n=96 k=96", "gemm m=7 n=300 k=200", "conv c=32 k=64 h=12 w=12",
                                       "norm rows=64 columns=768", "softmax rows=8 columns=9000", "add n=40000"}) {
                const auto nest = nestNamed(std::string(kernel) + " " + set, machine);
                const auto ops = boundOps(machine, nest.ops);
                Pipeline pipeline(machine, ops);
                NestStream stream(nest);
                OpChunk chunk;
                while (stream.next(chunk)) pipeline.run(chunk);
                double cycles = 0;
                for (const WindowBounds& each : windowsOf(nest, machine, ops).classes)
                    cycles += each.together * each.operations;
                const double off = cycles / static_cast<double>(pipeline.counters().cycles) - 1;
                qInfo("%s, %s: %+.1f %%", core, kernel, 100 * off);
                QVERIFY2(std::fabs(off) < 0.12, kernel);
                error += std::fabs(off);
                ++count;
            }
        }
        QVERIFY(error / count < 0.05);
    }
    // A line that is settled at a level is found there, and costs what the level costs.
    void settledLinesAreFoundWhereTheyStand() {
        const Machine machine = coreNamed("zen2");
        Memory memory(machine);
        for (const std::uint8_t level : {0, 1, 2, int(mostCaches)}) {
            const std::uint64_t line = 1000 + 64 * std::uint64_t{level};
            memory.access(line << 6, 0, 0, false, 1);  // brings it everywhere
            memory.settle(line, level);
            const std::uint64_t now = 100000 * (1 + std::uint64_t{level});
            const Access answer = memory.access(line << 6, now, now, false, 1);
            QCOMPARE(int(answer.level), int(level));
            if (level < mostCaches)
                QCOMPARE(answer.ready - now, static_cast<std::uint64_t>(machine.caches[level].latency));
        }
    }
    // Lines that go back take their share of the channel; it is narrow here, so that nothing else holds lines back.
    void linesWrittenBackHoldTheChannel() {
        Machine machine = coreNamed("zen2");
        machine.memoryBandwidth /= 32;
        const auto last = [&](double share) {
            Memory memory(machine);
            memory.writeBack(share);
            std::uint64_t ready = 0;
            for (std::uint64_t i = 0; i < 200; ++i)
                ready = std::max(ready, memory.access(i << 14, 0, 0, false, 1).ready);
            return static_cast<double>(ready);
        };
        const double ratio = last(1) / last(0);
        QVERIFY2(ratio > 1.9 && ratio < 2.1, qPrintable(QString::number(ratio)));
    }
    // A wider core with larger queues and a nearer memory is never slower.
    void betterCoresAreNotSlower() {
        const Machine machine = coreNamed("cortex-a72");
        Machine better = machine;
        better.reorderBuffer *= 2, better.scheduler *= 2, better.loadQueue *= 2, better.storeQueue *= 2;
        better.memoryLatency /= 2, better.memoryBandwidth *= 2;
        for (const char* kernel : {"gemm m=64 n=64 k=64 neon", "norm rows=16 columns=2000 neon", "add n=50000 neon"}) {
            const auto nest = nestNamed(kernel, machine);
            const auto cyclesOf = [&](const Machine& m) {
                double sum = 0;
                for (const auto& each : windowsOf(nest, m, boundOps(m, nest.ops)).classes)
                    sum += each.together * each.operations;
                return sum;
            };
            QVERIFY2(cyclesOf(better) <= 1.001 * cyclesOf(machine), kernel);
        }
    }
    // Dearer by the number of classes, not by the length.
    void aLongKernelHasNoMoreWindows() {
        const Machine machine = coreNamed("skylake-server");
        const auto classes = [&](const char* kernel) {
            const auto nest = nestNamed(kernel, machine);
            return windowsOf(nest, machine, boundOps(machine, nest.ops)).classes.size();
        };
        QVERIFY(classes("gemm m=4096 n=4096 k=4096 avx512") <= classes("gemm m=250 n=250 k=250 avx512") + 4);
    }
};

QTEST_GUILESS_MAIN(TestCoreWindows)
#include "tst_core_windows.moc"
