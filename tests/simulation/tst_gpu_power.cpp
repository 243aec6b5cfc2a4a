#include "base/text/table.h"
#include "simulation/power/counter_table.h"
#include "simulation/power/simulated.h"

#include <QtTest/QtTest>

#include <filesystem>
#include <fstream>

using namespace orrery;

// Watts of kernels from counts: the parts against a peer's, the whole against measured boards, and what must hold
// anyhow.
class TestGpuPower : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

    std::string file(const char* name, const std::string& text) const {
        const std::string path = folder_.filePath(name).toStdString();
        std::ofstream(path) << text;
        return path;
    }
    static std::string reference(const char* name) { return std::string(ORRERY_REFERENCE "/gpu/") + name; }
    static const GpuPowerTable& volta() {
        static const auto table = voltaPower();
        return *table;
    }
    static GpuActivity busy() {
        GpuActivity a;
        a.cycles = 1000, a.idleSms = 20, a.lanesPerWarp = 32;
        for (std::size_t i = 0; i < gpuEvents; ++i) a.counts[i] = 1000.0 * static_cast<double>(i + 1);
        return a;
    }

private slots:
    void theShippedTableReads() { QVERIFY2(voltaPower(), voltaPower() ? "" : voltaPower().error().message.c_str()); }

    // AccelWattch's own output on 20 kernels: counters of a sample of 500 cycles and the watts of each component.
    void everyLinearPartEqualsAPeers() {
        const std::string path = reference("accelsim/power_qv100.csv");
        if (!std::filesystem::exists(path)) QSKIP("the peer's power is not here");
        const auto read = readTable(
            path, {.area = "test",
                   .columns = numberColumns(
                       {"TOT_INST",   "FP_INT",  "DC_RH",       "DC_RM",       "DC_WM",      "SHRD_ACC",   "REG_RD",
                        "REG_WR",     "INT_ACC", "FPU_ACC",     "INT_MUL_ACC", "FP_MUL_ACC", "FP_EXP_ACC", "DP_MUL_ACC",
                        "TENSOR_ACC", "MEM_RD",  "MEM_PRE",     "L2_RH",       "L2_RM",      "L2_WH",      "L2_WM",
                        "NOC_A",      "PIPE_A",  "IDLE_CORE_N", "IBP",         "SCHEDP",     "RFP",        "INTP",
                        "INT_MULP",   "FPUP",    "FP_MULP",     "FP_EXP",      "DP_MULP",    "TENSORP",    "SHRDP",
                        "DCP",        "L2CP",    "NOCP",        "DRAMP",       "PIPEP",      "IDLE_COREP"},
                       0, 1e12)});
        QVERIFY2(read, read ? "" : read.error().message.c_str());
        // Its lane counters come multiplied by the tuned factor of their unit (SM7_QV100_accelwattch_sass_sim.xml).
        struct Column {
            const char* name;
            GpuEvent event;
            double factor;
        };
        const Column columns[] = {{"TOT_INST", GpuEvent::WarpInstructions, 1},
                                  {"FP_INT", GpuEvent::Scheduled, 1},
                                  {"REG_RD", GpuEvent::RegisterReads, 1},
                                  {"REG_WR", GpuEvent::RegisterWrites, 1},
                                  {"INT_ACC", GpuEvent::IntLanes, 14.98768151},
                                  {"INT_MUL_ACC", GpuEvent::IntMultiplyLanes, 0.115098047},
                                  {"FPU_ACC", GpuEvent::FpAddLanes, 0.529670751},
                                  {"FP_MUL_ACC", GpuEvent::FpMultiplyLanes, 0.089517055},
                                  {"FP_EXP_ACC", GpuEvent::ExpLanes, 0.36204415},
                                  {"DP_MUL_ACC", GpuEvent::DoubleMultiplyLanes, 0.1321288},
                                  {"TENSOR_ACC", GpuEvent::TensorLanes, 0.815454621},
                                  {"SHRD_ACC", GpuEvent::SharedPasses, 1},
                                  {"DC_RH", GpuEvent::L1ReadHits, 1},
                                  {"DC_RM", GpuEvent::L1ReadMisses, 1},
                                  {"DC_WM", GpuEvent::L1WriteMisses, 1},
                                  {"L2_RH", GpuEvent::L2ReadHits, 1},
                                  {"L2_RM", GpuEvent::L2ReadMisses, 1},
                                  {"L2_WH", GpuEvent::L2WriteHits, 1},
                                  {"L2_WM", GpuEvent::L2WriteMisses, 1},
                                  {"NOC_A", GpuEvent::NocPackets, 1},
                                  {"MEM_RD", GpuEvent::DramReads, 1},
                                  {"MEM_PRE", GpuEvent::DramPrecharges, 1},
                                  {"PIPE_A", GpuEvent::Pipeline, 1.0 / 320000}};
        const std::pair<const char*, GpuPowerPart> parts[] = {{"IBP", GpuPowerPart::InstructionBuffer},
                                                              {"SCHEDP", GpuPowerPart::Scheduler},
                                                              {"RFP", GpuPowerPart::Registers},
                                                              {"INTP", GpuPowerPart::Integer},
                                                              {"INT_MULP", GpuPowerPart::IntegerMultiply},
                                                              {"FPUP", GpuPowerPart::FloatAdd},
                                                              {"FP_MULP", GpuPowerPart::FloatMultiply},
                                                              {"FP_EXP", GpuPowerPart::SpecialFunctions},
                                                              {"DP_MULP", GpuPowerPart::Double},
                                                              {"TENSORP", GpuPowerPart::Tensor},
                                                              {"SHRDP", GpuPowerPart::SharedMemory},
                                                              {"DCP", GpuPowerPart::L1},
                                                              {"L2CP", GpuPowerPart::L2},
                                                              {"NOCP", GpuPowerPart::Network},
                                                              {"DRAMP", GpuPowerPart::Memory},
                                                              {"PIPEP", GpuPowerPart::Pipeline},
                                                              {"IDLE_COREP", GpuPowerPart::IdleSms}};
        for (std::size_t row = 0; row < read->size(); ++row) {
            GpuActivity a;
            a.cycles = 500;
            a.idleSms = (**read->column("IDLE_CORE_N"))[row];
            for (const Column& c : columns) a[c.event] = (**read->column(c.name))[row] / c.factor;
            const GpuPower power = gpuPower(volta(), a);
            for (const auto& [name, part] : parts) {
                const double theirs = (**read->column(name))[row];
                QVERIFY2(
                    std::abs(power[part] - theirs) <= 1e-4 * theirs + 1e-6,
                    qPrintable(
                        QString("row %1 %2: %3 W, theirs %4 W").arg(row + 1).arg(name).arg(power[part]).arg(theirs)));
            }
        }
    }

    // The board power of a Quadro GV100, of kernels whose counters hardware counted.
    void measuredKernelsAreWithinTheStatedError() {
        const std::string path = reference("accelwattch/accelwattch_counters_volta_measured.csv");
        if (!std::filesystem::exists(path)) QSKIP("the measured counters are not here");
        const auto kernels = readGpuCounters(path);
        QVERIFY2(kernels, kernels ? "" : kernels.error().message.c_str());
        const auto watts =
            readTable(reference("accelwattch/accelwattch_power_volta_measured.csv"),
                      {.area = "test", .columns = {textColumn("kernel"), {"mean_power_w", false, 0, 1000}}});
        QVERIFY(watts);
        double sum = 0;
        for (const CountedKernel& kernel : *kernels) {
            const auto& names = watts->texts[0];
            const auto found = std::find(names.begin(), names.end(), kernel.name) - names.begin();
            QVERIFY2(found < std::ssize(names), kernel.name.c_str());
            const double truth = (**watts->column("mean_power_w"))[static_cast<std::size_t>(found)];
            const double said = gpuPower(volta(), kernel, {1.417e9, 0}).total();
            sum += std::abs(said / truth - 1);
        }
        const double mean = sum / static_cast<double>(kernels->size());
        qInfo("%zu kernels, mean error %.1f %%", kernels->size(), 100 * mean);
        QVERIFY(mean < 0.082);
    }

    // AccelWattch's mean watts of kernels that our own simulator counts: it leaves the last part of a sample out, and
    // says more of memory controllers than it publishes.
    void powerOfSimulatedKernels_data() {
        QTest::addColumn<double>("theirs");
        QTest::addColumn<double>("within");
        const std::string path = reference("accelsim/power_qv100.csv");
        if (!std::filesystem::exists(path)) QSKIP("the peer's power is not here");
        const auto read =
            readTable(path, {.area = "test", .columns = {textColumn("case"), {"kernel_avg_power", false, 0, 1000}}});
        QVERIFY(read);
        for (const auto& [name, within] : {std::pair{"tput_ffma_w32", 0.01},
                                           {"tput_iadd3_w16", 0.01},
                                           {"vecadd_warm", 0.02},
                                           {"hgemm_sm70", 0.02},
                                           {"transpose_nopad", 0.02},
                                           {"l2_stream", 0.03},
                                           {"dram_copy_v4", 0.05}}) {
            const auto& names = read->texts[0];
            const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
            QVERIFY2(at < names.size(), name);
            QTest::newRow(name) << (**read->column("kernel_avg_power"))[at] << within;
        }
    }
    void powerOfSimulatedKernels() {
        QFETCH(double, theirs);
        QFETCH(double, within);
        const auto machine = gpusim::readMachine({reference("accelsim/configs/SM7_QV100"), {}});
        const auto list =
            gpusim::readKernelList(reference("accelsim/traces/") + QTest::currentDataTag() + "/kernelslist.g");
        QVERIFY(machine && list);
        const auto kernels = gpusim::simulate(machine->machine, *list, {});
        QVERIFY2(kernels, kernels ? "" : kernels.error().message.c_str());
        const double ours =
            gpuPower(volta(), activityOf(kernels->front(), machine->machine.sms), {machine->machine.coreMhz * 1e6, 0})
                .total();
        QVERIFY2(std::abs(ours / theirs - 1) < within, qPrintable(QString("%1 W, theirs %2 W").arg(ours).arg(theirs)));
    }

    void doubleTheEventsDoublesEveryPartThatCountsThem() {
        GpuActivity a = busy();
        const GpuPower once = gpuPower(volta(), a);
        for (double& each : a.counts) each *= 2;
        const GpuPower twice = gpuPower(volta(), a);
        for (std::size_t i = static_cast<std::size_t>(GpuPowerPart::InstructionBuffer); i < gpuPowerParts; ++i) {
            const double expected =
                once.watts[i] * (i == static_cast<std::size_t>(GpuPowerPart::MemoryControllers) ? 1 : 2);
            QVERIFY2(std::abs(twice.watts[i] - expected) < 1e-9 * (1 + expected), gpuPowerPartNames[i].data());
        }
    }
    // Energy of the events does not depend on how long they take.
    void energyOfEventsIsKeptWhenTheyTakeLonger() {
        GpuActivity a = busy();
        const auto joules = [&](double cycles, double clock) {
            a.cycles = cycles;
            const GpuPower p = gpuPower(volta(), a, {clock, 0});
            return (p[GpuPowerPart::Registers] + p[GpuPowerPart::Memory]) * cycles / clock;
        };
        QVERIFY(std::abs(joules(1000, 1e9) / joules(5000, 1.4e9) - 1) < 1e-12);
    }
    void voltageScalesAsStated() {
        const GpuPower at1 = gpuPower(volta(), busy()), at08 = gpuPower(volta(), busy(), {0, 0.8 * volta().voltage});
        QCOMPARE(at08[GpuPowerPart::Constant], at1[GpuPowerPart::Constant]);
        QVERIFY(std::abs(at08[GpuPowerPart::Static] / at1[GpuPowerPart::Static] - 0.8) < 1e-12);
        QVERIFY(std::abs(at08[GpuPowerPart::L1] / at1[GpuPowerPart::L1] - 0.64) < 1e-12);
    }
    // A kernel of one and a half samples: its last half counts with half the weight.
    void stretchesAreWeighedByTheirCycles() {
        GpuActivity first = busy(), second = busy();
        first.cycles = 500, second.cycles = 250;
        const GpuActivity both[] = {first, second};
        const double mean = gpuPower(volta(), both).total();
        const double expected =
            (gpuPower(volta(), first).total() * 500 + gpuPower(volta(), second).total() * 250) / 750;
        QVERIFY(std::abs(mean - expected) < 1e-9 * expected);
    }
    void anIdleGpuDrawsBoardAndIdleSms() {
        const GpuPower power = gpuPower(volta(), GpuActivity{});
        QVERIFY(std::abs(power.total() - (volta().constant + volta().memoryControllers + 80 * volta().idleSm)) < 1e-9);
    }
    void whatComputesDecidesWhatLeaks() {
        GpuActivity a;
        QCOMPARE(mixOf(a), GpuMix::Light);
        a[GpuEvent::L2ReadHits] = 1;
        QCOMPARE(mixOf(a), GpuMix::L2);
        a[GpuEvent::SharedPasses] = 1;
        QCOMPARE(mixOf(a), GpuMix::Shared);
        a[GpuEvent::IntLanes] = 1;
        QCOMPARE(mixOf(a), GpuMix::IntAdd);
        a[GpuEvent::IntMultiplyLanes] = 1;
        QCOMPARE(mixOf(a), GpuMix::Int);
        a[GpuEvent::FpMultiplyLanes] = 1;
        QCOMPARE(mixOf(a), GpuMix::IntFp);
        a[GpuEvent::TensorLanes] = 1;
        QCOMPARE(mixOf(a), GpuMix::IntFpTensor);
        a[GpuEvent::ExpLanes] = 1;
        QCOMPARE(mixOf(a), GpuMix::Several);
    }

    void aTableOfCountersIsReadByEitherName() {
        const auto own = readGpuCounters(file("own.csv", "kernel,cycles,warp_instructions,dram_reads\na,100,5,7\n"));
        QVERIFY2(own, own ? "" : own.error().message.c_str());
        QCOMPARE(own->front().activity[GpuEvent::DramReads], 7.0);
        QCOMPARE(own->front().pipelineBusy, -1.0);
        const auto published =
            readGpuCounters(file("pub.csv", "validation_name,Elapsed_Cycles,Pipeline_Duty,DRAM_Rd\nb,100,0.5,7\n"));
        QVERIFY2(published, published ? "" : published.error().message.c_str());
        QCOMPARE(published->front().name, std::string("b"));
        QCOMPARE(published->front().activity[GpuEvent::DramReads], 7.0);
        QCOMPARE(published->front().pipelineBusy, 0.5);
    }
    void badTablesAreRefusedWithTheirPlace() {
        const auto says = [&](const char* name, const std::string& text, const char* code, int line) {
            const auto read = readGpuCounters(file(name, text));
            if (read) return QString("%1 was read").arg(name);
            return read.error().code == code && read.error().place.line == line ? QString()
                                                                                : QString("%1: %2 at line %3")
                                                                                      .arg(name)
                                                                                      .arg(read.error().code.c_str())
                                                                                      .arg(read.error().place.line);
        };
        QCOMPARE(says("1.csv", "kernel,warp_instructions\na,1\n", "power.no-column", 1), QString());
        QCOMPARE(says("2.csv", "kernel,cycles\na,1\n", "power.no-column", 0), QString());
        QCOMPARE(says("3.csv", "kernel,cycles,pipeline_busy\na,1,0.1\nb,1,7\n", "power.bad-number", 3), QString());
        QCOMPARE(says("4.csv", "kernel,cycles,warp_instructions\na,-1,2\n", "power.bad-number", 2), QString());
        QVERIFY(!readGpuCounters(folder_.filePath("absent.csv").toStdString()));
    }
    void badEnergiesAreRefusedWithTheirPlace() {
        std::ifstream in(ORRERY_SOURCE "/presets/technology/gpu-power-volta.yaml");
        const std::string good((std::istreambuf_iterator<char>(in)), {});
        QVERIFY(readGpuPowerTable(good, "good"));
        for (const auto& [from, to] : {std::pair<std::string, std::string>{"  dram_reads: 2009.6749\n", ""},
                                       {"int_fp: [18.6179906, 0.645228013]", "int_fp: [18.6179906]"},
                                       {"clock: 1.132 GHz", "clock: fast"},
                                       {"sms: 80", "sms: -80"},
                                       {"gpu-power/1", "gpu-power/2"}}) {
            std::string bad = good;
            const auto at = bad.find(from);
            QVERIFY2(at != std::string::npos, from.c_str());
            bad.replace(at, from.size(), to);
            QVERIFY2(!readGpuPowerTable(bad, "bad"), from.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestGpuPower)
#include "tst_gpu_power.moc"
