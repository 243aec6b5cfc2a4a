// The interval model of GPUs: chains by the machine's numbers, stacks that add up, the same work as the cycle simulator
// counts, and cycles near its own.

#include "simulation/gpu/interval/interval_run.h"
#include "support/gpu_traces.h"

#include <QFile>
#include <QTest>

#include <cmath>
#include <functional>

using namespace orrery;
using namespace orrery::gpusim;

class TestGpuInterval : public QObject {
    Q_OBJECT
    orrery::test::GpuTraces traces_;
    Machine machine_;

    static QString op(const QString& text, int pc = 0) { return orrery::test::traceLine(text, pc); }
    TraceCommand kernel(int blocks, int threads, int shared, const std::function<QString(int, int)>& body) {
        return traces_.command({.blocks = blocks, .threads = threads, .shared = shared}, body);
    }
    IntervalResult run(const TraceCommand& command) {
        const auto got = simulateIntervals(machine_, {command});
        if (!got) {
            QTest::qFail(toText(got.error()).c_str(), __FILE__, __LINE__);
            return {};
        }
        return got->front();
    }
    static QString address(quint64 at) { return QString("0x%1").arg(at, 0, 16); }

private slots:
    void initTestCase() {
        const auto got = readMachine({ORRERY_TEST_DATA "/gpu/small", {}});
        QVERIFY(got);
        machine_ = got->machine;
    }

    void chainsCostWhatTheMachineSays_data() {
        QTest::addColumn<QString>("link");
        QTest::addColumn<double>("cycles");
        QTest::addRow("FADD") << "1 R10 FADD 2 R10 R6 0 0" << 4 + 5.0;
        QTest::addRow("MUFU") << "1 R10 MUFU.RCP 1 R10 0 0" << 18 + 5.0;
        QTest::addRow("LDS") << "1 R4 LDS 1 R4 4 1 0x0 4 0" << 22 + 5.0;
        QTest::addRow("LDG in L1") << "1 R4 LDG.E.SYS 1 R4 4 1 0x40000000 0 0" << 24 + 4.0;
    }
    void chainsCostWhatTheMachineSays() {
        QFETCH(QString, link);
        QFETCH(double, cycles);
        const auto chain = [&](int n) {
            return run(kernel(1, 32, 4096, [&](int, int) {
                QString lines;
                for (int i = 0; i < n; ++i) lines += op(link, 16);
                return lines;
            }));
        };
        const auto longer = chain(96), shorter = chain(32);
        QCOMPARE(static_cast<double>(longer.cycles - shorter.cycles) / 64, cycles);
        QVERIFY(longer.intervals >= 95);  // a chain waits before each link
        const double waits = longer.stack.dependency + longer.stack.memoryData;
        QVERIFY(waits > 0.8 * static_cast<double>(longer.cycles - longer.launchCycles));
    }

    // Loads, stores, shared memory, barriers, a fence: the same work, near the same cycles, and a stack that sums.
    void agreesWithTheCycleSimulator_data() {
        QTest::addColumn<int>("blocks");
        QTest::addColumn<int>("stride");
        for (const int blocks : {1, 24}) {
            for (const int stride : {4, 32, 128}) QTest::addRow("%d-%d", blocks, stride) << blocks << stride;
        }
    }
    void agreesWithTheCycleSimulator() {
        QFETCH(int, blocks);
        QFETCH(int, stride);
        const auto command = kernel(blocks, 256, 1024, [&](int b, int w) {
            QString lines;
            for (int i = 0; i < 6; ++i) {
                const quint64 at =
                    0x40000000u + static_cast<unsigned>((b * 8 + w) * 6 + i) * 32u * static_cast<unsigned>(stride);
                lines +=
                    op(QString("1 R%1 LDG.E.SYS 1 R2 4 1 %2 %3 0").arg(10 + i).arg(address(at)).arg(stride), 16 * i);
                lines += op(QString("1 R20 FFMA 3 R%1 R20 R21 0 0").arg(10 + i), 16 * i + 0x100);
                lines += op("1 R22 LDS 1 R20 4 1 0x0 8 0", 0x200);
                if (i % 3 == 2) lines += op("0 BAR.SYNC 0 0 0", 0x300);
                lines += op(QString("0 STG.E.SYS 2 R2 R20 4 1 %1 4 0").arg(address(at + 0x4000000)), 16 * i + 0x400);
            }
            return lines + op("0 MEMBAR.SC.GPU 0 0 0", 0x800);
        });
        const auto fast = run(command);
        const auto slow = simulate(machine_, {command});
        QVERIFY(slow);
        const auto& a = fast.counts;
        const auto& b = slow->front().counts;
        QCOMPARE(a.warpInstructions, b.warpInstructions);
        QCOMPARE(a.threadInstructions, b.threadInstructions);
        QCOMPARE(a.l1.reads, b.l1.reads);
        QCOMPARE(a.l1.writes, b.l1.writes);
        QCOMPARE(a.l2.writes, b.l2.writes);
        QCOMPARE(a.sharedPasses, b.sharedPasses);
        QCOMPARE(a.blocks, b.blocks);
        QCOMPARE(a.l1.reads, a.l1.readHits + a.l1.readPending + a.l1.readMisses);
        QCOMPARE(a.stallNoInstruction + a.stallDependence + a.stallUnit + a.warpInstructions, 4 * a.activeSmCycles);
        QCOMPARE(fast.blocksPerSm, slow->front().blocksPerSm);
        QCOMPARE(fast.stack.total(), static_cast<double>(fast.cycles));
        QCOMPARE(fast.stack.launch, static_cast<double>(fast.launchCycles));
        for (const auto& [name, cycles] : fast.stack.parts()) QVERIFY2(cycles >= 0, name.data());
        const double off = static_cast<double>(fast.cycles - fast.launchCycles) /
                               static_cast<double>(slow->front().cycles - slow->front().launchCycles) -
                           1;
        // A line per lane: rows queue at few banks, where batches by arrival are least like the real order.
        QVERIFY2(std::abs(off) < (stride == 128 ? 0.65 : 0.40), qPrintable(QString::number(off)));
        QCOMPARE(run(command).cycles, fast.cycles);
    }

