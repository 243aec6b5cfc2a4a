// Thread-block clusters: where and when their blocks are placed, their barriers, shared memory of other blocks, and
// copies that all of a cluster share; cycles worked out by hand or against published measurements.

#include "simulation/gpu/hardware_setting.h"
#include "simulation/gpu/sampling/sample.h"
#include "simulation/gpu/simulate.h"
#include "simulation/gpu/templates/product.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <functional>
#include <tuple>

using namespace orrery;
using namespace orrery::gpusim;

class TestGpuClusters : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    int files_ = 0;

    static QString op(const QString& text, int pc = 16, const char* mask = "ffffffff") {
        return QString("%1 %2 %3\n").arg(pc, 4, 16, QChar('0')).arg(mask).arg(text);
    }
    static QString times(int n, const QString& text, const char* mask = "ffffffff") {
        QString lines;
        for (int i = 0; i < n; ++i) lines += op(text, 16, mask);
        return lines;
    }
    TraceCommand kernel(int blocks, int cluster, int threads, const std::function<QString(int, int)>& body,
                        int shared = 0) {
        QString text =
            QString(
                "-kernel name = test\n-grid dim = (%1,1,1)\n-block dim = (%2,1,1)\n-shmem = %3\n-nregs = 32\n"
                "-cluster dim = (%4,1,1)\n-shmem base_addr = 0x7f0000000000\n-binary version = 90\n"
                "-accelsim tracer version = 4\n-enable lineinfo = 0\n\n#format\n")
                .arg(blocks)
                .arg(threads)
                .arg(shared)
                .arg(cluster);
        for (int b = 0; b < blocks; ++b) {
            text += "#BEGIN_TB\n\nthread block = 0,0,0\n\n";
            for (int w = 0; w < threads / 32; ++w) {
                const QString lines = body(b, w) + op("0 EXIT 0 0 0");
                text += QString("warp = %1\ninsts = %2\n").arg(w).arg(lines.count('\n')) + lines + "\n";
            }
            text += "#END_TB\n\n";
        }
        return file(text);
    }
    TraceCommand file(const QString& text) {
        const QString path = folder_.filePath(QString("kernel-%1.traceg").arg(++files_));
        QFile out(path);
        if (out.open(QIODevice::WriteOnly)) out.write(text.toUtf8());
        return {TraceCommand::Kind::Kernel, 0, 0, path.toStdString(), {}};
    }
    static Machine machine(int sms = 8, double ofGpc = 8, const char* generation = "hopper") {
        auto m = readMachine({ORRERY_TEST_DATA "/gpu/small", {}})->machine;
        m.sms = sms;
        useHardwareSetting(m, *generationOf(generation));
        m.generation.clusters.sms = ofGpc;
        return m;
    }
    KernelResult run(const Machine& m, const TraceCommand& command, SimulateOptions options = {}) {
        const auto got = simulate(m, {command}, options);
        if (got) return got->front();
        QTest::qFail(toText(got.error()).c_str(), __FILE__, __LINE__);
        return {};
    }
    double cycles(const Machine& m, const TraceCommand& command) {
        const auto one = run(m, command);
        return static_cast<double>(one.cycles - one.launchCycles);
    }
    static QString barrier() { return op("0 UCGABAR_ARV 0 0 0") + op("0 UCGABAR_WAIT 0 0 0"); }

