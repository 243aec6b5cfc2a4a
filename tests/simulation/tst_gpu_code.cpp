// Instruction and constant caches and the register-file cache of the modern core, against sequences worked out by hand
// and a measured card.

#include "simulation/gpu/code_path.h"
#include "simulation/gpu/hardware_setting.h"
#include "simulation/gpu/simulate.h"
#include "support/gpu_traces.h"

#include <QTest>

#include <cmath>
#include <functional>
#include <numeric>

using namespace orrery;
using namespace orrery::gpusim;

class TestGpuCode : public QObject {
    Q_OBJECT
    orrery::test::GpuTraces traces_;

    static QString op(const QString& text, int pc) { return orrery::test::traceLine(text, pc); }
    TraceCommand kernel(int threads, const std::function<QString(int)>& body, int blocks = 1,
                        const char* name = "straight", int stream = 0) {
        return traces_.command({.blocks = blocks,
                                .threads = threads,
                                .stream = stream,
                                .version = 86,
                                .name = name,
                                .ends = false},
                               [&](int, int warp) { return body(warp); });
    }
    // `n` instructions side by side in memory, the last of them EXIT.
    static QString straight(int n, const char* what = "1 R%1 FADD 2 R4 R5 0 0", int first = 0) {
        QString lines;
        for (int i = 0; i + 1 < n; ++i) lines += op(QString(what).arg(10 + i % 4), 16 * (first + i));
        return lines + op("0 EXIT 0 0 0", 16 * (first + n - 1));
    }
    static Machine machine(const char* generation, std::vector<std::string> options = {}) {
        auto m = readMachine({ORRERY_TEST_DATA "/gpu/small", std::move(options)})->machine;
        useHardwareSetting(m, *generationOf(generation));
        m.generation.fp32.initiation = m.generation.alu.initiation = 1;
        return m;
    }
    // Caches of our own: L0, L1 and shared as bytes, ways, cycles; L2; lines ahead.
    static Machine with(const char* code, const char* constants = "0,1,0,0,1,0,4", bool cold = true) {
        return machine("ampere-ga10x",
                       {"-core_code", code, "-core_constants", constants, "-cold_code", cold ? "1" : "0"});
    }
    std::vector<KernelResult> run(const Machine& m, const std::vector<TraceCommand>& commands, int threads = 1) {
        SimulateOptions options;
        options.threads = threads, options.sharesAlways = threads > 1;
        const auto got = simulate(m, commands, options);
        if (got) return *got;
        QTest::qFail(toText(got.error()).c_str(), __FILE__, __LINE__);
        return std::vector<KernelResult>(commands.size());
    }
    double cycles(const Machine& m, const TraceCommand& command) {
        const auto one = run(m, {command}).front();
        return static_cast<double>(one.cycles - one.launchCycles);
    }
    static void addsUp(const KernelResult& one) {
        const auto& n = one.counts;
        QCOMPARE(
            n.warpInstructions + n.stallNoInstruction + n.stallDependence + n.stallUnit + n.stallCode + n.stallConstant,
            4 * n.activeSmCycles);
    }
    // From one instruction of a warp to the next, over many.
    double pace(const Machine& m, const std::function<QString(int)>& one, int threads = 32) {
        const auto at = [&](int n) {
            return cycles(m, kernel(threads, [&](int) {
                              QString lines;
                              for (int i = 0; i < n; ++i) lines += op(one(i), 16 * (i % 8));
                              return lines + op("0 EXIT 0 0 0", 128);
                          }));
        };
        return (at(264) - at(136)) / 128;
    }

private slots:
    // Without prefetching a line that misses costs what its cache is away, every time.
    void eachMissingLineCostsItsDistance() {
        const auto code = kernel(32, [](int) { return straight(40); });
        const double there = cycles(with("0,1,0,0,1,0,0,1,0,0,0"), code);
        for (const int far : {17, 100, 285}) {
            const auto m = with(qPrintable(QString("4096,4,0,8192,4,9,0,1,0,%1,0").arg(far)));
            QCOMPARE(cycles(m, code), there + 5 * far);
            const auto one = run(m, {code}).front();
            QCOMPARE(one.counts.codeRequests, quint64{5});
            QCOMPARE(one.counts.codeFromL2, quint64{5});
            // The one warp's scheduler waits; the three without a warp have none to wait for.
            QCOMPARE(one.counts.stallCode, quint64(5 * far));
            addsUp(one);
        }
        // Left behind by an earlier run, they come from L1.
        QCOMPARE(cycles(with("4096,4,0,8192,4,9,0,1,0,285,0", "0,1,0,0,1,0,4", false), code), there);
        QCOMPARE(cycles(with("512,4,0,8192,4,9,0,1,0,285,0", "0,1,0,0,1,0,4", false), code), there + 5 * 9);
    }
    // Lines asked for in advance arrive as they are needed: one line ahead hides the time of the line before.
    void theStreamBufferHidesWhatItCan() {
        constexpr int lines = 10, far = 100;
        const auto code = kernel(32, [](int) { return straight(8 * lines); });
        const double there = cycles(with("0,1,0,0,1,0,0,1,0,0,0"), code);
        const auto at = [&](int ahead) {
            return cycles(with(qPrintable(QString("4096,4,0,8192,4,9,0,1,0,%1,%2").arg(far).arg(ahead))), code);
        };
        // The second line is asked for a cycle behind the first, so it is there in time; the third when the second is
        // taken, eight cycles before it is needed.
        QCOMPARE(at(1), there + far + (lines - 2) * (far - 8));
        // Deep enough, only the first costs.
        QCOMPARE(at(16), there + far);
        double last = at(0);
        for (const int ahead : {1, 2, 4, 8, 16}) {
            QVERIFY(at(ahead) <= last);
            last = at(ahead);
        }
    }
    // A loop that fits the L0 misses once; one line more than its ways in a set, and each pass misses that set.
    void loopsMissBySets() {
        constexpr int far = 50;
        // Two sets of two ways: four lines.
        const auto m = with(qPrintable(QString("512,2,0,8192,4,9,0,1,0,%1,0").arg(far)));
        const auto loop = [&](int lines, int passes) {
            return kernel(32, [=](int) {
                QString text;
                for (int pass = 0; pass < passes; ++pass) {
                    for (int i = 0; i < 8 * lines; ++i)
                        text += op(QString("1 R%1 FADD 2 R4 R5 0 0").arg(10 + i % 4), 16 * i);
                }
                return text + op("0 EXIT 0 0 0", 16 * 8 * lines - 16);
            });
        };
        const auto missed = [&](int lines, int passes) {
            return run(m, {loop(lines, passes)}).front().counts.codeRequests;
        };
        QCOMPARE(missed(4, 10), quint64{4});
        // Lines 0, 2 and 4 share a set of two: all three miss in every pass. EXIT is in the last line, just used.
        QCOMPARE(missed(5, 10), quint64(3 * 10 + 2));
        QCOMPARE(missed(6, 10), quint64(6 * 10));
    }
    // An RTX 3060: FFMAs in a row, twice over, in the second launch; cycles of the second half, published as cycles
    // over groups of four (sources in the table of generations). The caches of its generation answer.
    void straightLineCodeFollowsAMeasuredCard_data() {
        QTest::addColumn<int>("groups");
        QTest::addColumn<double>("measured");
        for (const auto& [groups, measured] : std::initializer_list<std::pair<int, double>>{
                 {256, 1030}, {504, 2022}, {576, 3809}, {640, 5343}, {832, 6943}, {1280, 22754}, {2048, 36501}})
            QTest::addRow("%d", groups) << groups << measured;
    }
    void straightLineCodeFollowsAMeasuredCard() {
        QFETCH(int, groups);
        QFETCH(double, measured);
        auto m = machine("ampere-ga10x", {"-cold_code", "1"});
        m.sms = 1;  // both launches on one
        const auto code = kernel(32, [&](int) { return straight(2 * 4 * groups, "1 R%1 FFMA 2 R4.reuse R%1 0 0"); });
        const auto both = run(m, {code, code});
        const double second = static_cast<double>(both[1].cycles - both[1].launchCycles) / 2;
        addsUp(both[1]);
        const double off = second / measured - 1;
        QVERIFY2(std::abs(off) < 0.06, qPrintable(QString("%1 for %2: %3 %").arg(second).arg(measured).arg(100 * off)));
    }

