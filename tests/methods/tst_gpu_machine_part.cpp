// A part of a GPU stands for the whole: its rates and capacities are its share, clusters fill it, rows spread over its
// channels as over all, and a sample on it takes what the whole simulation takes. And every door runs one program.

#include "evaluation/reference_checks.h"
#include "methods/gpu/gpu_choice.h"
#include "methods/gpu/gpu_sample.h"
#include "methods/gpu/machine_part.h"
#include "simulation/gpu/occupancy.h"
#include "simulation/gpu/templates/vector.h"
#include "workload/kernel_source.h"

#include <QtTest/QtTest>

#include <cmath>
#include <set>

using namespace orrery;
using namespace orrery::gpusim;

namespace {

struct Drawn {
    GpuView gpu;
    DrawnMachine drawn;
};
Drawn drawnOf(const char* device) {
    const auto gpu = gpuView(*catalogueHardware(device));
    if (!gpu) qFatal("%s", device);
    auto drawn = machineOf(*gpu);
    if (!drawn) qFatal("%s", toText(drawn.error()).c_str());
    return {*gpu, std::move(*drawn)};
}
Kernel kernelOf(const QString& words) {
    const auto kernel = kernelFromSource(words.toStdString());
    if (!kernel) qFatal("%s", qPrintable(words));
    return *kernel;
}
double cacheBytes(const Machine& m) {
    return 128.0 * m.l2.sets * m.l2.ways * m.slices();
}
double near(double is, double wanted) {
    return std::abs(is / wanted - 1);
}

}  // namespace