private slots:
    // A block per SM: a GPC of three has room for one pair, and leaves one SM empty.
    void aClusterStandsOnOneGpcAtOnce() {
        const auto code = kernel(12, 2, 1024, [](int, int) { return times(50, "1 R10 FADD 2 R10 R7 0 0"); });
        const auto waves = [&](double ofGpc) {
            std::vector<std::uint64_t> at;
            SimulateOptions options;
            options.placements = &at;
            run(machine(6, ofGpc), code, options);
            std::vector<int> out;
            for (std::size_t i = 0; i < at.size(); ++i) {
                // Both of a pair in one cycle.
                if (i % 2 == 1 && at[i] != at[i - 1]) QTest::qFail("a pair apart", __FILE__, __LINE__);
                if (i % 2 == 0 && (i == 0 || at[i] != at[i - 1])) out.push_back(0);
                if (i % 2 == 0) ++out.back();
            }
            return out;
        };
        QCOMPARE(waves(6), (std::vector<int>{3, 3}));
        QCOMPARE(waves(3), (std::vector<int>{2, 2, 2}));
        QCOMPARE(waves(2), (std::vector<int>{3, 3}));
    }
    // GPCs of 16.5 in the mean have whole pairs: 66 of an H100's 132 SMs, so a grid of one block for each is one wave.
    void everyPairOfMultiprocessorsTakesACluster() {
        for (const auto& [sms, ofGpc] : {std::pair{132, 16.5}, {114, 16.5}, {148, 18.5}}) {
            const auto code = kernel(sms, 2, 32, [](int, int) { return times(50, "1 R10 FADD 2 R10 R7 0 0"); });
            std::vector<std::uint64_t> at;
            SimulateOptions options;
            options.placements = &at;
            run(machine(sms, ofGpc), code, options);
            QCOMPARE(at.size(), static_cast<std::size_t>(sms));
            QCOMPARE(at.front(), at.back());
        }
        // Where SMs are left over, those that are not get more.
        std::vector<std::uint64_t> at;
        SimulateOptions options;
        options.placements = &at;
        run(machine(8, 3), kernel(8, 2, 32, [](int, int) { return times(500, "1 R10 FADD 2 R10 R7 0 0"); }), options);
        QVERIFY2(at.back() - at.front() < 100, qPrintable(QString::number(at.back() - at.front())));
    }
    void barriersTakeWhatWasMeasured() {
        for (const int cluster : {2, 4, 8}) {
            const auto at = [&](int n, int wait = 0) {
                auto m = machine();
                if (wait > 0) m.generation.clusters.barrier = wait;
                return cycles(m, kernel(cluster, cluster, 64, [&](int, int) {
                                  QString lines;
                                  for (int i = 0; i < n; ++i) lines += barrier();
                                  return lines;
                              }));
            };
            // 102 cycles on a B300, whatever the size, of which the issue of both instructions is a part.
            const double each = (at(30) - at(10)) / 20;
            QVERIFY2(each >= 102 && each <= 102 + 6, qPrintable(QString("%1: %2").arg(cluster).arg(each)));
            QCOMPARE(at(10, 202) - at(10), 1000.0);
        }
    }
    // All wait for the last.
    void theLastToArriveDecides() {
        const auto at = [&](int late) {
            return cycles(machine(), kernel(4, 4, 64, [&](int b, int w) {
                              return (b == 2 && w == 1 ? times(late, "1 R10 FADD 2 R10 R7 0 0") : QString()) +
                                     barrier();
                          }));
        };
        QCOMPARE(at(300) - at(200), 400.0);
        // What can be done between arriving and waiting is done.
        const auto split = [&](int work) {
            return cycles(machine(), kernel(2, 2, 32, [&](int, int) {
                              return op("0 UCGABAR_ARV 0 0 0") + times(work, "1 R10 FADD 2 R10 R7 0 0") +
                                     op("0 UCGABAR_WAIT 0 0 0");
                          }));
        };
        QVERIFY(split(20) - split(1) <= 1);
        QCOMPARE(split(80) - split(60), 80.0);
    }
    void whoHasEndedIsNotWaitedFor() {
        const auto one =
            run(machine(),
                kernel(4, 4, 64, [&](int b, int w) { return b == 1 || w == 1 ? QString() : barrier() + barrier(); }));
        QCOMPARE(one.finishedBlocks, std::int64_t{4});
        QCOMPARE(one.counts.warpInstructions, quint64(4 * 2 + 3 * 4));
    }

    // Who ends while the release is under way has been counted: the next barrier waits for all that are left.
    void whoEndsDuringARelease() {
        const auto at = [&](int late, int after) {
            return cycles(machine(), kernel(2, 2, 64, [&](int b, int w) {
                              const auto work = [](int n) { return times(n, "1 R10 FADD 2 R10 R7 0 0"); };
                              if (b == 0) return work(100) + op("0 UCGABAR_ARV 0 0 0");
                              return w == 0 ? barrier() + barrier() + work(after) : barrier() + work(late) + barrier();
                          }));
        };
        QCOMPARE(at(300, 200) - at(200, 200), 400.0);
        QCOMPARE(at(200, 300) - at(200, 200), 400.0);
    }

    // A chain of loads from another block's shared memory: an H800's 181 cycles in pairs, 205 in larger clusters.
    void sharedMemoryOfOthersIsAsFarAsMeasured() {
        const auto slope = [&](int cluster) {
            const auto at = [&](int n) {
                return cycles(machine(), kernel(
                                             cluster, cluster, 32,
                                             [&](int b, int) {
                                                 return b > 0 ? QString()
                                                              : times(n, "1 R4 LD.E 1 R4 4 1 0x7f0001000000 0 0",
                                                                      "00000001");
                                             },
                                             1024));
            };
            return (at(60) - at(20)) / 40;
        };
        QCOMPARE(slope(2), 181.0);
        QCOMPARE(slope(4), 205.0);
        // By rank: a block's own part, by the same instruction, is as near as shared memory is, another's is not; in the
        // second cluster as in the first.
        const auto by = [&](int reader, int part) {
            const auto at = [&](int n) {
                return cycles(machine(), kernel(
                                             4, 2, 32,
                                             [&](int b, int) {
                                                 return b != reader ? QString()
                                                                    : times(n,
                                                                            QString("1 R4 LD.E 1 R4 4 1 %1 0 0")
                                                                                .arg(part == 0 ? "0x7f0000000000"
                                                                                               : "0x7f0001000000"),
                                                                            "00000001");
                                             },
                                             1024));
            };
            return (at(60) - at(20)) / 40;
        };
        for (const int reader : {0, 1, 2, 3}) {
            QVERIFY(std::abs(by(reader, reader % 2) - generationOf("hopper")->shared.cycles) < 1);
            QCOMPARE(by(reader, 1 - reader % 2), 181.0);
        }
    }
    void thePortIsAsWideAsMeasured() {
        const auto at = [&](int n) {
            return cycles(machine(),
                          kernel(
                              2, 2, 256,
                              [&](int b, int) {
                                  QString lines;
                                  for (int i = 0; i < n && b == 0; ++i)
                                      lines += op(QString("1 R%1 LD.E 1 R2 4 1 0x7f0001000000 4 0").arg(10 + i % 16));
                                  return lines;
                              },
                              4096));
        };
        // 8 warps, 128 bytes of each.
        const double bytes = 8 * 128 * 300.0 / (at(500) - at(200));
        QVERIFY2(std::abs(bytes / generationOf("hopper")->clusters.bytes - 1) < 0.03,
                 qPrintable(QString::number(bytes)));
    }

    // A copy of one is there for all: the other waits for it, and L2 is read once.
    void copiesAreSharedAndWaitedFor() {
        const auto code = [&](const char* copy, int late, int after) {
            return kernel(
                2, 2, 32,
                [=](int b, int) {
                    return (b == 1 ? times(late, "1 R10 FADD 2 R10 R7 0 0") : QString()) +
                           op(QString("0 %1 2 R5 R6 16 1 0x%2 16 0").arg(copy).arg(0x40000000 + b * 4096, 0, 16)) +
                           op("0 LDGDEPBAR 0 0 0") + op("0 DEPBAR.LE 0 0 0") +
                           (b == 0 ? times(after, "1 R10 FADD 2 R10 R7 0 0") : QString());
                },
                4096);
        };
        const auto m = machine();
        const char* shared = "LDGSTS.E.BYPASS.128.MULTICAST";
        const char* apart = "LDGSTS.E.BYPASS.128";
        // Block 0 works for 4,000 cycles after its wait, block 1 copies 4,000 cycles later.
        const double together = cycles(m, code(shared, 1000, 1000)), alone = cycles(m, code(apart, 1000, 1000));
        QVERIFY2(together > alone + 3500 && together < alone + 4500,
                 qPrintable(QString("%1 and %2").arg(together).arg(alone)));
        QCOMPARE(cycles(m, code(shared, 1100, 1000)) - together, 400.0);
        QCOMPARE(cycles(m, code(shared, 1000, 1100)) - together, 400.0);
        SimulateOptions two;
        two.threads = 2, two.sharesAlways = true;
        QCOMPARE(run(m, code(shared, 10, 10), two).cycles, run(m, code(shared, 10, 10)).cycles);
        // 512 bytes of each, once.
        QCOMPARE(run(m, code(shared, 10, 10)).counts.l2.reads, quint64{32});
    }
    // One block's copy for all makes all of the cluster wait for one another, whichever block of the file has it.
    void oneSharedCopyIsEnough() {
        const auto at = [&](int late, int rank) {
            return cycles(machine(),
                          kernel(
                              2, 2, 32,
                              [=](int b, int) {
                                  return (b == rank ? times(late, "1 R10 FADD 2 R10 R7 0 0") : QString()) +
                                         op(QString("0 LDGSTS.E.BYPASS.128%1 2 R5 R6 16 1 0x%2 16 0")
                                                .arg(b == rank ? ".MULTICAST" : "")
                                                .arg(0x40000000 + b * 4096, 0, 16)) +
                                         op("0 LDGDEPBAR 0 0 0") + op("0 DEPBAR.LE 0 0 0") +
                                         (b != rank ? times(1000, "1 R10 FADD 2 R10 R7 0 0") : QString());
                              },
                              4096));
        };
        QCOMPARE(at(1100, 0) - at(1000, 0), 400.0);
        QCOMPARE(at(1100, 1) - at(1000, 1), 400.0);
    }
    // Waves of a sample are whole clusters: what it places runs together as in the whole.
    void aSampleKeepsClustersWhole() {
        // GPCs of three have room for one pair each, so a wave has four blocks on six SMs.
        auto m = machine(6, 3);
        const auto code = kernel(
            4 * 20, 2, 32, [](int b, int) { return times(20 + b % 2 * 100, "1 R10 FADD 2 R10 R7 0 0") + barrier(); },
            m.sharedBytes - 1024);
        const auto whole = run(m, code);
        QCOMPARE(whole.blocksThatFit, 1);
        SampleOptions how;
        how.kind = SampleKind::Smarts, how.units = 4;
        const auto got = sampleKernels(m, {code}, how, {});
        QVERIFY2(got, got ? "" : toText(got.error()).c_str());
        const auto& one = got->kernels.front();
        QVERIFY(!one.whole());
        QCOMPARE(one.waves, std::int64_t{20});
        QVERIFY2(std::abs(one.estimate / static_cast<double>(whole.cycles) - 1) < 0.02,
                 qPrintable(QString("%1 for %2").arg(one.estimate).arg(whole.cycles)));
    }
    // Without a partner for every tile nothing is shared: each block reads both operands whole.
    void productsOfOddTilesHaveNoClusters() {
        const auto m = machine(8, 8);
        for (const auto& [rows, columns, tileN, pairs] : {std::tuple{3, 3, 128, false},
                                                          {3, 4, 128, false},
                                                          {11, 2, 128, false},
                                                          {2, 3, 128, true},
                                                          {3, 3, 64, false},
                                                          {2, 3, 64, false},
                                                          {3, 2, 64, true}}) {
            ProductSpec spec;
            spec.tileM = 128, spec.tileN = tileN, spec.tileK = 32, spec.warps = 8, spec.stages = 3;
            spec.m = rows * 128, spec.n = columns * tileN, spec.k = 128;
            spec.form = {MultiplyForm::Kind::Group, "HGMMA", ".F32", 64, tileN, 16};
            spec.binaryVersion = 90, spec.multicast = true;
            const auto kernel = productTemplate(spec);
            QCOMPARE(kernel->header().cluster, pairs ? 2 : 1);
            auto source = TemplateSource::open(kernel, m);
            const auto got = simulate(m, *source);
            QVERIFY2(got, got ? "" : toText(got.error()).c_str());
            // The larger of a tile is shared: its rows of a where it is taller than wide, else those of b.
            // Two bring half of it each; the last of an odd number, which has no partner, all.
            const double own = 2.0 * spec.k * tileN, shared = 2.0 * spec.k * 128;
            const int along = tileN < 128 ? columns : rows;
            QCOMPARE(static_cast<double>(got->counts.l2.reads) * 32,
                     rows * columns * own + shared * (rows * columns / along) * (along / 2 + along % 2));
        }
    }
    // The larger operand of two tiles is read once for both.
    void productsOfPairsReadLessOfL2() {
        ProductSpec spec;
        spec.m = 512, spec.n = 256, spec.k = 256;
        spec.form = {MultiplyForm::Kind::Group, "HGMMA", ".F32", 64, 128, 16};
        spec.tileM = 128, spec.tileN = 128, spec.tileK = 32, spec.warps = 8, spec.stages = 3;
        spec.binaryVersion = 90;
        const auto m = machine(8, 8);
        const auto sectors = [&](bool multicast) {
            ProductSpec one = spec;
            one.multicast = multicast;
            const auto kernel = productTemplate(one);
            if (kernel->header().cluster != (multicast ? 2 : 1)) QTest::qFail("no pairs", __FILE__, __LINE__);
            auto source = TemplateSource::open(kernel, m);
            const auto got = simulate(m, *source);
            if (!got) QTest::qFail(toText(got.error()).c_str(), __FILE__, __LINE__);
            return got ? *got : KernelResult{};
        };
        const auto alone = sectors(false), pairs = sectors(true);
        // Eight tiles: each of its own rows of a and b; in pairs, b once for two.
        const double bytes = 2.0 * 256 * 128;
        QCOMPARE(static_cast<double>(alone.counts.l2.reads) * 32, 8 * 2 * bytes);
        QCOMPARE(static_cast<double>(pairs.counts.l2.reads) * 32, 8 * 1.5 * bytes);
        const auto& n = pairs.counts;
        QCOMPARE(
            n.warpInstructions + n.stallNoInstruction + n.stallDependence + n.stallUnit + n.stallCode + n.stallConstant,
            4 * n.activeSmCycles);
    }

    void wrongClustersAreRefused() {
        const auto fails = [&](const Machine& m, const TraceCommand& command, const char* code) {
            const auto got = simulate(m, {command});
            return !got && got.error().code == code;
        };
        const auto body = [](int, int) { return barrier(); };
        QVERIFY(fails(machine(), kernel(6, 4, 32, body), "gpu.trace"));
        QVERIFY(fails(machine(), kernel(34, 17, 32, body), "gpu.trace"));
        QVERIFY(fails(machine(8, 4), kernel(8, 8, 32, body), "gpu.kernel"));
        QVERIFY(fails(machine(8, 8, "ampere"), kernel(4, 2, 32, body), "gpu.kernel"));
        QString text;
        {
            QFile in(QString::fromStdString(kernel(4, 2, 32, body).file));
            QVERIFY(in.open(QIODevice::ReadOnly));
            text = QString::fromUtf8(in.readAll());
        }
        QVERIFY(fails(machine(), file(QString(text).replace("(2,1,1)", "(1,2,1)")), "gpu.trace"));
        QVERIFY(fails(machine(), file(QString(text).replace("(2,1,1)", "(two)")), "gpu.trace"));
    }
    // Accel-Sim's machine has no clusters: blocks go where there is room.
    void theOtherSettingTakesThemApart() {
        const auto m = readMachine({ORRERY_TEST_DATA "/gpu/small", {}})->machine;
        const auto together = kernel(4, 2, 32, [](int, int) { return barrier(); });
        const auto apart = kernel(4, 1, 32, [](int, int) { return barrier(); });
        QCOMPARE(cycles(m, together), cycles(m, apart));
    }
};

QTEST_GUILESS_MAIN(TestGpuClusters)
#include "tst_gpu_clusters.moc"
