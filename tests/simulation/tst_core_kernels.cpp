#include "base/random.h"
#include "simulation/cpu/core/kernels/kernel.h"
#include "simulation/cpu/core/pipeline.h"

#include <QtTest/QtTest>

using namespace orrery;
using namespace orrery::pipeline;

namespace {

Machine machineOf(const std::string& id) {
    auto machine = loadMachine(id);
    if (!machine) qFatal("%s", toText(machine.error()).c_str());
    return *machine;
}

LoopNest nestFor(const std::string& text, const Machine& machine) {
    const auto spec = readKernel(text);
    if (!spec) qFatal("%s", toText(spec.error()).c_str());
    auto nest = nestOf(*spec, machine);
    if (!nest) qFatal("%s", toText(nest.error()).c_str());
    return std::move(*nest);
}

struct Event {
    std::uint32_t op;
    std::uint64_t address;
    std::uint8_t taken;
    bool operator==(const Event&) const = default;
};

std::vector<Event> eventsFrom(NestStream& stream, std::size_t most) {
    std::vector<Event> events;
    OpChunk chunk;
    while (events.size() < most && stream.next(chunk)) {
        for (std::size_t i = 0; i < chunk.size && events.size() < most; ++i)
            events.push_back({chunk.op[i], chunk.address[i], chunk.taken[i]});
    }
    return events;
}

double countOf(const LoopNest& nest, OpKind kind) {
    NestStream stream(nest);
    OpChunk chunk;
    double count = 0;
    while (stream.next(chunk)) {
        for (std::size_t i = 0; i < chunk.size; ++i) count += nest.ops[chunk.op[i]].kind == kind;
    }
    return count;
}

}  // namespace

class TestCoreKernels : public QObject {
    Q_OBJECT

private slots:
    // As many multiply-adds as the kernel has, no more: sizes that fill all tiles.
    void countsMultiplyAdds_data() {
        QTest::addColumn<QString>("core");
        QTest::addColumn<QString>("kernel");
        QTest::addColumn<double>("count");
        QTest::newRow("scalar") << "zen2"
                                << "gemm m=30 n=40 k=50" << 30. * 40 * 50;
        QTest::newRow("avx2") << "zen2"
                              << "gemm m=60 n=64 k=100 avx2" << 60. * 64 * 100 / 8;
        QTest::newRow("avx512") << "skylake-server"
                                << "gemm m=140 n=96 k=700 avx512" << 140. * 96 * 700 / 16;
        QTest::newRow("neon") << "neoverse-n1"
                              << "gemm m=64 n=96 k=333 neon" << 64. * 96 * 333 / 4;
        QTest::newRow("halves") << "cortex-a76"
                                << "gemm m=64 n=96 k=333 neon-fp16" << 64. * 96 * 333 / 8;
        QTest::newRow("convolution of halves") << "firestorm"
                                               << "conv c=16 k=48 h=14 w=14 r=3 neon-fp16" << 16. * 48 * 9 * 144 / 8;
        QTest::newRow("depthwise of halves") << "icestorm"
                                             << "depthwise c=48 h=14 w=16 r=5 neon-fp16" << 48. * 25 * 10 * 12 / 8;
        QTest::newRow("sve") << "neoverse-v1"
                             << "gemm m=64 n=96 k=64 sve" << 64. * 96 * 64 / 8;
        QTest::newRow("convolution") << "zen2"
                                     << "conv c=16 k=32 h=14 w=14 r=3 avx2" << 16. * 32 * 9 * 144 / 8;
        QTest::newRow("strided") << "zen2"
                                 << "conv c=16 k=32 h=15 w=15 r=3 stride=2 avx2" << 16. * 32 * 9 * 49 / 8;
        QTest::newRow("depthwise") << "zen2"
                                   << "depthwise c=48 h=14 w=16 r=5 avx2" << 48. * 25 * 10 * 12 / 8;
        QTest::newRow("depthwise, strided") << "skylake-server"
                                            << "depthwise c=32 h=15 w=15 r=3 stride=2 avx512" << 32. * 9 * 49 / 16;
        QTest::newRow("one row") << "zen2"
                                 << "matvec n=40 k=64 avx2" << 40. * 64 / 8;
        QTest::newRow("three rows") << "neoverse-n1"
                                    << "matvec m=3 n=12 k=48 bytes=2 neon" << 3. * 12 * 48 / 4;
    }
    void countsMultiplyAdds() {
        QFETCH(QString, core);
        QFETCH(QString, kernel);
        QFETCH(double, count);
        const auto machine = machineOf(core.toStdString());
        QCOMPARE(countOf(nestFor(kernel.toStdString(), machine), OpKind::FpFma), count);
    }