class TestGpuMachinePart : public QObject {
    Q_OBJECT
private slots:
    void aPartHasItsShareOfEverything() {
        for (const char* device : {"a100-80-sxm", "h100-sxm", "l40s", "b200-sxm", "mi300x", "t4", "v100"}) {
            const Machine whole = drawnOf(device).drawn.machine;
            const auto kernel = elementsTemplate({});
            const MachinePart same = partOfMachine(whole, 1, *kernel);
            QCOMPARE(same.share, 1.0);
            QVERIFY(same.machine.channels == whole.channels && same.machine.sms == whole.sms);
            for (const int parts : {2, 4, 8}) {
                const MachinePart part = partOfMachine(whole, parts, *kernel);
                const Machine& m = part.machine;
                const QByteArray at = QByteArray(device) + " / " + QByteArray::number(parts);
                QCOMPARE(m.sms, smsOfPart(whole, parts, *kernel));
                QVERIFY2(near(m.channels * m.dramMhz, part.share * whole.channels * whole.dramMhz) < 1e-9, at);
                QVERIFY2(near(m.slices() * m.l2Mhz, part.share * whole.slices() * whole.l2Mhz) < 1e-9, at);
                // Ways are whole: half of one is what rounding may change.
                QVERIFY2(near(cacheBytes(m), part.share * cacheBytes(whole)) < 0.5 / (m.l2.ways - 0.5) + 1e-9, at);
            }
        }
    }
    // A quarter of H100 has 33 multiprocessors, on which a pair of blocks more than 16 waits for another turn.
    void clustersFillAPart() {
        const Drawn h100 = drawnOf("h100-sxm");
        const auto program = programOf(kernelOf("gemm m=3840 n=3072 k=320 bf16"), h100.gpu, h100.drawn);
        QVERIFY(program);
        const auto kernel = program->build(0);
        QCOMPARE(kernel->header().cluster, 2);
        for (const int parts : {2, 4, 8}) {
            const Machine m = partOfMachine(h100.drawn.machine, parts, *kernel).machine;
            QCOMPARE(smsOfClusters(m, 2), m.sms);
        }
    }
    // Rows of 1,408 elements of two bytes stand eleven pieces of 256 bytes apart: on eleven channels all meet in one.
    void rowsSpreadOverThePartAsOverTheWhole() {
        const Drawn l40s = drawnOf("l40s");
        for (const int k : {1408, 704, 2816, 1664, 2176}) {
            const auto program =
                programOf(kernelOf(QString("gemm m=640 n=1024 k=%1 bf16").arg(k)), l40s.gpu, l40s.drawn);
            QVERIFY(program);
            const auto kernel = program->build(0);
            const auto channels = [&](const Machine& m) {
                std::set<std::uint64_t> out;
                for (std::uint64_t row = 0; row < 64; ++row)
                    out.insert((row * static_cast<std::uint64_t>(k) * 2 >> m.channelBit) %
                               static_cast<std::uint64_t>(m.channels));
                return static_cast<double>(out.size()) / m.channels;
            };
            for (const int parts : {2, 4, 8}) {
                const Machine m = partOfMachine(l40s.drawn.machine, parts, *kernel).machine;
                QVERIFY2(channels(m) > 0.7 * channels(l40s.drawn.machine),
                         qPrintable(QString("k %1 on 1/%2: %3 channels").arg(k).arg(parts).arg(m.channels)));
            }
        }
    }
    // Before, the first two took 2.8 and 2.1 times what the whole simulation takes.
    void aSampleTakesWhatTheWholeTakes_data() {
        QTest::addColumn<QString>("device");
        QTest::addColumn<QString>("words");
        QTest::addColumn<double>("budget");
        QTest::newRow("eleven channels") << "l40s"
                                         << "gemm m=512 n=1408 k=704 bf16" << 4e4;
        QTest::newRow("eleven channels, longer") << "l40s"
                                                 << "gemm m=640 n=1024 k=1408 bf16" << 4e4;
        QTest::newRow("pairs of blocks") << "h100-sxm"
                                         << "gemm m=3840 n=3072 k=320 bf16" << 1.5e5;
    }
    void aSampleTakesWhatTheWholeTakes() {
        QFETCH(QString, device);
        QFETCH(QString, words);
        QFETCH(double, budget);
        const Drawn at = drawnOf(qPrintable(device));
        const auto program = chosenProgram(kernelOf(words), at.gpu, at.drawn);
        QVERIFY(program);
        const auto whole = sampleKernel(*program, at.drawn.machine, {.instructions = 1e9});
        const auto part = sampleKernel(*program, at.drawn.machine, {.instructions = budget});
        QVERIFY(whole && part && whole->whole && part->part > 1);
        QVERIFY2(
            near(part->cycles, whole->cycles) < 0.1,
            qPrintable(
                QString("%1 for %2: %3").arg(part->cycles).arg(whole->cycles).arg(QString::fromStdString(part->how))));
    }
    // What is chosen is one of those that are tried, none of them is quicker by the same model, and it is not always
    // the planned one.
    void theProgramIsTheQuickestOfThoseTried() {
        const Drawn a100 = drawnOf("a100-80-sxm");
        int other = 0;
        for (const char* words :
             {"gemm m=512 n=3904 k=576 bf16", "gemm m=640 n=2368 k=1280 bf16", "gemm m=256 n=1600 k=1344 bf16",
              "gemm m=1024 n=512 k=512 bf16", "gemm m=384 n=384 k=2048 bf16"}) {
            const Kernel kernel = kernelOf(words);
            const auto chosen = chosenProgram(kernel, a100.gpu, a100.drawn);
            const auto tried = programsOf(kernel, a100.gpu, a100.drawn);
            QVERIFY(chosen && tried);
            const auto seconds = [&](const KernelProgram& one) {
                const auto run = sampleKernel(one, a100.drawn.machine, {.intervals = true});
                return run ? run->cycles / (a100.drawn.machine.coreMhz * 1e6) + one.afterSeconds : 1e9;
            };
            const double own = seconds(*chosen);
            bool among = false;
            for (const KernelProgram& one : *tried) {
                among = among || one.name == chosen->name;
                QVERIFY2(own <= seconds(one) * (1 + 1e-6), words);
            }
            QVERIFY2(among, words);
            other += chosen->name != tried->front().name;
        }
        QVERIFY(other > 0);
    }
};

QTEST_GUILESS_MAIN(TestGpuMachinePart)
#include "tst_gpu_machine_part.moc"
