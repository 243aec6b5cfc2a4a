// Wavefronts of 64 lanes: distances, rates and order of memory as AMD's GPUs have them, counts of the kernels that are
// written for them, and the same cycles from an exported trace.

#include "evaluation/reference_checks.h"
#include "methods/gpu/gpu_kernels.h"
#include "simulation/gpu/interval/interval_run.h"
#include "simulation/gpu/simulate.h"
#include "simulation/gpu/templates/loops.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <functional>
#include <memory>

using namespace orrery;
using namespace orrery::gpusim;

namespace {

const DrawnMachine& mi300a() {
    static const DrawnMachine drawn = [] {
        const auto view = gpuView(*catalogueHardware("mi300a"));
        if (!view) qFatal("%s", toText(view.error()).c_str());
        auto out = machineOf(*view);
        if (!out) qFatal("%s", toText(out.error()).c_str());
        return *out;
    }();
    return drawn;
}

// One wavefront of one program, which a function writes.
class Written final : public KernelTemplate {
public:
    using Body = std::function<void(WarpSink&)>;
    Written(const std::function<Body(const std::function<int(const char*, int, std::vector<int>, int)>&)>& program,
            int wavefronts = 1) {
        setVersion(942);
        header_.name = "written", header_.block = {64 * wavefronts, 1, 1}, header_.registers = 32;
        header_.traceVersion = 4;
        body_ = program([this](const char* name, int to, std::vector<int> from, int width) {
            return define(name, to, std::move(from), width);
        });
        exit_ = define("s_endpgm");
    }
    void warp(std::int64_t, int, WarpSink& out) const override {
        body_(out);
        out.op(exit_);
    }

private:
    Body body_;
    int exit_ = 0;
};

KernelResult run(const std::vector<KernelTemplatePtr>& kernels) {
    std::vector<TemplateSource> sources;
    std::vector<KernelSource*> pointers;
    for (const auto& each : kernels) {
        auto source = TemplateSource::open(each, mi300a().machine);
        if (!source) qFatal("%s", toText(source.error()).c_str());
        sources.push_back(std::move(*source));
    }
    for (auto& each : sources) pointers.push_back(&each);
    auto got = simulate(mi300a().machine, pointers);
    if (!got) qFatal("%s", toText(got.error()).c_str());
    return got->back();
}

KernelTemplatePtr chase(int links, std::uint64_t step, std::uint64_t span) {
    return std::make_shared<const Written>([=](const auto& define) -> Written::Body {
        const int load = define("global_load_dword", 5, {5}, 4);
        return [=](WarpSink& out) {
            for (int i = 0; i < links; ++i) {
                const std::uint64_t at = 0x7f4000000000 + step * static_cast<std::uint64_t>(i) % span;
                out.access(load, 1, {&at, 1});
            }
        };
    });
}

KernelTemplatePtr repeated(int count, const char* name, int to, std::vector<int> from, int wavefronts = 1) {
    return std::make_shared<const Written>(
        [=](const auto& define) -> Written::Body {
            const int one = define(name, to, from, 0);
            return [=](WarpSink& out) {
                for (int i = 0; i < count; ++i) out.op(one);
            };
        },
        wavefronts);
}

double slope(const std::function<KernelTemplatePtr(int)>& kernel, int less, int more, int warmRuns = 0) {
    const auto cycles = [&](int n) {
        return static_cast<double>(
            run(std::vector<KernelTemplatePtr>(1 + static_cast<std::size_t>(warmRuns), kernel(n))).cycles);
    };
    return (cycles(more) - cycles(less)) / (more - less);
}

}  // namespace