    // Scores and weighted values of few queries, beside the softmax between them; nothing is packed.
    void fewQueriesArePackedNowhere() {
        const auto machine = machineOf("zen2");
        for (const int q : {1, 2, 3}) {
            const auto nest = nestFor("attention heads=2 kv=40 d=64 q=" + std::to_string(q) + " avx2", machine);
            const auto softmax = nestFor("softmax columns=40 rows=" + std::to_string(q) + " avx2", machine);
            QCOMPARE(countOf(nest, OpKind::FpFma) - 2 * countOf(softmax, OpKind::FpFma), 2. * q * 2 * 40 * 64 / 8);
            // Each result is stored once, each number of a softmax twice.
            QCOMPARE(countOf(nest, OpKind::Store) - 2 * countOf(softmax, OpKind::Store), 2. * q * (40 + 64 / 8));
        }
    }

    // Every weight is read once, in as many bytes as it has; every input pixel of a channel once per tap.
    void readsWeightsOnce() {
        const auto machine = machineOf("icelake-server");
        const auto bytesRead = [](const LoopNest& nest, std::size_t array) {
            const std::uint64_t begin = nest.arrays[array],
                                end = array + 1 < nest.arrays.size() ? nest.arrays[array + 1] : ~0ull;
            NestStream stream(nest);
            OpChunk chunk;
            double bytes = 0;
            while (stream.next(chunk)) {
                for (std::size_t i = 0; i < chunk.size; ++i) {
                    const auto& op = nest.ops[chunk.op[i]];
                    if (op.kind == OpKind::Load && chunk.address[i] >= begin && chunk.address[i] < end)
                        bytes += op.bytes;
                }
            }
            return bytes;
        };
        for (const int bytes : {1, 2, 4}) {
            const auto nest = nestFor("matvec m=2 n=37 k=203 avx512 bytes=" + std::to_string(bytes), machine);
            QCOMPARE(bytesRead(nest, 1), 37. * 203 * bytes);
        }
        QCOMPARE(bytesRead(nestFor("depthwise c=64 h=10 w=12 r=3 avx512", machine), 0), 64. * 9 * 8 * 10 * 4);
    }

    void multipliesTiles() {
        const auto machine = machineOf("sapphire-rapids");
        QCOMPARE(countOf(nestFor("gemm m=64 n=96 k=128 amx", machine), OpKind::Matrix),
                 64. * 96 * 128 / (16 * 16 * 32));
        // Rows of the left operand are read where they lie: once per 32 columns, 32 numbers of 16 bits at a time.
        const auto nest = nestFor("gemm m=64 n=96 k=128 amx", machine);
        NestStream stream(nest);
        OpChunk chunk;
        double lines = 0;
        while (stream.next(chunk)) {
            for (std::size_t i = 0; i < chunk.size; ++i)
                lines += nest.ops[chunk.op[i]].kind == OpKind::Load && chunk.address[i] >= nest.arrays[0] &&
                         chunk.address[i] < nest.arrays[1];
        }
        QCOMPARE(lines, 64. * 128 * 2 / 64 * (96 / 32));
    }

    // A stream that begins anywhere goes on as the whole does from there.
    void beginsAnywhere() {
        const auto machine = machineOf("skylake-server");
        for (const char* text :
             {"gemm m=37 n=41 k=29 avx2", "attention heads=2 q=9 kv=17 d=12 avx512", "conv c=5 k=7 h=9 w=9 scalar",
              "softmax rows=5 columns=37 avx2", "depthwise c=20 h=9 w=11 avx2", "matvec m=3 n=9 k=77 bytes=2 avx512",
              "norm rows=3 columns=100", "silu n=777 avx2"}) {
            const auto nest = nestFor(text, machine);
            NestStream whole(nest);
            const auto all = eventsFrom(whole, ~std::size_t{0});
            QCOMPARE(all.size(), static_cast<std::size_t>(nest.length()));
            RandomStream random(5);
            for (int i = 0; i < 20; ++i) {
                NestStream part(nest);
                const auto wanted = random.below(nest.length());
                const auto at = part.seek(wanted);
                QVERIFY(at <= wanted && wanted - at < 4096);
                QCOMPARE(part.position(), at);
                const auto some = eventsFrom(part, 2000);
                QVERIFY(!some.empty());
                QVERIFY(std::equal(some.begin(), some.end(), all.begin() + static_cast<std::ptrdiff_t>(at)));
            }
            NestStream end(nest);
            end.seek(nest.length());
            QVERIFY(eventsFrom(end, 1).empty());
        }
    }

