// Kernels of several streams on one GPU: that they overlap where the machine lets them and not where it does not, that
// each keeps its own counts, that a full machine makes the next one wait; and that any number of threads gives the same
// cycles and counts.

#include "simulation/gpu/pace.h"
#include "simulation/gpu/simulate.h"
#include "support/gpu_traces.h"

#include <QTest>

#include <algorithm>
#include <cstring>

using namespace orrery;
using namespace orrery::gpusim;
using orrery::test::GpuTraces;

class TestGpuStreams : public QObject {
    Q_OBJECT
    using Shape = GpuTraces::Shape;
    GpuTraces traces_;

    static QString op(const char* text, int pc = 0) { return orrery::test::traceLine(text, pc); }
    static Machine machine(std::vector<std::string> options = {}) {
        const auto got = readMachine({ORRERY_TEST_DATA "/gpu/small", options});
        if (!got) qFatal("%s", toText(got.error()).c_str());
        return got->machine;
    }
    static Machine concurrent(std::vector<std::string> options = {}) {
        options.insert(options.end(), {"-gpgpu_concurrent_kernel_sm", "1"});
        return machine(std::move(options));
    }
    // A warp of dependent additions: 9 cycles each, and nothing that other SMs share.
    QString chain(Shape shape, int links) {
        return traces_.write(GpuTraces::trace(shape, [&](int, int) {
            QString lines;
            for (int i = 0; i < links; ++i) lines += op("1 R10 FADD 2 R10 R6 0 0", 16);
            return lines;
        }));
    }
    // Loads, arithmetic, stores and barriers over addresses from `base` on.
    QString mixed(Shape shape, int base, int steps = 6) {
        return traces_.write(GpuTraces::trace(shape, [&](int b, int w) {
            QString lines;
            for (int i = 0; i < steps; ++i) {
                const int at = base + ((b * 7 + w * 3 + i * 5) % 512) * 256;
                lines +=
                    op(qPrintable(QString("1 R%1 LDG.E.SYS 1 R2 4 1 0x%2 8 0").arg(10 + i).arg(at, 0, 16)), 16 * i);
                lines += op(qPrintable(QString("1 R20 FFMA 3 R%1 R20 R21 0 0").arg(10 + i)), 16 * i + 128);
                if (i % 3 == 2) lines += op("0 BAR.SYNC 0 0 0", 0x300);
                lines += op(qPrintable(QString("0 STG.E.SYS 2 R2 R20 4 1 0x%1 4 0").arg(at + 0x1000000, 0, 16)),
                            16 * i + 0x400);
            }
            return lines;
        }));
    }
    static std::vector<KernelResult> run(const Machine& machine, const std::vector<QString>& files, int threads = 1) {
        std::vector<TraceCommand> list;
        for (const QString& file : files) list.push_back({TraceCommand::Kind::Kernel, 0, 0, file.toStdString(), {}});
        SimulateOptions options;
        options.threads = threads;
        auto got = simulate(machine, list, options);
        if (!got) {
            QTest::qFail(toText(got.error()).c_str(), __FILE__, __LINE__);
            return std::vector<KernelResult>(files.size());
        }
        return *got;
    }
    static Shape in(int stream, int blocks = 1, int threads = 32, int shared = 0) {
        return {blocks, threads, shared, 32, stream};
    }

private slots:
    // Two kernels of one block each need nothing of one another: the longer one's time. In one stream, or on a machine
    // that runs one kernel at a time, as Accel-Sim's by default, the sum of both.
    void smallKernelsOfTwoStreamsTakeTheLonger() {
        const QString a = chain(in(0), 100), b = chain(in(7), 300), sameStream = chain(in(0), 300);
        const auto alone = [&](const QString& file) { return run(concurrent(), {file}).front().cycles; };
        const auto shorter = alone(a), longer = alone(b);
        QVERIFY(longer > shorter + 200 * 9 - 50);
        const auto both = run(concurrent(), {a, b});
        QCOMPARE(both[0].startCycle, quint64{0});
        QCOMPARE(both[1].startCycle, quint64{0});
        QCOMPARE(both[0].cycles, shorter);
        QCOMPARE(std::max(both[0].endCycle, both[1].endCycle), longer);
        QVERIFY(both[0].overlaps && both[1].overlaps);
        for (const auto& [m, second] : {std::pair{concurrent(), sameStream}, std::pair{machine(), b}}) {
            const auto after = run(m, {a, second});
            QCOMPARE(after[1].startCycle, after[0].endCycle);
            QCOMPARE(after[1].endCycle, shorter + longer);
            QVERIFY(!after[0].overlaps && !after[1].overlaps);
        }
    }
    void aStreamStaysInOrder() {
        const auto got = run(concurrent(), {chain(in(1), 200), chain(in(1), 20), chain(in(2), 20), chain(in(2), 20)});
        QCOMPARE(got[1].startCycle, got[0].endCycle);
        QCOMPARE(got[3].startCycle, got[2].endCycle);
        QCOMPARE(got[2].startCycle, quint64{0});
        QVERIFY(got[3].endCycle < got[0].endCycle);
        // Only so many at a time: the window holds the first two, both of stream 1.
        const auto two = run(concurrent({"-gpgpu_max_concurrent_kernel", "2"}),
                             {chain(in(1), 200), chain(in(1), 20), chain(in(2), 20)});
        QCOMPARE(two[2].startCycle, two[0].endCycle);
    }
    // Blocks of 1,024 threads fill an SM each. Eight of them are two rounds on four SMs, and the other kernel's block
    // waits until the last of them has a place: then it needs room, which comes with the end of the second round.
    void aFullMachineMakesTheNextOneWait() {
        const auto full = chain(in(1, 8, 1024), 100), small = chain(in(2), 50);
        const auto alone = run(concurrent(), {full}).front().cycles;
        const auto got = run(concurrent(), {full, small});
        QCOMPARE(got[0].cycles, alone);
        const auto work = run(concurrent(), {small}).front().cycles - 100;
        QVERIFY(got[1].endCycle > got[0].endCycle);
        // It starts when the first of the last round ends, which is at most a few cycles before all do.
        QVERIFY(got[1].endCycle >= got[0].endCycle + work - 100 && got[1].endCycle <= got[0].endCycle + work);
        // Blocks of half an SM leave room beside them: no waiting.
        const auto half = chain(in(1, 4, 512), 100);
        const auto beside = run(concurrent(), {half, small});
        QVERIFY(beside[1].endCycle < beside[0].endCycle);
    }
    // A block with shared memory cannot join an SM that has given all of it to L1.
    void sharedMemoryIsDividedWhileTheSmIsEmpty() {
        const auto plain = chain(in(1, 4), 300), shared = chain(in(2, 1, 32, 16384), 10);
        const auto got = run(concurrent(), {plain, shared});
        QVERIFY(got[1].endCycle > got[0].endCycle);
        // Where an SM is free, it takes it at once.
        const auto three = run(concurrent(), {chain(in(1, 3), 300), shared});
        QCOMPARE(three[1].cycles, run(concurrent(), {shared}).front().cycles);
    }
    // What each kernel asks for does not depend on who runs beside it; scheduler cycles and DRAM add up over all.
    void countsAreEachKernelsOwn() {
        const std::vector<QString> files{mixed(in(1, 24, 256), 0x40000000), mixed(in(2, 40, 128), 0x50000000, 4),
                                         mixed(in(3, 9, 64, 2048), 0x40000000, 5)};
        const auto together = run(concurrent(), files);
        std::uint64_t active = 0, turns = 0, dram = 0, misses = 0, blocks = 0, busiest = 0, sum = 0;
        for (std::size_t i = 0; i < files.size(); ++i) {
            const auto lone = run(concurrent(), {files[i]}).front();
            const Counters &a = together[i].counts, &b = lone.counts;
            QCOMPARE(a.warpInstructions, b.warpInstructions);
            QCOMPARE(a.threadInstructions, b.threadInstructions);
            QCOMPARE(a.memoryInstructions, b.memoryInstructions);
            QCOMPARE(a.registerReads, b.registerReads);
            QVERIFY(a.lanes == b.lanes);
            QCOMPARE(a.blocks, b.blocks);
            QCOMPARE(a.l1.reads, b.l1.reads);
            QCOMPARE(a.l1.writes, b.l1.writes);
            QCOMPARE(a.l2.writes, a.l1.writes);
            QCOMPARE(a.l1.reads, a.l1.readHits + a.l1.readPending + a.l1.readMisses);
            QCOMPARE(together[i].finishedBlocks, together[i].header.blocks());
            active += a.activeSmCycles, dram += a.dramReads, misses += a.l2.readMisses, blocks += a.blocks;
            turns += a.warpInstructions + a.stallNoInstruction + a.stallDependence + a.stallUnit;
            busiest = std::max(busiest, lone.cycles), sum += lone.cycles;
        }
        QCOMPARE(turns, 4 * active);
        QCOMPARE(dram, misses);
        QCOMPARE(blocks, quint64{24 + 40 + 9});
        std::uint64_t last = 0;
        for (const auto& one : together) last = std::max(last, one.endCycle);
        // They share the machine: not as quick as the longest alone, nor as slow as one after the other.
        QVERIFY2(last > busiest && last < sum, qPrintable(QString("%1 of %2 to %3").arg(last).arg(busiest).arg(sum)));
    }
    // A kernel alone costs the same whether others could run beside it or not.
    void aLoneKernelDoesNotCareForStreams() {
        const auto file = mixed(in(4, 24, 250, 1024), 0x40000000);
        const auto a = run(machine(), {file}).front(), b = run(concurrent(), {file}).front();
        QCOMPARE(b.cycles, a.cycles);
        QVERIFY(std::memcmp(&a.counts, &b.counts, sizeof(Counters)) == 0);
    }
    void brokenKernelsOfAStreamAreNamed() {
        const auto good = chain(in(1), 20);
        const auto large = chain(in(2, 1, 32, 99999), 20);
        SimulateOptions options;
        const auto got = simulate(concurrent(),
                                  {{TraceCommand::Kind::Kernel, 0, 0, good.toStdString(), {}},
                                   {TraceCommand::Kind::Kernel, 0, 0, large.toStdString(), {}}},
                                  options);
        QVERIFY(!got && toText(got.error()).find("does not fit") != std::string::npos);
    }