    // Nothing changes for kernels whose code fits, and nothing where caches are endless.
    void codeThatFitsCostsNothing() {
        for (const char* name : {"volta", "turing", "ampere", "ampere-ga10x", "ada", "hopper", "blackwell"}) {
            const auto m = machine(name), endless = machine(name, {"-core_code", "0,1,0,0,1,0,0,1,0,0,0"});
            const auto code = kernel(
                256, [](int) { return straight(512, "1 R%1 IMAD 3 R4 R5 R10 0 0"); }, 9);
            const auto a = run(m, {code}).front(), b = run(endless, {code}).front();
            QCOMPARE(a.cycles, b.cycles);
            QCOMPARE(a.counts.codeRequests, quint64{0});
            QCOMPARE(a.counts.stallCode, quint64{0});
            QCOMPARE(a.counts.stallNoInstruction, b.counts.stallNoInstruction);
        }
    }
    // More room, more lines ahead or nearer caches never cost cycles on straight-line code.
    void moreIsNeverSlower() {
        const auto code = kernel(
            128, [](int) { return straight(3000); }, 3);
        double last = 1e18;
        for (const int kb : {2, 8, 32, 64}) {
            const double now = cycles(
                with(qPrintable(QString("%1,4,0,32768,4,64,0,1,0,285,8").arg(kb * 1024)), "0,1,0,0,1,0,4", false),
                code);
            QVERIFY2(now <= last, qPrintable(QString("%1 KB: %2 after %3").arg(kb).arg(now).arg(last)));
            last = now;
        }
    }
    // Threads share steps; a snapshot stands between kernels: the same cycles.
    void everyWayOfRunningGivesTheSame() {
        const auto m = machine("ampere-ga10x", {"-cold_code", "1"});
        const auto code = kernel(
            128, [](int w) { return straight(700 + 40 * w); }, 12, "a");
        const auto more = kernel(
            64, [](int) { return straight(5000); }, 6, "b");
        const auto one = run(m, {code, more, code}), two = run(m, {code, more, code}, 2);
        for (std::size_t i = 0; i < 3; ++i) {
            QCOMPARE(two[i].cycles, one[i].cycles);
            QCOMPARE(two[i].counts.codeRequests, one[i].counts.codeRequests);
            QCOMPARE(two[i].counts.stallCode, one[i].counts.stallCode);
        }
        std::string state;
        SimulateOptions first, rest;
        first.untilKernel = 2, first.snapshot = &state;
        QVERIFY(simulate(m, {code, more, code}, first));
        rest.resume = state;
        const auto resumed = simulate(m, {code, more, code}, rest);
        QVERIFY2(resumed, resumed ? "" : toText(resumed.error()).c_str());
        QCOMPARE(resumed->front().cycles, one[2].cycles);
        QCOMPARE(resumed->front().counts.codeFromL2, one[2].counts.codeFromL2);
    }

