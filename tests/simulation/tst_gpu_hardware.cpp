// The setting of real hardware: microbenchmarks as traces (chains, pointer chases, streams) against the table of
// generations and against published measurements.

#include "simulation/gpu/hardware_setting.h"
#include "simulation/gpu/simulate.h"
#include "support/gpu_traces.h"

#include <QTest>

#include <cmath>
#include <functional>
#include <map>

using namespace orrery;
using namespace orrery::gpusim;

class TestGpuHardware : public QObject {
    Q_OBJECT
    orrery::test::GpuTraces traces_;

    static QString op(const QString& text, int pc = 16, const char* mask = "ffffffff") {
        return orrery::test::traceLine(text, pc, mask);
    }
    TraceCommand kernel(int blocks, int threads, int shared, const std::function<QString(int, int)>& body) {
        return traces_.command({.blocks = blocks, .threads = threads, .shared = shared, .version = 80}, body);
    }
    static Machine machine(const char* generation, double mhz = 1000) {
        auto m = readMachine({ORRERY_TEST_DATA "/gpu/small", {}})->machine;
        m.coreMhz = m.networkMhz = m.l2Mhz = mhz;
        useHardwareSetting(m, *generationOf(generation));
        return m;
    }
    double cycles(const Machine& m, const TraceCommand& command, const std::vector<TraceCommand>& before = {}) {
        auto commands = before;
        commands.push_back(command);
        const auto got = simulate(m, commands);
        if (!got) {
            QTest::qFail(toText(got.error()).c_str(), __FILE__, __LINE__);
            return 0;
        }
        return static_cast<double>(got->back().cycles - got->back().launchCycles);
    }
    // From one link of a chain of one warp to the next.
    double slope(const Machine& m, const std::function<QString(int)>& link, std::vector<TraceCommand> before = {}) {
        const auto chain = [&](int n) {
            return cycles(m,
                          kernel(1, 32, 4096,
                                 [&](int, int) {
                                     QString lines;
                                     for (int i = 0; i < n; ++i) lines += link(i);
                                     return lines;
                                 }),
                          before);
        };
        return (chain(96) - chain(32)) / 64;
    }
    double slope(const Machine& m, const QString& link) {
        return slope(m, [&](int) { return op(link); });
    }
    // Cycles per instruction and sub-core with two warps on each, eight independent chains per warp.
    double interval(const Machine& m, const QString& name, const QString& sources) {
        const auto run = [&](int n) {
            return cycles(m, kernel(1, 256, 0, [&](int, int) {
                              QString lines;
                              for (int i = 0; i < n; ++i)
                                  lines += op(QString("1 R%1 %2 %3 0 0").arg(10 + i % 8).arg(name).arg(sources),
                                              16 * (i % 8));
                              return lines;
                          }));
        };
        return (run(512) - run(256)) / 512;
    }
    static QString load(int i, int step, const char* kind = "LDG.E.64.SYS") {
        return op(QString("1 R4 %1 1 R4 8 1 0x%2 8 0").arg(kind).arg(0x40000000 + i * step, 0, 16), 16, "00000001");
    }

private slots:
    void everyGenerationHasItsRow() {
        const auto& all = gpuGenerations();
        QVERIFY2(all, all ? "" : toText(all.error()).c_str());
        for (const char* name : {"volta", "turing", "ampere", "ampere-ga10x", "ada", "hopper", "blackwell",
                                 "blackwell-rtx", "cdna2", "cdna3"})
            QVERIFY2(generationOf(name), name);
        QCOMPARE(generationOf(70)->name, std::string("volta"));
        QCOMPARE(generationOf(87)->name, std::string("ampere-ga10x"));
        QCOMPARE(generationOf(942)->name, std::string("cdna3"));
        QVERIFY(!generationOf(60));
    }
    void wrongTablesSayWhere() {
        QVERIFY(!readGpuGenerations("orrery: other/1\n", "t"));
        const auto got = readGpuGenerations(
            "orrery: gpu-generations/1\nsources: {a: b}\ngenerations:\n  x: {compute_capability: 80, alu: {latency: "
            "no}}\n",
            "t");
        QVERIFY(!got && got.error().message.find("x.alu.latency") != std::string::npos);
    }