    void copiesAtomicsAndGroupsEnd() {
        const auto got = run(kernel(4, 64, 2048, [&](int b, int w) {
            return op(QString("0 LDGSTS.E.BYPASS.128 2 R2 R4 16 1 %1 16 0")
                          .arg(address(0x40000000u + 4096u * static_cast<unsigned>(b * 2 + w)))) +
                   op("0 LDGDEPBAR 0 0 0", 16) + op("0 DEPBAR.LE 0 0 0", 32) +
                   op("1 R8 ATOMG.E.ADD 2 R2 R4 4 1 0x50000000 0 0", 48) + op("1 R9 IADD3 2 R8 R8 0 0", 64);
        }));
        QCOMPARE(got.counts.l2.atomics, quint64{4 * 2 * 32});
        QVERIFY(got.stack.memoryData + got.stack.memoryQueue > 100);
        QCOMPARE(got.stack.total(), static_cast<double>(got.cycles));
    }

    void warmsL2AndKeepsItBetweenKernels() {
        const auto load = kernel(1, 32, 0, [](int, int) {
            return op("1 R4 LDG.E.SYS 1 R2 4 1 0x40000000 4 0") + op("1 R5 FADD 2 R4 R4 0 0", 16);
        });
        const auto cold = simulateIntervals(machine_, {load, load});
        QVERIFY(cold);
        QCOMPARE(cold->at(0).counts.dramReads, quint64{4});
        QCOMPARE(cold->at(1).counts.dramReads, quint64{0});
        const auto warm = simulateIntervals(machine_, {{TraceCommand::Kind::Copy, 0x40000000, 4096, {}, {}}, load});
        QVERIFY(warm);
        QCOMPARE(warm->front().counts.l2.readHits, quint64{4});
        QCOMPARE(warm->front().cycles, cold->at(1).cycles);
    }

    void brokenTracesSayWhere() {
        for (const auto& [find, put] :
             {std::pair{"FADD", "FROB"}, std::pair{"#END_TB", ""}, std::pair{"= (1,1,1)", "= (3,1,1)"},
              std::pair{"-shmem = 0", "-shmem = 999999"}}) {
            const auto command = kernel(1, 32, 0, [](int, int) { return op("1 R10 FADD 2 R10 R6 0 0"); });
            QFile file(QString::fromStdString(command.file));
            QVERIFY(file.open(QIODevice::ReadWrite));
            QByteArray text = file.readAll();
            QVERIFY2(text.contains(find), find);
            file.resize(0), file.seek(0), file.write(text.replace(find, put)), file.close();
            const auto got = simulateIntervals(machine_, {command});
            QVERIFY2(!got && !got.error().message.empty(), find);
        }
    }

    // Recorded cases on one of their settings: the bands of the README, not those of a case.
    void nearTheCycleSimulatorOnRecordedCases() {
        const QString root = ORRERY_REFERENCE "/gpu/accelsim/";
        const auto m = readMachine({(root + "configs/SM75_RTX2060").toStdString(), {}});
        if (!m) QSKIP("the recorded cases are not here");
        double sum = 0;
        int kernels = 0;
        for (const char* name :
             {"lat_mufu", "chase_l2", "chase_dram", "vecadd_cold", "reduce_smem", "fence", "local_spill", "occ_regs128",
              "saxpy_stride2", "sgemm_tiled", "gather_random", "multi3_stream0"}) {
            const auto commands = readKernelList((root + "traces/" + name + "/kernelslist.g").toStdString());
            QVERIFY2(commands, name);
            const auto fast = simulateIntervals(m->machine, *commands);
            const auto slow = simulate(m->machine, *commands);
            QVERIFY2(fast && slow && fast->size() == slow->size(), name);
            for (std::size_t i = 0; i < fast->size(); ++i) {
                const auto& a = fast->at(i);
                const auto& b = slow->at(i);
                const double off = std::abs(static_cast<double>(a.cycles - a.launchCycles) /
                                                static_cast<double>(b.cycles - b.launchCycles) -
                                            1);
                QVERIFY2(off < 0.40, qPrintable(QString("%1: %2").arg(name).arg(off)));
                QCOMPARE(a.counts.warpInstructions, b.counts.warpInstructions);
                QCOMPARE(a.counts.l1.reads, b.counts.l1.reads);
                QCOMPARE(a.stack.total(), static_cast<double>(a.cycles));
                sum += off, ++kernels;
            }
        }
        QVERIFY2(sum / kernels < 0.12, qPrintable(QString::number(sum / kernels)));
    }
};

QTEST_GUILESS_MAIN(TestGpuInterval)
#include "tst_gpu_interval.moc"
