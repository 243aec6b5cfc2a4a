// Kernels of several streams on one GPU: that they overlap where the machine lets them and not where it does not, that
// each keeps its own counts, that a full machine makes the next one wait; and that any number of threads gives the same
// cycles and counts.

#include "simulation/gpu/crew.h"
#include "simulation/gpu/hardware_setting.h"
#include "simulation/gpu/pace.h"
#include "simulation/gpu/simulate.h"
#include "support/gpu_traces.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <thread>

#if defined(__linux__)
#include <sys/resource.h>
#include <unistd.h>
#endif

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
    static std::vector<KernelResult> run(const Machine& machine, const std::vector<QString>& files, int threads = 1,
                                         std::uint64_t* shared = nullptr) {
        std::vector<TraceCommand> list;
        for (const QString& file : files) list.push_back({TraceCommand::Kind::Kernel, 0, 0, file.toStdString(), {}});
        SimulateOptions options;
        options.threads = threads, options.sharesAlways = shared != nullptr, options.sharedSteps = shared;
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
    // On real hardware, of two kernels that wait for a third's blocks the one launched first goes first, whichever
    // place among those that run it has: the second of stream 2 is launched before that of stream 1, whose first ends
    // later.
    void blocksGoInTheOrderOfTheLaunches() {
        Machine m = machine({"-gpgpu_n_clusters", "1"});
        useHardwareSetting(m, *generationOf("volta"));
        QCOMPARE(m.concurrentKernels, 128);
        m.launchLatency = 100, m.blockLaunchLatency = 0;
        const auto next = [&](int stream) { return chain(in(stream, 1, 512), 60); };
        const auto got = run(m, {chain(in(1), 40), chain(in(2), 4), chain(in(3, 100, 512), 60), next(1), next(2)});
        const auto &third = got[2], &later = got[3], &sooner = got[4];
        QVERIFY(sooner.startCycle < later.startCycle);
        // Both were open while the third still had blocks to place.
        QVERIFY2(later.startCycle + later.launchCycles + 1000 < third.endCycle,
                 qPrintable(QString("%1 of %2").arg(later.startCycle + later.launchCycles).arg(third.endCycle)));
        QVERIFY2(sooner.endCycle < later.endCycle,
                 qPrintable(QString("%1 and %2").arg(sooner.endCycle).arg(later.endCycle)));
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
    // The same where steps are shared whether that pays or not, and some were.
    void sharedStepsAreTheSame() {
        const auto wide = concurrent({"-gpgpu_n_clusters", "32", "-gpgpu_n_mem", "8"});
        const std::vector<QString> files{mixed(in(1, 32, 64), 0x40000000, 1), mixed(in(2, 16, 32), 0x41000000, 1)};
        std::uint64_t shared = 0;
        const auto one = run(wide, files), more = run(wide, files, 2, &shared);
        QVERIFY2(shared > 10, qPrintable(QString::number(shared)));
        for (std::size_t i = 0; i < files.size(); ++i) {
            QCOMPARE(more[i].endCycle, one[i].endCycle);
            QVERIFY(std::memcmp(&more[i].counts, &one[i].counts, sizeof(Counters)) == 0);
        }
    }
    // Each member does its part once per step, the caller's thread as member 0; nobody passes a barrier before all have
    // come to it.
    void aCrewMeets() {
        Crew crew(4);
        QCOMPARE(crew.size(), std::size_t{4});
        std::array<int, 4> done{};
        std::atomic<int> before{0}, early{0}, elsewhere{0};
        const auto caller = std::this_thread::get_id();
        for (int again = 0; again < 2; ++again) {
            crew.run(
                [&] {
                    for (int i = 0; i < 500; ++i) {
                        before = 0;
                        crew.together();
                    }
                },
                [&](std::size_t member) {
                    ++done[member], ++before;
                    crew.meet();
                    if (before != 4) ++early;
                    if ((member == 0) != (std::this_thread::get_id() == caller)) ++elsewhere;
                });
        }
        QCOMPARE(done, (std::array<int, 4>{1000, 1000, 1000, 1000}));
        QCOMPARE(early.load(), 0);
        QCOMPARE(elsewhere.load(), 0);
    }
    // Whoever throws, before a barrier or behind it: the caller gets it, and the crew works on.
    void anExceptionOfACrewReachesTheCaller() {
        Crew crew(3);
        for (std::size_t who = 0; who < 3; ++who) {
            for (const bool early : {true, false}) {
                bool caught = false;
                crew.run(
                    [&] {
                        try {
                            crew.together();
                        } catch (const std::bad_alloc&) {
                            caught = true;
                        }
                    },
                    [&](std::size_t member) {
                        if (early && member == who) throw std::bad_alloc();
                        crew.meet();
                        if (member == who) throw std::bad_alloc();
                    });
                QVERIFY(caught);
                std::atomic<int> parts{0};
                crew.run([&] { crew.together(); }, [&](std::size_t) { ++parts; });
                QCOMPARE(parts.load(), 3);
            }
        }
    }
    // Where the system gives no more threads, those that it gave do the work: here there is no memory for their stacks.
    void aCrewTakesTheThreadsThatItGets() {
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        QFile usage("/proc/self/statm");
        QVERIFY(usage.open(QIODevice::ReadOnly));
        const auto pages = usage.readAll().split(' ').front().toULongLong();
        rlimit before{};
        QCOMPARE(getrlimit(RLIMIT_AS, &before), 0);
        rlimit tight = before;
        tight.rlim_cur = pages * quint64(sysconf(_SC_PAGESIZE)) + (quint64{64} << 20);
        QCOMPARE(setrlimit(RLIMIT_AS, &tight), 0);
        std::atomic<std::size_t> parts{0};
        std::size_t size = 0;
        {
            Crew crew(256);
            size = crew.size();
            crew.run([&] { crew.together(); }, [&](std::size_t) { ++parts; });
        }
        QCOMPARE(setrlimit(RLIMIT_AS, &before), 0);
        QVERIFY2(size >= 1 && size < 256, qPrintable(QString::number(size)));
        QCOMPARE(parts.load(), size);
#else
        QSKIP("limits of memory are set as Linux does, and not under a sanitiser");
#endif
    }
    // More blocks than fit, and an L1 that refuses every read: named, and not run for ever.
    void aMachineThatStandsStillIsNamed() {
        Machine m = machine();
        m.l1.missQueue = 1;
        const auto file = mixed({400, 1024}, 0x40000000);
        SimulateOptions options;
        options.mostCycles = 1000000;
        const auto got = simulate(m, {{TraceCommand::Kind::Kernel, 0, 0, file.toStdString(), {}}}, options);
        QVERIFY(!got);
        QVERIFY2(toText(got.error()).find("waits for ever") != std::string::npos, toText(got.error()).c_str());
        // Such a machine is not read.
        const auto read =
            readMachine({ORRERY_TEST_DATA "/gpu/small", {"-gpgpu_cache:dl1", "S:4:128:64,L:T:m:L:L,A:256:8,1:0,32"}});
        QVERIFY(!read);
        QVERIFY2(toText(read.error()).find("queue of misses") != std::string::npos, toText(read.error()).c_str());
    }
    // The L2 of every die is emptied between two kernels, so there are no two at a time, and a warning says so.
    void diesRunOneKernelAtATime() {
        const auto read = readMachine(
            {ORRERY_TEST_DATA "/gpu/small",
             {"-gpgpu_concurrent_kernel_sm", "1", "-gpgpu_n_sub_partition_per_mchannel", "2", "-dies", "2"}});
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        QCOMPARE(read->machine.concurrentKernels, 1);
        QVERIFY(std::any_of(read->warnings.begin(), read->warnings.end(), [](const Diagnostic& one) {
            return one.message.find("one at a time") != std::string::npos;
        }));
    }
    // A stop ends the list: the next kernel does not begin beside the blocks of the one that was stopped.
    void aStopEndsTheList() {
        const std::string file = mixed({2000, 256}, 0x40000000).toStdString();
        const TraceCommand one{TraceCommand::Kind::Kernel, 0, 0, file, {}};
        std::stop_source stop;
        stop.request_stop();
        SimulateOptions options;
        options.stop = stop.get_token(), options.keepsStopped = true;
        const auto got = simulate(machine(), {one, one}, options);
        QVERIFY2(got, got ? "" : toText(got.error()).c_str());
        QCOMPARE(got->size(), std::size_t{1});
        QVERIFY(got->front().stopped && got->front().finishedBlocks < 2000);
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