    // Operands in constant memory: the first of a line waits for it, once per sub-core.
    void constantsMissOncePerLineAndSubCore() {
        const auto m = with("0,1,0,0,1,0,0,1,0,0,0", "512,2,79,2048,8,64,26");
        const auto chain = [](const char* operand) {
            return [=](int) {
                QString lines;
                for (int i = 0; i < 20; ++i)
                    lines += op(
                        QString("1 R10 FADD 2 R10 %1 0 0").arg(QString(operand).replace("at", i < 10 ? "160" : "164")),
                        16 * (i % 8));
                return lines + op("0 EXIT 0 0 0", 128);
            };
        };
        const double registers = cycles(m, kernel(32, chain("R7")));
        QCOMPARE(cycles(m, kernel(32, chain("c[0x0][0xat]"))), registers + 79);
        const auto one = run(m, {kernel(128, chain("c[0x0][0xat]"))}).front();
        QCOMPARE(one.counts.constantMisses, quint64{4});
        QVERIFY(one.counts.stallConstant > 0);
        addsUp(one);
        // Two lines: two misses.
        const auto far = run(m, {kernel(32, [](int) {
                                 return op("1 R10 FADD 2 R10 c[0x0][0x160] 0 0", 0) +
                                        op("1 R10 FADD 2 R10 c[0x0][0x1a0] 0 0", 16) +
                                        op("1 R10 FADD 2 R10 c[0x2][0x160] 0 0", 32) + op("0 EXIT 0 0 0", 48);
                             })});
        QCOMPARE(far.front().counts.constantMisses, quint64{3});
    }
    // Three lines of a set of two, each of another warp of one scheduler: each pushes out what another waits for, and
    // each gets what it asked for all the same, by one miss.
    void warpsThatPushOutEachOthersConstantsGoOn() {
        const auto m = with("0,1,0,0,1,0,0,1,0,0,0", "512,2,79,2048,8,64,26");
        SimulateOptions options;
        options.mostCycles = 100000;
        const auto code = kernel(288, [](int w) {
            return (w % 4 == 0 ? op(QString("1 R10 FADD 2 R10 c[0x0][0x%1] 0 0").arg(0x160 + w * 0x40, 0, 16), 0)
                               : QString()) +
                   op("0 EXIT 0 0 0", 16);
        });
        const auto got = simulate(m, {code}, options);
        QVERIFY2(got, got ? "" : toText(got.error()).c_str());
        QCOMPARE(got->front().counts.constantMisses, quint64{3});
        QCOMPARE(got->front().counts.warpInstructions, quint64{3 + 9});
        // Each holds its scheduler for four cycles, the last waits for its own 79.
        const double there = cycles(with("0,1,0,0,1,0,0,1,0,0,0"), code), with79 = cycles(m, code);
        QVERIFY2(with79 >= there + 79 && with79 <= there + 79 + 2 * 4 + 4,
                 qPrintable(QString("%1 after %2").arg(with79).arg(there)));
        addsUp(got->front());
    }
    // An L0 of one line for two warps in different lines: a line that has come is read, though the other's has taken
    // its place.
    void warpsThatPushOutEachOthersCodeGoOn() {
        SimulateOptions options;
        options.mostCycles = 100000;
        for (const int ahead : {0, 1, 8}) {
            const auto m = with(qPrintable(QString("128,1,0,8192,4,9,0,1,0,100,%1").arg(ahead)));
            const auto code = kernel(160, [](int w) {
                return w == 0 ? straight(8) : w == 4 ? straight(8, "1 R%1 FADD 2 R4 R5 0 0", 8) : straight(1);
            });
            const auto got = simulate(m, {code}, options);
            QVERIFY2(got, got ? "" : toText(got.error()).c_str());
            const auto& n = got->front().counts;
            QCOMPARE(n.warpInstructions, quint64{8 + 8 + 3});
            // Each miss brings an instruction at least; both lines come from L2 once.
            QVERIFY2(n.codeRequests <= quint64(19 * (1 + ahead)), qPrintable(QString::number(n.codeRequests)));
            QVERIFY(ahead > 0 || n.codeFromL2 == 2);
            addsUp(got->front());
        }
    }
    // The longest instruction and the longest miss: the result is there when both are over, not a turn of the wheel of
    // results before.
    void theLongestLoadOfAConstantTakesAllOfIt() {
        const auto at = [&](const char* miss) {
            auto m = machine("ampere-ga10x", {"-core_code", "0,1,0,0,1,0,0,1,0,0,0", "-core_constants", miss,
                                              "-opcode_latency_initiation", "LDC,900,1"});
            return cycles(m, kernel(32, [&](int) {
                              return op("1 R10 LDC 1 c[0x3][0x0] 0 0", 0) + op("1 R11 FADD 2 R10 R10 0 0", 16) +
                                     op("0 EXIT 0 0 0", 32);
                          }));
        };
        const double near = at("512,2,79,2048,8,1,26"), far = at("512,2,79,2048,8,500,26");
        QCOMPARE(far - near, 499.0);
        QVERIFY2(near > 900 && far > 1400, qPrintable(QString("%1 and %2").arg(near).arg(far)));
    }
    // Kernels side by side have constants of their own: what one has brought is no hit of the other, and a launch takes
    // none of the other's away.
    void kernelsSideBySideHaveTheirOwnConstants() {
        auto m = machine("ampere-ga10x", {"-gpgpu_concurrent_kernel_sm", "1", "-core_code", "0,1,0,0,1,0,0,1,0,0,0",
                                          "-core_constants", "512,2,79,2048,8,64,26"});
        m.sms = 1, m.launchLatency = 100, m.blockLaunchLatency = 0;
        const auto chain = [&](int stream, int n) {
            return kernel(
                32,
                [=](int) {
                    QString lines;
                    for (int i = 0; i < n; ++i) lines += op("1 R10 FADD 2 R10 c[0x0][0x160] 0 0", 16);
                    return lines + op("0 EXIT 0 0 0", 32);
                },
                1, "straight", stream);
        };
        // The third begins when the second has ended, in the midst of the first.
        const auto all = run(m, {chain(1, 1000), chain(2, 20), chain(2, 20)});
        QVERIFY(all[0].overlaps && all[2].endCycle < all[0].endCycle);
        for (const auto& one : all) QCOMPARE(one.counts.constantMisses, quint64{1});
    }
    // The scheduler stands still for four cycles, then another warp goes on.
    void aMissHoldsItsSchedulerForFourCycles() {
        const auto m = with("0,1,0,0,1,0,0,1,0,0,0", "512,2,79,2048,8,64,26");
        // Warps 0 and 4 are of one scheduler. Warp 4, the younger one, begins and goes on until it misses; warp 0 could
        // issue every cycle then.
        const auto two = [](bool misses) {
            return [=](int w) {
                QString lines;
                const auto add = [&](int n) {
                    for (int i = 0; i < n; ++i) lines += op(QString("1 R%1 FADD 2 R4 R5 0 0").arg(10 + i % 4), 16);
                };
                if (w == 4) {
                    add(60);
                    lines += op(misses ? "1 R9 FADD 2 R8 c[0x0][0x160] 0 0" : "1 R9 FADD 2 R8 R7 0 0", 0);
                }
                if (w == 0) add(200);
                return lines + op("0 EXIT 0 0 0", 32);
            };
        };
        // It has more to do than the miss takes: four cycles are lost, and what the other's last one takes at the end.
        const double lost = cycles(m, kernel(160, two(true))) - cycles(m, kernel(160, two(false)));
        QVERIFY2(lost >= 4 && lost <= 6, qPrintable(QString::number(lost)));
        QCOMPARE(run(m, {kernel(160, two(true))}).front().counts.stallConstant, quint64{4});
    }
    void loadsOfConstantsTakeTheirTime() {
        const auto m = with("0,1,0,0,1,0,0,1,0,0,0", "512,2,79,2048,8,64,26");
        const auto chain = [&](int n, const char* where) {
            return cycles(m, kernel(32, [&](int) {
                              QString lines;
                              for (int i = 0; i < n; ++i) lines += op(QString("1 R10 LDC 2 R10 %1 0 0").arg(where), 16);
                              return lines + op("0 EXIT 0 0 0", 128);
                          }));
        };
        QCOMPARE((chain(40, "c[0x3][0x0]") - chain(20, "c[0x3][0x0]")) / 20, 26.0);
        // Without an address nothing is known to miss.
        QCOMPARE(chain(20, "c[0x3][0x0]"), chain(20, "R11") + 64);
    }