    // Exact on Volta to Hopper, by every source in the table.
    void fixedLatenciesAreExact() {
        for (const char* name : {"volta", "turing", "ampere", "ampere-ga10x", "ada", "hopper"}) {
            const auto m = machine(name);
            for (const char* link :
                 {"1 R10 FADD 2 R10 R7 0 0", "1 R10 FFMA 3 R10 R7 R8 0 0", "1 R10 IADD3 3 R10 R7 R8 0 0",
                  "1 R10 IMAD 3 R10 R7 R8 0 0", "1 R10 MOV 1 R10 0 0"})
                QCOMPARE(slope(m, link), 4.0);
        }
    }
    void longPipesTakeTheirLatency() {
        for (const GpuGeneration& g : *gpuGenerations()) {
            if (g.lanes > 32) continue;  // tst_gpu_wavefront
            const auto m = machine(g.name.c_str());
            QCOMPARE(slope(m, "1 R10 MUFU.RCP 1 R10 0 0"),
                     static_cast<double>(std::max(g.special.latency, g.special.initiation)));
            QCOMPARE(slope(m, "1 R10 DFMA 3 R10 R7 R8 0 0"),
                     static_cast<double>(std::max(g.fp64.latency, g.fp64.initiation)));
            QCOMPARE(slope(m, "1 R10 HFMA2.MMA 3 R10 R7 R8 0 0"), static_cast<double>(g.half.latency));
            QCOMPARE(slope(m, "1 R10 HMMA.16816.F32 3 R10 R7 R8 0 0"),
                     std::max(static_cast<double>(g.tensorLatency), std::round(2048 / g.tensorMacs)));
        }
        // Sixteen steps of HMMA.884 are a wmma of 16 × 16 × 16: 35.3 cycles on a TITAN V (Accel-Sim's tuner log).
        const auto volta = machine("volta");
        const auto wmma = [&](int n) {
            return cycles(volta, kernel(1, 32, 0, [&](int, int) {
                              QString lines;
                              for (int i = 0; i < n; ++i) {
                                  for (int step = 0; step < 16; ++step)
                                      lines += op(QString("1 R%1 HMMA.884.F32.F32.STEP%2 3 R40 R45 R%1 0 0")
                                                      .arg(10 + 2 * (step % 4))
                                                      .arg(step % 4),
                                                  16 * step);
                              }
                              return lines;
                          }));
        };
        const double measured = (wmma(24) - wmma(8)) / 16;
        QVERIFY2(std::abs(measured / 35.3 - 1) < 0.05, qPrintable(QString::number(measured)));
    }
    void ratesAreThoseOfTheLanes() {
        for (const GpuGeneration& g : *gpuGenerations()) {
            if (g.lanes > 32) continue;
            const auto m = machine(g.name.c_str());
            // Operands of different banks: one instruction per initiation interval.
            QVERIFY(std::abs(interval(m, "IADD3", "2 R4 R5") - g.alu.initiation) < 0.1);
            QVERIFY(std::abs(interval(m, "MUFU.EX2", "1 R4") - g.special.initiation) < 0.1);
            QVERIFY(std::abs(interval(m, "DFMA", "2 R4 R5") - g.fp64.initiation) < 0.02 * g.fp64.initiation + 0.1);
            QVERIFY(std::abs(interval(m, "FADD", "2 R4 R5") - std::max(1, g.fp32.initiation)) < 0.1);
        }
        // All three operands of one bank: two bubbles (Huerta et al.).
        QVERIFY(std::abs(interval(machine("ampere-ga10x"), "FFMA", "3 R4 R6 R8") - 3) < 0.1);
    }