    // No kernel reads or writes outside its arrays, and none computes faster than the core's units.
    void staysWithinArraysAndPeaks() {
        for (const auto& form : kernelForms()) {
            for (const auto& [id, set] : {std::pair<std::string, std::string>{"icelake-server", "scalar"},
                                          {"icelake-server", "avx2"},
                                          {"icelake-server", "avx512"},
                                          {"cortex-a76", "neon-fp16"}}) {
                if (set == fp16Set && !hasHalves(form.name)) continue;
                const auto machine = machineOf(id);
                const auto text = std::string(form.name) + (form.name == "gemm" ? " m=70 n=90 k=110 " : " ") + set;
                const auto nest = nestFor(text, machine);
                const auto bound = boundOps(machine, nest.ops);
                Pipeline core(machine, bound);
                NestStream stream(nest);
                OpChunk chunk;
                std::uint64_t first = ~0ull, last = 0;
                double multiplyAdds = 0;
                while (stream.next(chunk)) {
                    for (std::size_t i = 0; i < chunk.size; ++i) {
                        const auto kind = nest.ops[chunk.op[i]].kind;
                        multiplyAdds += kind == OpKind::FpFma;
                        if (kind != OpKind::Load && kind != OpKind::Store) continue;
                        first = std::min(first, chunk.address[i]);
                        last = std::max(last, chunk.address[i]);
                    }
                    core.run(chunk);
                }
                QVERIFY(first >= 1u << 30);
                QVERIFY2(last < (1ull << 30) + nest.footprint + 40 * 8192, text.c_str());
                const auto counts = core.counters();
                QCOMPARE(counts.operations, nest.length());
                QVERIFY(multiplyAdds <= 2 * static_cast<double>(counts.cycles));
                QVERIFY(counts.instructions <= counts.operations);
            }
        }
    }

    // Wider registers are faster, and a product in cache comes near the peak of its units, as libraries do.
    void widerIsFaster() {
        const auto machine = machineOf("icelake-server");
        double before = 1e300;
        for (const std::string set : {"scalar", "avx2", "avx512"}) {
            const auto nest = nestFor("gemm m=168 n=192 k=192 " + set, machine);
            const auto bound = boundOps(machine, nest.ops);
            Pipeline core(machine, bound);
            OpChunk chunk;
            NestStream cold(nest);
            while (cold.next(chunk)) core.warm(chunk);
            NestStream stream(nest);
            while (stream.next(chunk)) core.run(chunk);
            const double cycles = static_cast<double>(core.counters().cycles);
            QVERIFY(cycles < 0.8 * before);
            before = cycles;
            const double lanes = registerBytes(machine, set) / 4.0;
            const double share = 2.0 * 168 * 192 * 192 / cycles / (4 * lanes);
            QVERIFY2(share > (set == "scalar" ? 0.5 : 0.7) && share <= 1, qPrintable(QString::number(share)));
        }
    }

    void badKernelsAreRefused() {
        const auto codeOf = [](std::string_view text) {
            const auto spec = readKernel(text);
            return spec ? std::string("read") : spec.error().code;
        };
        QCOMPARE(codeOf(""), "kernel.unknown");
        QCOMPARE(codeOf("gem m=3"), "kernel.unknown");
        QCOMPARE(codeOf("gemm q=3"), "kernel.size");
        QCOMPARE(codeOf("gemm m=0"), "kernel.size");
        QCOMPARE(codeOf("gemm m=-4"), "kernel.size");
        QCOMPARE(codeOf("gemm m=1e3x"), "kernel.size");
        QCOMPARE(codeOf("gemm m=999999999999"), "kernel.size");
        QCOMPARE(codeOf("gemm m=1000000 n=1000000 k=1000000"), "kernel.size");
        QCOMPARE(codeOf("gemm avx3"), "kernel.word");
        QCOMPARE(codeOf("conv r=20 h=8"), "kernel.size");
        QCOMPARE(codeOf("depthwise r=9 w=8"), "kernel.size");
        QCOMPARE(codeOf("matvec m=4"), "kernel.size");
        QCOMPARE(codeOf("matvec bytes=3"), "kernel.size");
        QCOMPARE(codeOf("gemm m=4 n=5 k=6 avx2"), "read");
        const auto spec = readKernel("gemm avx512");
        QVERIFY(spec.has_value());
        const auto nest = nestOf(*spec, machineOf("zen2"));
        QVERIFY(!nest && nest.error().code == "kernel.instruction-set");
        const auto sums = readKernel("softmax neon-fp16");
        QVERIFY(sums.has_value());
        const auto refused = nestOf(*sums, machineOf("cortex-a76"));
        QVERIFY(!refused && refused.error().code == "kernel.instruction-set");
        QVERIFY(!nestOf(*readKernel("gemm neon-fp16"), machineOf("cortex-a72")));
    }
};

QTEST_GUILESS_MAIN(TestCoreKernels)
#include "tst_core_kernels.moc"