    // Two banks, one port each: operands of one bank are read one after the other unless they are kept.
    void keptOperandsNeedNoPort() {
        const auto m = machine("ampere-ga10x");
        const auto of = [&](const char* sources) {
            return pace(m, [=](int i) { return QString("1 R%1 FFMA 3 %2 0 0").arg(11 + 2 * (i % 8)).arg(sources); });
        };
        QCOMPARE(of("R4 R6 R8"), 3.0);
        QCOMPARE(of("R4.reuse R6 R8"), 2.0);
        QCOMPARE(of("R4.reuse R6.reuse R8"), 1.0);
        QCOMPARE(of("R4 R5 R8"), 2.0);
        QCOMPARE(of("R4.reuse R5 R8"), 1.0);
        QCOMPARE(of("R4 R5 R7"), 2.0);
        // Read twice by one instruction, once from the bank.
        QCOMPARE(of("R4 R4 R4"), 1.0);
    }
    // The next read of the same bank and place takes the entry, whether or not it keeps its own operand.
    void anotherReadOfThePlaceEndsIt() {
        const auto m = machine("ampere-ga10x");
        const auto turns = [&](const char* a, const char* b) {
            return pace(m,
                        [=](int i) { return QString("1 R%1 FFMA 3 %2 0 0").arg(11 + 2 * (i % 8)).arg(i % 2 ? b : a); });
        };
        // R4 is kept and R12 takes its place: all read all three, of one bank.
        QCOMPARE(turns("R4.reuse R6 R8", "R12.reuse R6 R8"), 3.0);
        // Kept by one, used by the next and not kept again: three and two cycles in turn.
        QCOMPARE(turns("R4.reuse R6 R8", "R4 R6 R8"), 2.5);
        // Another bank is another entry.
        QCOMPARE(turns("R4.reuse R6 R9", "R5.reuse R6 R9"), 1.0);
    }
    // Good for its own warp alone.
    void noWarpReadsAnothersOperand() {
        const auto m = machine("ampere-ga10x");
        const auto two = [&](const char* sources) {
            // Five warps: 0 and 4 share a scheduler. Each instruction waits for the one before, so they take turns.
            return pace(
                m, [=](int) { return QString("1 R4 FFMA 3 %1 0 0").arg(sources); }, 160);
        };
        // In turn, R6 and R8 kept by one are lost to the other: three cycles each, six for both.
        QCOMPARE(two("R4 R6.reuse R8.reuse"), 6.0);
    }