    // Steps of 10 µs alone: shared where that takes 6, not where it takes 60, and left alone soon after the computer
    // has become busy.
    void sharingIsLeftWhereItDoesNotPay() {
        Pace pace;
        const auto run = [&](double shared, int steps) {
            double time = 0;
            for (int i = 0; i < steps; ++i) {
                const double took = pace.shares() ? shared : 10e3;
                pace.took(100, took);
                time += took;
            }
            return time / steps / 10e3;
        };
        const double idle = run(6e3, 50000);
        QVERIFY2(idle > 0.6 && idle < 0.65, qPrintable(QString::number(idle)));
        const double busy = run(60e3, 50000);
        QVERIFY2(busy > 1 && busy < 1.02, qPrintable(QString::number(busy)));
        const double again = run(6e3, 500000);
        QVERIFY2(again < 0.8, qPrintable(QString::number(again)));
    }
    // 32 SMs and 8 channels, so that steps are worth sharing; two streams, and clocks that are not one another's.
    void anyNumberOfThreadsIsTheSame_data() {
        QTest::addColumn<QString>("clocks");
        QTest::addRow("one clock") << "1000:1000:1000:800";
        QTest::addRow("four clocks") << "1410:1300:1512:876";
    }
    void anyNumberOfThreadsIsTheSame() {
        QFETCH(QString, clocks);
        const auto wide =
            concurrent({"-gpgpu_n_clusters", "32", "-gpgpu_n_mem", "8", "-gpgpu_clock_domains", clocks.toStdString()});
        const std::vector<QString> files{mixed(in(1, 300, 128), 0x40000000), mixed(in(2, 100, 256), 0x41000000, 4),
                                         mixed(in(1, 64, 64, 2048), 0x42000000)};
        const auto one = run(wide, files);
        QVERIFY(one[0].cycles > 500);
        for (const int threads : {2, 3, 8}) {
            const auto more = run(wide, files, threads);
            for (std::size_t i = 0; i < files.size(); ++i) {
                QCOMPARE(more[i].endCycle, one[i].endCycle);
                QVERIFY(std::memcmp(&more[i].counts, &one[i].counts, sizeof(Counters)) == 0);
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestGpuStreams)
#include "tst_gpu_streams.moc"
