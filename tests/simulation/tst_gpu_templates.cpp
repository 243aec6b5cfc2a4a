// Templates of kernels: closed forms of their counts, the compulsory bytes, the same cycles from memory and from an
// exported trace.

#include "evaluation/reference_checks.h"
#include "methods/gpu/gpu_kernels.h"
#include "methods/model/kernel_bound.h"
#include "simulation/gpu/simulate.h"
#include "simulation/gpu/templates/attention.h"
#include "simulation/gpu/templates/vector.h"

#include <QTemporaryDir>
#include <QTest>

#include <set>

using namespace orrery;
using namespace orrery::gpusim;

namespace {

std::uint64_t countOf(const std::vector<TemplateCount>& counts, std::string_view opcode) {
    for (const auto& one : counts) {
        if (one.opcode == opcode) return one.warps;
    }
    return 0;
}
std::uint64_t bytesOfOpcode(const std::vector<TemplateCount>& counts, std::string_view opcode) {
    for (const auto& one : counts) {
        if (one.opcode == opcode) return one.bytes;
    }
    return 0;
}

GpuView gpuOf(const char* id) {
    auto view = gpuView(*catalogueHardware(id));
    if (!view) qFatal("%s", toText(view.error()).c_str());
    return *view;
}
DrawnMachine drawnOf(const GpuView& gpu) {
    auto drawn = machineOf(gpu);
    if (!drawn) qFatal("%s", toText(drawn.error()).c_str());
    return *drawn;
}
Kernel productOf(std::int64_t m, std::int64_t n, std::int64_t k, DType type) {
    Kernel kernel;
    kernel.kind = KernelKind::Gemm;
    kernel.m = m, kernel.n = n, kernel.k = k, kernel.type = kernel.weightType = type;
    countWork(kernel);
    return kernel;
}

}  // namespace