    void theOtherSettingKnowsNeither() {
        auto m = readMachine({ORRERY_TEST_DATA "/gpu/small", {}})->machine;
        const auto code = [&](const char* sources) {
            return cycles(m, kernel(64, [=](int) {
                              QString lines;
                              for (int i = 0; i < 3000; ++i)
                                  lines += op(QString("1 R%1 FFMA %2 0 0").arg(11 + i % 4).arg(sources), 16 * i);
                              return lines + op("0 EXIT 0 0 0", 48000);
                          }));
        };
        QCOMPARE(code("2 R4.reuse R6"), code("2 R4 R6"));
        QCOMPARE(code("3 R4 R6 c[0x0][0x160]"), code("2 R4 R6"));
    }
    void wrongWordsSayWhere() {
        const auto m = machine("ampere-ga10x");
        for (const char* bad :
             {"2 R4 c[0x0]", "2 R4 c[0x0][0x10000]", "2 R4 c[0x20][0x0]", "2 R4.reused R5", "2 R4 c["}) {
            const auto got = simulate(m, {kernel(32, [&](int) {
                                          return op(QString("1 R10 FADD %1 0 0").arg(bad), 0) + op("0 EXIT 0 0 0", 16);
                                      })});
            QVERIFY2(!got && got.error().code == "gpu.trace" && got.error().place.line > 0, bad);
        }
        for (const auto& [key, value] : std::initializer_list<std::pair<const char*, const char*>>{
                 {"-core_code", "1,2,3"},
                 {"-core_code", "64,4,0,8192,4,9,0,1,0,285,8"},
                 {"-core_code", "4096,4,0,8192,4,9,0,1,0,285,65"},
                 {"-core_code", "many"},
                 {"-core_constants", "512,2,79,2048,8,64"},
                 {"-core_constants", "512,2,79,2048,8,64,900"},
                 {"-cold_code", "2"}}) {
            const auto got = readMachine({ORRERY_TEST_DATA "/gpu/small", {key, value}});
            QVERIFY2(!got && got.error().code == "gpu.config", qPrintable(QString("%1 %2").arg(key, value)));
        }
    }
};

QTEST_GUILESS_MAIN(TestGpuCode)
#include "tst_gpu_code.moc"