class TestGpuWavefront : public QObject {
    Q_OBJECT
private slots:
    void theMachineIsTheDrawing() {
        const Machine& m = mi300a().machine;
        QCOMPARE(m.lanes, 64);
        QCOMPARE(m.warps(), 32);
        QCOMPARE(m.sms, 228);
        QCOMPARE(m.dies, 6);
        QCOMPARE(m.sharedBytes, 64 * 1024);
        QCOMPARE(m.lastLevel.bytes, 256e6);
        QVERIFY(std::abs(128.0 * m.l2.sets * m.l2.ways * m.slices() / 24e6 - 1) < 0.08);
        QVERIFY(std::abs(32.0 * m.l2Mhz * 1e6 * m.slices() / (6 * 2048 * 2.1e9) - 1) < 0.01);
        QVERIFY(std::abs(32.0 * m.dramMhz * 1e6 * m.channels / 5.3e12 - 1) < 0.01);
        QCOMPARE(mi300a().generation.name, std::string("cdna3"));
    }
    // gpu-benches on MI300A at 2,096 MHz: 120.1, 212.9, 448.5, and 812.8 beyond its Infinity Cache.
    void distancesAreThoseMeasured() {
        const auto within = [](double got, double want, double percent, const char* what) {
            QVERIFY2(std::abs(100 * (got / want - 1)) <= percent,
                     qPrintable(QString("%1: %2 for %3").arg(what).arg(got).arg(want)));
        };
        within(slope([](int n) { return chase(n, 0, 128); }, 32, 96), 120.1, 3, "L1");
        within(slope([](int n) { return chase(n, 128, 65536); }, 1024, 1536), 212.9, 5, "L2");
        within(slope([](int n) { return chase(n, 4224, 1u << 30); }, 32, 96, 1), 448.5, 5, "Infinity Cache");
        within(slope([](int n) { return chase(n, (1u << 20) + 128, 1ull << 40); }, 32, 96), 812.8, 8, "HBM");
    }
    // Four SIMDs of 16 lanes: an instruction of 64 lanes every four cycles on each; a matrix instruction in four
    // passes.
    void instructionsTakeTheirPasses() {
        const auto chain = [](const char* name) {
            return slope([=](int n) { return repeated(n, name, 10, {10, 7}); }, 64, 192);
        };
        QCOMPARE(chain("v_fma_f32"), 4.0);
        QCOMPARE(chain("v_exp_f32"), 16.0);
        QCOMPARE(chain("v_mfma_f32_16x16x16_f16"), 16.0);
        QCOMPARE(chain("v_mfma_f32_16x16x32_fp8_fp8"), 16.0);
        // Eight wavefronts, two on each SIMD, share it.
        const double shared = slope([](int n) { return repeated(n, "v_fma_f32", 10, {7, 8}, 8); }, 64, 192);
        QVERIFY2(std::abs(shared - 8) < 0.2, qPrintable(QString::number(shared)));
    }
    // VM_CNT: a load is there when the store in front of it is.
    void memoryReturnsInOrder() {
        const auto kernel = [](bool stores) {
            return slope(
                [=](int n) {
                    return std::make_shared<const Written>([=](const auto& define) -> Written::Body {
                        const int load = define("global_load_dword", 5, {6}, 4),
                                  use = define("v_add_f32", 6, {5, 6}, 0),
                                  store = define("global_store_dword", -1, {7, 8}, 4);
                        return [=](WarpSink& out) {
                            const std::uint64_t from = 0x7f4000000000, to = 0x7f4010000000;
                            for (int i = 0; i < n; ++i) {
                                if (stores) out.access(store, 1, {&to, 1});
                                out.access(load, 1, {&from, 1});
                                out.op(use);
                            }
                        };
                    });
                },
                32, 96);
        };
        const double alone = kernel(false), behind = kernel(true);
        QVERIFY2(alone < 135, qPrintable(QString::number(alone)));
        QVERIFY2(behind > 205, qPrintable(QString("%1: no sooner than L2 has the store").arg(behind)));
    }
    // What one die wrote another must be able to read: a second run finds nothing in L2 and all in the cache behind it.
    void l2IsEmptiedBetweenKernels() {
        const auto add = loopTemplate({.kind = LoopSpec::Kind::VectorAdd, .n = 16384});
        QVERIFY(add);
        const auto first = run({*add}), again = run({*add, *add});
        QCOMPARE(first.counts.lastLevelHits, quint64{0});
        QCOMPARE(first.counts.dramReads, quint64{4096});
        QCOMPARE(again.counts.l2.readHits, quint64{0});
        QCOMPARE(again.counts.lastLevelHits, quint64{4096});
        QCOMPARE(again.counts.dramReads, quint64{0});
        QVERIFY(again.cycles < first.cycles);
    }
    void countsFollowFromTheDefinition() {
        const auto bytes = [](const LoopSpec& spec, std::string_view opcode) {
            const auto kernel = loopTemplate(spec);
            if (!kernel) qFatal("%s", toText(kernel.error()).c_str());
            for (const auto& one : countTemplate(**kernel)) {
                if (one.opcode == opcode) return one.bytes;
            }
            return std::uint64_t{0};
        };
        using Kind = LoopSpec::Kind;
        QCOMPARE(bytes({.kind = Kind::VectorAdd, .n = 1000}, "global_load_dword"), quint64{8000});
        QCOMPARE(bytes({.kind = Kind::VectorAdd, .n = 1000}, "global_store_dword"), quint64{4000});
        QCOMPARE(bytes({.kind = Kind::Fir, .n = 512, .taps = 16}, "global_load_dword"), quint64{512 * 16 * 4});
        QCOMPARE(bytes({.kind = Kind::Transpose, .n = 128}, "global_load_dwordx4"), quint64{128 * 128 * 4});
        QCOMPARE(bytes({.kind = Kind::Transpose, .n = 128}, "ds_write_b128"), quint64{128 * 128 * 4});
        QCOMPARE(bytes({.kind = Kind::RowProducts, .n = 96}, "global_store_dword"), quint64{96 * 96 * 4});
        QCOMPARE(bytes({.kind = Kind::ColumnProducts, .n = 96}, "global_load_dword"), quint64{(2 * 96 + 1) * 96 * 4});
        QCOMPARE(bytes({.kind = Kind::Walsh, .n = 1024, .step = 4}, "global_store_dword"), quint64{1024 * 4});
        QCOMPARE(bytes({.kind = Kind::TiledProduct, .n = 64}, "global_store_dwordx4"),
                 quint64{64 * 64 * 4 + 4 * 64 * 1024 / 16 * 2});
        QCOMPARE(bytes({.kind = Kind::Convolution, .n = 64, .taps = 3}, "global_load_dword"), quint64{64 * 64 * 9 * 4});
        QVERIFY(!loopTemplate({.kind = Kind::Transpose, .n = 100}));
        // The same programs for warps of 32.
        QCOMPARE(bytes({.kind = Kind::VectorAdd, .n = 1000, .binaryVersion = 80}, "LDG"), quint64{8000});
    }
    void anExportedKernelTakesTheSameCycles() {
        const auto product = [] {
            Kernel kernel;
            kernel.kind = KernelKind::Gemm;
            kernel.m = kernel.n = 128, kernel.k = 64, kernel.type = kernel.weightType = DType::F16;
            countWork(kernel);
            return kernel;
        }();
        const auto program = programOf(product, *gpuView(*catalogueHardware("mi300a")), mi300a());
        QVERIFY2(program, program ? "" : toText(program.error()).c_str());
        const auto transpose = loopTemplate({.kind = LoopSpec::Kind::Transpose, .n = 64});
        QVERIFY(transpose);
        for (const KernelTemplatePtr& kernel : {program->build(0), *transpose}) {
            QTemporaryDir folder;
            const auto list = exportTraces(std::vector{kernel}, folder.path().toStdString());
            QVERIFY(list && writeMachine(mi300a().machine, folder.path().toStdString()));
            const auto machine = readMachine({folder.path().toStdString(), {}});
            QVERIFY2(machine, machine ? "" : toText(machine.error()).c_str());
            const auto commands = readKernelList(*list);
            QVERIFY(commands);
            const auto read = simulate(machine->machine, *commands);
            QVERIFY2(read, read ? "" : toText(read.error()).c_str());
            const auto written = run({kernel});
            QCOMPARE(read->front().cycles, written.cycles);
            QCOMPARE(read->front().counts.threadInstructions, written.counts.threadInstructions);
            // Warps of 32 in a machine of 64 are refused, with the place.
            auto other = machine->machine;
            other.lanes = 32;
            const auto refused = simulate(other, *commands);
            QVERIFY(!refused && refused.error().code == "gpu.trace");
        }
    }
    void intervalsAreNearCycles() {
        for (const LoopSpec& spec : {LoopSpec{.kind = LoopSpec::Kind::VectorAdd, .n = 65536},
                                     LoopSpec{.kind = LoopSpec::Kind::Fir, .n = 4096, .taps = 16}}) {
            const auto kernel = loopTemplate(spec);
            QVERIFY(kernel);
            auto source = TemplateSource::open(*kernel, mi300a().machine);
            QVERIFY(source);
            const auto fast = simulateIntervals(mi300a().machine, *source);
            QVERIFY(fast);
            const double ratio = static_cast<double>(fast->cycles) / static_cast<double>(run({*kernel}).cycles);
            QVERIFY2(std::abs(ratio - 1) < 0.4, qPrintable(QString::number(ratio)));
        }
    }
};

QTEST_GUILESS_MAIN(TestGpuWavefront)
#include "tst_gpu_wavefront.moc"