    // Of single cards; the table has one value per generation.
    void distancesAreThoseMeasured_data() {
        QTest::addColumn<QString>("generation");
        QTest::addColumn<double>("mhz");
        QTest::addColumn<double>("l1");
        QTest::addColumn<double>("l2");
        QTest::addColumn<double>("dram");
        QTest::addRow("V100") << "volta" << 1380.0 << 28.0 << 212.1 << 429.1;
        QTest::addRow("A100 SXM") << "ampere" << 1410.0 << 33.2 << 205.7 << 514.8;
        QTest::addRow("A100 PCIe") << "ampere" << 1395.0 << 32.7 << 202.8 << 529.8;
        QTest::addRow("A40") << "ampere-ga10x" << 1740.0 << 33.1 << 250.4 << 546.7;
        QTest::addRow("L40") << "ada" << 2490.0 << 34.1 << 273.6 << 624.6;
        QTest::addRow("RTX 4090") << "ada" << 2235.0 << 36.2 << 284.8 << 568.0;
        QTest::addRow("GH200") << "hopper" << 1980.0 << 32.2 << 280.4 << 620.3;
        QTest::addRow("H800") << "hopper" << 1755.0 << 32.1 << 264.5 << 603.3;
    }
    void distancesAreThoseMeasured() {
        QFETCH(QString, generation);
        QFETCH(double, mhz);
        QFETCH(double, l1);
        QFETCH(double, l2);
        QFETCH(double, dram);
        const auto m = machine(qPrintable(generation), mhz);
        const auto within = [](double got, double want, double percent, const char* what) {
            const double off = 100 * (got / want - 1);
            if (std::abs(off) > percent)
                QTest::qFail(qPrintable(QString("%1: %2 for %3, %4 %").arg(what).arg(got).arg(want).arg(off)), __FILE__,
                             __LINE__);
        };
        const double l1Chain = slope(m, [](int) { return load(0, 0); });
        QEXPECT_FAIL("RTX 4090", "the table has one L1 for L40 and RTX 4090, between them: 3.3 % off", Continue);
        QVERIFY2(std::abs(l1Chain / l1 - 1) <= 0.03, qPrintable(QString("L1: %1 for %2").arg(l1Chain).arg(l1)));
        const std::vector<TraceCommand> copied{{TraceCommand::Kind::Copy, 0x40000000, 65536, {}, {}}};
        within(slope(
                   m, [](int i) { return load(i, 256); }, copied),
               l2, 5, "L2");
        within(slope(m, [](int i) { return load(i, 1 << 17); }), dram, 8, "DRAM");
        const auto& shared = generationOf(generation.toStdString())->shared;
        within(
            slope(m,
                  "1 R4 LDS 1 R4 4 0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 "
                  "0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0"),
            shared.at(mhz), 3, "shared");
    }

    void wideSharedAccessesTakeMorePasses() {
        const auto passes = [&](const char* kind, int stride) {
            const auto got = simulate(machine("ampere"), {kernel(1, 32, 8192, [&](int, int) {
                                          return op(QString("1 R4 %1 1 R2 4 1 0x0 %2 0").arg(kind).arg(stride));
                                      })});
            return got ? got->front().counts.sharedPasses : 0;
        };
        QCOMPARE(passes("LDS", 4), quint64{1});
        QCOMPARE(passes("LDS.64", 8), quint64{2});
        QCOMPARE(passes("LDS.128", 16), quint64{4});
        QCOMPARE(passes("LDS", 128), quint64{32});
        QCOMPARE(passes("LDS", 0), quint64{1});
    }
    // Full warps of 16 bytes per lane from L1: as many bytes a cycle as the table says.
    void l1StreamsAtItsWidth() {
        for (const char* name : {"volta", "ampere", "ada"}) {
            const auto m = machine(name);
            const auto run = [&](int n) {
                return cycles(m, kernel(1, 512, 0, [&](int, int w) {
                                  QString lines;
                                  for (int i = 0; i < n; ++i)
                                      lines += op(QString("1 R%1 LDG.E.128.SYS 1 R2 16 1 0x%2 16 0")
                                                      .arg(10 + 4 * (i % 8))
                                                      .arg(0x40000000 + w * 512, 0, 16),
                                                  16 * (i % 8));
                                  return lines;
                              }));
            };
            const double bytes = 16 * 32 * 512.0 / (run(64) - run(32));
            const double want = generationOf(name)->l1Bytes;
            QVERIFY2(std::abs(bytes / want - 1) < 0.07, qPrintable(QString("%1: %2").arg(name).arg(bytes)));
        }
    }
    // Five memory instructions of a sub-core go back to back, then one in four cycles.
    void theQueueOfMemoryHoldsFive() {
        const auto run = [&](int n) {
            return cycles(machine("ampere"), kernel(1, 32, 1024, [&](int, int) {
                              QString lines;
                              for (int i = 0; i < n; ++i)
                                  lines += op(QString("0 STS 2 R2 R3 4 1 0x0 4 0"), 16 * (i % 8));
                              return lines;
                          }));
        };
        QCOMPARE((run(64) - run(32)) / 32, 4.0);
    }
    void theOtherSettingIsUntouched() {
        auto m = readMachine({ORRERY_TEST_DATA "/gpu/small", {}})->machine;
        QVERIFY(!m.modernCore);
        QCOMPARE(slope(m, "1 R10 FADD 2 R10 R6 0 0"), 9.0);
    }
};

QTEST_GUILESS_MAIN(TestGpuHardware)
#include "tst_gpu_hardware.moc"
