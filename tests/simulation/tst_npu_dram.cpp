// The pipe that stands for main memory, held to the same programs on memory with bank timing.

#include "simulation/npu/dram_memory.h"
#include "support/npu_fixture.h"

using namespace orrery;
using namespace orrery::npu_fixture;

namespace {

DramConfig hbm2(int channels) {
    DramConfig config;
    config.standard = *dramStandard("hbm2-2000");
    config.channels = channels;
    config.mapping = "RoBaRaCoBgPcCh";
    return config;
}

NpuMachine core() {
    NpuMachine m;
    m.height = m.width = 128;
    m.arrays = 2;
    m.scratchpad = 16 << 20;
    m.vectorOps = 2048;
    m.hertz = 940e6;
    m.memoryLatency = 94;
    return m;
}

std::int64_t cyclesOf(const KernelWork& work, const NpuMachine& machine, MemoryModel& memory) {
    NpuProgram program;
    if (!lower(work, machine, program)) qFatal("not lowered");
    NpuSimulation simulation(machine, memory);
    const auto run = simulation.run(program);
    if (!run) qFatal("%s", toText(run.error()).c_str());
    return run->cycles;
}

}  // namespace

class TestNpuDram : public QObject {
    Q_OBJECT
private slots:
    void aStreamGetsAPlausibleShare() {
        const auto share = sustainedShareOf("HBM2");
        QVERIFY(share);
        QCOMPARE(share->standard, std::string("hbm2-2000"));
        // Refresh alone takes tRFC / tREFI = 260 / 3900 ns from the peak.
        QVERIFY(share->share > 0.75 && share->share < 1 - 0.26 / 3.9);
        auto poor = hbm2(1);
        poor.mapping = "RoBaRaCoCh";  // neighbours in one bank group: tCCD_L
        QVERIFY(*sustainedShare(poor) < 0.6);
        QVERIFY(!sustainedShareOf("") && !sustainedShareOf("core memory"));
        QVERIFY(sustainedShareOf("DDR4-3200"));
    }
    void thePipeIsWithinTenPercentOfBanks_data() {
        QTest::addColumn<int>("kind");
        QTest::newRow("sweep") << 0;
        QTest::newRow("copy") << 1;
        QTest::newRow("product bound by arrays") << 2;
        QTest::newRow("product bound by memory") << 3;
    }
    void thePipeIsWithinTenPercentOfBanks() {
        QFETCH(int, kind);
        ProductSpec square{.lines = 512, .channels = 256, .columns = 512};
        square.movingBytes = square.keptBytes = 1 << 18;
        square.resultBytes = 1 << 19;
        ProductSpec thin{.lines = 1024, .channels = 64, .columns = 64};
        thin.movingBytes = thin.resultBytes = 1024 * 256;
        thin.keptBytes = 64 * 256;
        const KernelWork works[] = {VectorSpec{1 << 19, 0, 1000}, VectorSpec{1 << 18, 1 << 18, 1000}, square, thin};
        const KernelWork& work = works[kind];
        NpuMachine machine = core();
        const auto config = hbm2(4);
        const double peak = config.standard.peakBandwidth() * config.channels / machine.hertz;
        machine.memoryBytes = peak;
        const auto banks = bankMemory(config, machine.hertz);
        QVERIFY(banks);
        const double slow = static_cast<double>(cyclesOf(work, machine, **banks));
        machine.memoryBytes = peak * sustainedShareOf("HBM2")->share;
        const auto pipe = pipeMemory(machine.memoryBytes, machine.memoryLatency);
        const double quick = static_cast<double>(cyclesOf(work, machine, *pipe));
        qInfo("banks %.0f cycles, pipe %.0f (%+.1f %%)", slow, quick, 100 * (quick / slow - 1));
        QVERIFY(std::fabs(quick / slow - 1) <= 0.10);
    }
    void banksAreTheSameTwice() {
        const VectorSpec work{1 << 18, 1 << 18, 1000};
        const auto once = [&] {
            auto banks = bankMemory(hbm2(2), 940e6);
            return cyclesOf(work, core(), **banks);
        };
        QCOMPARE(once(), once());
    }
};

QTEST_APPLESS_MAIN(TestNpuDram)
#include "tst_npu_dram.moc"