class TestGpuTemplates : public QObject {
    Q_OBJECT
private slots:
    void multiplicationsAreThoseOfTheProduct_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<double>("macs");  // of one warp instruction
        QTest::newRow("FFMA") << static_cast<int>(MultiplyForm::Kind::Vector) << 32.0;
        QTest::newRow("HMMA.16816") << static_cast<int>(MultiplyForm::Kind::Warp) << 2048.0;
        QTest::newRow("HGMMA.64x256x16") << static_cast<int>(MultiplyForm::Kind::Group) << 65536.0;
    }
    void multiplicationsAreThoseOfTheProduct() {
        QFETCH(int, kind);
        QFETCH(double, macs);
        ProductSpec spec;
        spec.m = 256, spec.n = 512, spec.k = 128;
        spec.form.kind = static_cast<MultiplyForm::Kind>(kind);
        const bool vector = spec.form.kind == MultiplyForm::Kind::Vector,
                   group = spec.form.kind == MultiplyForm::Kind::Group;
        spec.form.opcode = vector ? "FFMA" : group ? "HGMMA" : "HMMA.16816.F32";
        spec.form.suffix = ".F32";
        if (vector)
            spec.aBytes = spec.bBytes = spec.cBytes = 4, spec.tileK = 16, spec.copiesPast = false, spec.stages = 1;
        if (group) spec.tileN = 256;
        const auto counts = countTemplate(*productTemplate(spec));
        const double expected = 256.0 * 512 * 128 / macs;
        QCOMPARE(static_cast<double>(countOf(counts, vector ? "FFMA" : group ? "HGMMA" : "HMMA")), expected);
        QCOMPARE(productInstructions(spec), expected);
        const double loaded = static_cast<double>(bytesOfOpcode(counts, vector ? "LDG" : "LDGSTS"));
        QCOMPARE(loaded, (256.0 * 128 * (512 / spec.tileN) + 512.0 * 128 * (256 / spec.tileM)) * spec.aBytes);
        QCOMPARE(static_cast<double>(bytesOfOpcode(counts, "STG")), 256.0 * 512 * spec.cBytes);
    }
    // A cluster of two blocks brings the operand that is larger in a tile once for both, whichever it is.
    void clustersBringTheLargerOperandOnce_data() {
        QTest::addColumn<int>("tileM");
        QTest::addColumn<int>("tileN");
        QTest::newRow("wide") << 128 << 256;
        QTest::newRow("tall") << 256 << 128;
    }
    void clustersBringTheLargerOperandOnce() {
        QFETCH(int, tileM);
        QFETCH(int, tileN);
        ProductSpec spec;
        spec.m = spec.n = 512, spec.k = 128;
        spec.form.kind = MultiplyForm::Kind::Group, spec.form.opcode = "HGMMA", spec.form.suffix = ".F32";
        spec.tileM = tileM, spec.tileN = tileN;
        const auto loaded = [&](bool multicast) {
            spec.multicast = multicast;
            return static_cast<double>(bytesOfOpcode(countTemplate(*productTemplate(spec)), "LDGSTS"));
        };
        const double a = 512.0 * 128 * (512 / tileN) * 2, b = 512.0 * 128 * (512 / tileM) * 2;
        QCOMPARE(loaded(false), a + b);
        QCOMPARE(loaded(true), std::min(a, b) + std::max(a, b) / 2);
    }
    // Parts of a reduction add up to the same multiplications and read every operand once; each writes its sums at four
    // bytes, to a place of its own where they are stored, to one place where they meet.
    void partsOfAReductionAreStoredApartOrMeet() {
        ProductSpec spec;
        spec.batch = 2, spec.m = 200, spec.n = 128, spec.k = 512, spec.splits = 4;
        spec.form = {.kind = MultiplyForm::Kind::Warp, .opcode = "HMMA.16816.F32"};
        const double sums = 2.0 * 200 * 128 * 4;
        for (const bool stored : {false, true}) {
            spec.partsStored = stored;
            const auto program = productTemplate(spec);
            const auto counts = countTemplate(*program);
            QCOMPARE(static_cast<double>(countOf(counts, "HMMA")), 2.0 * 256 * 128 * 512 / 2048);
            QCOMPARE(static_cast<double>(bytesOfOpcode(counts, "LDGSTS")), 2 * (200.0 * 512 + 2 * 128.0 * 512) * 2);
            QCOMPARE(static_cast<double>(bytesOfOpcode(counts, stored ? "STG" : "RED")), 4 * sums);
            QCOMPARE(bytesOfOpcode(counts, stored ? "RED" : "STG"), std::uint64_t{0});
            std::set<std::uint64_t> rows;
            for (std::int64_t block = 0; block < program->header().blocks(); ++block) {
                const TemplateRegion written = program->regions(block).back();
                QCOMPARE(written.written, stored);
                for (std::int64_t row = 0; row < written.rows; ++row)
                    rows.insert(written.first + static_cast<std::uint64_t>(row * written.stride));
            }
            QCOMPARE(rows.size(), std::size_t(2 * 200 * (stored ? 4 : 1)));
            const TemplateOperand& output = program->operands().back();
            QCOMPARE(output.bytes, stored ? 4 * sums : sums);
            QVERIFY(*rows.begin() >= output.first &&
                    static_cast<double>(*rows.rbegin() - output.first) + 128 * 4 <= output.bytes);
        }
    }
    void edgesAreFilledUpButNotRead() {
        ProductSpec spec;
        spec.m = 200, spec.n = 136, spec.k = 72;  // two tiles each way, three steps of 32
        spec.form = {.kind = MultiplyForm::Kind::Warp, .opcode = "HMMA.16816.F32"};
        const auto counts = countTemplate(*productTemplate(spec));
        QCOMPARE(static_cast<double>(countOf(counts, "HMMA")), 256.0 * 256 * 96 / 2048);
        QCOMPARE(static_cast<double>(bytesOfOpcode(counts, "LDGSTS")), (200.0 * 72 + 136.0 * 72) * 2 * 2);
        QCOMPARE(static_cast<double>(bytesOfOpcode(counts, "STG")), 200.0 * 136 * 2);
    }
    void vectorsMoveEveryByteOnce() {
        ElementsSpec elements{.elements = 100000, .readBytes = 4, .writeBytes = 2};
        auto counts = countTemplate(*elementsTemplate(elements));
        QCOMPARE(bytesOfOpcode(counts, "LDG"), std::uint64_t{400000});
        QCOMPARE(bytesOfOpcode(counts, "STG"), std::uint64_t{200000});
        for (const std::int64_t columns : {128, 1000, 4096, 50000}) {
            RowsSpec rows{.rows = 7, .columns = columns};
            counts = countTemplate(*rowsTemplate(rows));
            const auto once = static_cast<std::uint64_t>(7 * ((columns * 2 + 15) / 16) * 16);
            QVERIFY(bytesOfOpcode(counts, "LDG") >= once);
            QCOMPARE(bytesOfOpcode(counts, "STG"), once);
        }
        counts = countTemplate(*reduceTemplate({.elements = 1 << 18}));
        QCOMPARE(bytesOfOpcode(counts, "LDG"), std::uint64_t{1} << 20);
        QCOMPARE(countOf(counts, "RED"), std::uint64_t{(1 << 18) / 4 / 1024});
    }
    void attentionReadsKeysForEveryTileOfQueries() {
        FlashSpec spec{.heads = 4, .kvHeads = 2, .queries = 256, .keys = 256};
        spec.form = {.kind = MultiplyForm::Kind::Warp, .opcode = "HMMA.16816.F32"};
        const auto all = countTemplate(*flashTemplate(spec));
        // Two products of 256 × 256 × 128 for each of four heads.
        QCOMPARE(static_cast<double>(countOf(all, "HMMA")), 2 * 4 * 256.0 * 256 * 128 / 2048);
        QCOMPARE(static_cast<double>(bytesOfOpcode(all, "LDGSTS")), 4.0 * 4 * 2 * 256 * 128 * 2);
        spec.causal = true;
        const auto half = countTemplate(*flashTemplate(spec));
        QCOMPARE(static_cast<double>(countOf(half, "HMMA")),
                 static_cast<double>(countOf(all, "HMMA")) * (1 + 2 + 3 + 4) / 16);
    }
    void exportAnswersTheSame_data() {
        QTest::addColumn<QString>("device");
        for (const char* id : {"v100", "a100-80-sxm", "h100-sxm", "t4"}) QTest::newRow(id) << id;
    }
    void exportAnswersTheSame() {
        QFETCH(QString, device);
        const GpuView gpu = gpuOf(qPrintable(device));
        const DrawnMachine drawn = drawnOf(gpu);
        const auto program = programOf(productOf(128, 192, 128, DType::F16), gpu, drawn);
        QVERIFY(program);
        const std::vector<KernelTemplatePtr> kernels{program->build(0), rowsTemplate({.rows = 20, .columns = 3000}),
                                                     reduceTemplate({.elements = 10000})};
        QTemporaryDir folder;
        const std::string path = folder.path().toStdString();
        const auto list = exportTraces(kernels, path);
        QVERIFY(list && writeMachine(drawn.machine, path));
        const auto read = readMachine({path, {}});
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            auto source = TemplateSource::open(kernels[i], drawn.machine);
            QVERIFY(source);
            const auto direct = simulate(drawn.machine, *source);
            const auto commands = readKernelList(*list);
            QVERIFY(commands && direct);
            const auto traced = simulate(read->machine, {(*commands)[i]});
            QVERIFY2(traced, traced ? "" : toText(traced.error()).c_str());
            QCOMPARE(traced->front().cycles, direct->cycles);
            QCOMPARE(traced->front().counts.warpInstructions, direct->counts.warpInstructions);
            QCOMPARE(traced->front().counts.dramReads, direct->counts.dramReads);
        }
    }
    // What a drawing says of GPCs and caches of constants stands in its files, up to the largest that may be drawn.
    void exportKeepsWhatWasDrawn() {
        GpuView gpu = gpuOf("h100-sxm");
        gpu.gpcCores = 8, gpu.constantCache = 1 << 24;
        const DrawnMachine drawn = drawnOf(gpu);
        QTemporaryDir folder;
        const std::string path = folder.path().toStdString();
        QVERIFY(writeMachine(drawn.machine, path));
        const auto read = readMachine({path, {}});
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        QCOMPARE(read->machine.generation.clusters.sms, 8.0);
        QCOMPARE(read->machine.generation.constants.loads.bytes, 1 << 24);
        const auto narrow = readMachine({path, {"-core_gpc", "300"}});
        QVERIFY(!narrow && narrow.error().code == "gpu.config");
    }
    void whatCannotBeAskedIsSaid() {
        GpuView narrow = gpuOf("mi300x");
        narrow.warpSize = 16;
        const auto refused = machineOf(narrow);
        QVERIFY(!refused && refused.error().code == "method.not-applicable");
        const GpuView gpu = gpuOf("h100-sxm");
        Kernel collective;
        collective.kind = KernelKind::Collective;
        const auto program = programOf(collective, gpu, drawnOf(gpu));
        QVERIFY(!program && program.error().code == "gpu.template");
    }
};

QTEST_GUILESS_MAIN(TestGpuTemplates)
#include "tst_gpu_templates.moc"
