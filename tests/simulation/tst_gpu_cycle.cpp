// The GPU cycle by cycle: what chains must cost by the machine's own numbers, sectors by hand, conservation, broken
// files, and recorded runs of Accel-Sim.

#include "simulation/gpu/simulate.h"
#include "support/gpu_traces.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QTest>

#include <functional>

using namespace orrery;
using namespace orrery::gpusim;

class TestGpuCycle : public QObject {
    Q_OBJECT
    using Shape = orrery::test::GpuTraces::Shape;
    orrery::test::GpuTraces traces_;
    Machine machine_;

    static QString op(const char* text, int pc = 0, const char* mask = "ffffffff") {
        return orrery::test::traceLine(text, pc, mask);
    }
    QString write(const QString& text) { return traces_.write(text); }
    static QString trace(const Shape& shape, const orrery::test::GpuTraces::Body& body) {
        return orrery::test::GpuTraces::trace(shape, body);
    }
    static TraceCommand kernel(const QString& path) {
        return {TraceCommand::Kind::Kernel, 0, 0, path.toStdString(), {}};
    }
    KernelResult run(const QString& text, std::vector<TraceCommand> before = {}) {
        before.push_back(kernel(write(text)));
        auto got = simulate(machine_, before);
        if (!got) {
            QTest::qFail(toText(got.error()).c_str(), __FILE__, __LINE__);
            return {};
        }
        return got->back();
    }
    // Cycles from the issue of one to that of the next, of a chain in one warp.
    double slope(const std::function<QString(int)>& link, std::vector<TraceCommand> before = {}, int shared = 0) {
        const auto chain = [&](int n) {
            Shape shape;
            shape.shared = shared;
            const auto text = trace(shape, [&](int, int) {
                QString lines;
                for (int i = 0; i < n; ++i) lines += link(i);
                return lines;
            });
            return static_cast<double>(run(text, before).cycles);
        };
        return (chain(96) - chain(32)) / 64;
    }

private slots:
    void initTestCase() {
        const auto got = readMachine({ORRERY_TEST_DATA "/gpu/small", {}});
        QVERIFY2(got, got ? "" : toText(got.error()).c_str());
        machine_ = got->machine;
        QCOMPARE(machine_.sms, 4);
        QCOMPARE(machine_.dram.rc, 44);
        QCOMPARE(machine_.dram.cl, 14);  // of a value over two lines
    }

    // A dependent pair: the unit's latency, and five stages around it.
    void chainsCostLatencyAndFive() {
        QCOMPARE(slope([](int) { return op("1 R10 FADD 2 R10 R6 0 0", 16); }), 4 + 5.0);
        QCOMPARE(slope([](int) { return op("1 R10 IADD3 3 R10 R6 R7 0 0", 16); }), 3 + 5.0);
        QCOMPARE(slope([](int) { return op("1 R10 MUFU.RCP 1 R10 0 0", 16); }), 18 + 5.0);
        QCOMPARE(slope([](int) { return op("1 R10 DADD 2 R10 R6 0 0", 16); }), 10 + 5.0);
        QCOMPARE(slope([](int) { return op("1 R10 HMMA.884.F32.F32.STEP0 3 R10 R6 R7 0 0", 16); }), 8 + 5.0);
    }
    void loadsCostWhatTheirPathIs() {
        QCOMPARE(slope([](int) { return op("1 R4 LDS 1 R4 4 1 0x0 4 0", 16, "00000001"); }, {}, 4096), 22 + 5.0);
        const auto at = [](int i, int step) {
            return op(qPrintable(QString("1 R4 LDG.E.SYS 1 R4 4 1 0x%1 4 0").arg(0x40000000 + i * step, 0, 16)), 16,
                      "00000001");
        };
        // One line, so all but the first hit; then lines that a host copy has put into L2.
        QCOMPARE(slope([&](int i) { return at(i % 1, 0); }), 24 + 4.0);
        const std::vector<TraceCommand> copied{{TraceCommand::Kind::Copy, 0x40000000, 65536, {}, {}}};
        QCOMPARE(slope([&](int i) { return at(i, 256); }, copied), 24 + 120 + 13.0);
        const double dram = slope([&](int i) { return at(i, 1 << 17); });
        QVERIFY2(dram > 24 + 120 + 13 + 80 + 14 + 14 && dram < 400, qPrintable(QString::number(dram)));
    }

    void sectorsAreThoseOfTheLanes_data() {
        QTest::addColumn<QString>("instruction");
        QTest::addColumn<int>("reads");
        QTest::addColumn<int>("bypassed");
        QTest::addColumn<int>("writes");
        QTest::addRow("words") << "1 R4 LDG.E.SYS 1 R2 4 1 0x40000000 4 0" << 4 << 0 << 0;
        QTest::addRow("quads") << "1 R4 LDG.E.128.SYS 1 R2 16 1 0x40000000 16 0" << 16 << 0 << 0;
        QTest::addRow("a line per lane") << "1 R4 LDG.E.SYS 1 R2 4 1 0x40000000 128 0" << 32 << 0 << 0;
        QTest::addRow("all one word") << "1 R4 LDG.E.SYS 1 R2 4 1 0x40000000 0 0" << 1 << 0 << 0;
        QTest::addRow("across a border") << "1 R4 LDG.E.64.SYS 1 R2 8 1 0x4000001c 0 0" << 2 << 0 << 0;
        QTest::addRow("backwards") << "1 R4 LDG.E.SYS 1 R2 4 1 0x40000100 -4 0" << 5 << 0 << 0;
        QTest::addRow("store") << "0 STG.E.SYS 2 R2 R4 4 1 0x40000000 8 0" << 0 << 0 << 8;
        QTest::addRow("past L1") << "1 R4 LDG.E.STRONG.GPU 1 R2 4 1 0x40000000 4 0" << 0 << 4 << 0;
        QTest::addRow("atomics on one word") << "0 RED.E.ADD 2 R2 R4 4 1 0x40000000 0 0" << 0 << 32 << 0;
    }
    void sectorsAreThoseOfTheLanes() {
        QFETCH(QString, instruction);
        QFETCH(int, reads);
        QFETCH(int, bypassed);
        QFETCH(int, writes);
        const auto got = run(trace({}, [&](int, int) { return op(qPrintable(instruction), 16); }));
        QCOMPARE(got.counts.l1.reads, static_cast<quint64>(reads));
        QCOMPARE(got.counts.bypassReads, static_cast<quint64>(bypassed));
        QCOMPARE(got.counts.l1.writes, static_cast<quint64>(writes));
        QCOMPARE(got.counts.l2.reads, static_cast<quint64>(reads + bypassed));
        QCOMPARE(got.counts.warpInstructions, quint64{2});
    }
    void localWordsOfNeighboursLieTogether() {
        const auto got = run(trace({}, [&](int, int) { return op("0 STL 2 R1 R10 4 1 0x8 0 0", 16); }));
        QCOMPARE(got.counts.l1.writes, quint64{4});
    }
    void banksConflict() {
        const auto cycles = [&](int stride) {
            const auto got = run(trace({1, 32, 8192, 32}, [&](int, int) {
                QString lines;
                for (int i = 0; i < 32; ++i)
                    lines += op(qPrintable(QString("1 R%1 LDS 1 R2 4 1 0x0 %2 0").arg(10 + i).arg(stride)), 16 * i);
                return lines;
            }));
            return got.counts.sharedPasses;
        };
        QCOMPARE(cycles(4), quint64{32});
        QCOMPARE(cycles(8), quint64{64});
        QCOMPARE(cycles(128), quint64{32 * 32});
        QCOMPARE(cycles(0), quint64{32});
    }

    void nothingIsLost() {
        const Shape shape{24, 250, 1024, 32};  // with a partial last warp
        const auto text = trace(shape, [](int b, int w) {
            QString lines;
            const char* mask = w == 7 ? "03ffffff" : "ffffffff";
            for (int i = 0; i < 6; ++i) {
                const int base = 0x40000000 + ((b * 7 + w * 3 + i * 5) % 512) * 256;
                lines += op(qPrintable(QString("1 R%1 LDG.E.SYS 1 R2 4 1 0x%2 8 0").arg(10 + i).arg(base, 0, 16)),
                            16 * i, mask);
                lines += op(qPrintable(QString("1 R20 FFMA 3 R%1 R20 R21 0 0").arg(10 + i)), 16 * i + 8 * 16, mask);
                if (i % 3 == 2) lines += op("0 BAR.SYNC 0 0 0", 0x300, mask);
                lines += op(qPrintable(QString("0 STG.E.SYS 2 R2 R20 4 1 0x%1 4 0").arg(base + 0x1000000, 0, 16)),
                            16 * i + 0x400, mask);
            }
            return lines + op("0 MEMBAR.SC.GPU 0 0 0", 0x800, mask);
        });
        // EXIT of a partial warp has all lanes in this text; that must not matter.
        const auto got = run(text);
        const auto again = run(text);
        QCOMPARE(got.cycles, again.cycles);
        const auto& n = got.counts;
        QCOMPARE(n.blocks, quint64{24});
        QCOMPARE(n.warpInstructions, quint64{24 * 8 * (6 * 3 + 2 + 1 + 1)});
        QCOMPARE(n.l1.reads, n.l1.readHits + n.l1.readPending + n.l1.readMisses);
        // A sector that was overwritten or dropped while it was under way joins the request that is still out.
        QVERIFY(n.l2.reads <= n.l1.readMisses && n.l2.reads * 10 > n.l1.readMisses * 9);
        QCOMPARE(n.l2.writes, n.l1.writes);
        QCOMPARE(n.dramReads, n.l2.readMisses);
        QCOMPARE(n.stallNoInstruction + n.stallDependence + n.stallUnit + n.warpInstructions, 4 * n.activeSmCycles);
        QVERIFY(n.dramActivations > 0 && n.dramActivations <= n.dramReads + n.dramWrites);
        QCOMPARE(got.blocksThatFit, 4);
        QCOMPARE(got.limitedBy, std::string("threads"));
        QCOMPARE(got.l1Bytes, (96 - 16) * 1024);
        // Counters must not depend on how the SM sleeps: ten times the launch latency shifts all and changes little.
        auto later = machine_;
        later.launchLatency += 1000;
        const auto moved = simulate(later, {kernel(write(text))});
        QVERIFY(moved);
        QCOMPARE(moved->front().counts.l1.reads, n.l1.reads);
        QVERIFY(std::abs(static_cast<double>(moved->front().cycles - 1000) / static_cast<double>(got.cycles) - 1) <
                0.05);
    }

    void moreOfTheMachineIsNeverMuchSlower() {
        const auto text = trace({32, 128, 0, 32}, [](int b, int w) {
            QString lines;
            for (int i = 0; i < 4; ++i)
                lines += op(qPrintable(QString("1 R%1 LDG.E.SYS 1 R2 4 1 0x%2 4 0")
                                           .arg(10 + i)
                                           .arg(0x40000000 + ((b * 4 + w) * 4 + i) * 128, 0, 16)),
                            16 * i);
            return lines + op("1 R20 FADD 2 R10 R13 0 0", 0x100);
        });
        const auto cyclesOf = [&](const char* option, const char* value) {
            const auto m = readMachine({ORRERY_TEST_DATA "/gpu/small", {option, value}});
            const auto got = simulate(m->machine, {kernel(write(text))});
            return got ? static_cast<double>(got->front().cycles) : 0.0;
        };
        const double usual = cyclesOf("-gpgpu_n_clusters", "4");
        QVERIFY(cyclesOf("-gpgpu_n_clusters", "1") > usual);
        QVERIFY(cyclesOf("-gpgpu_clock_domains", "1000:1000:1000:400") > usual);
        QVERIFY(cyclesOf("-gpgpu_l2_rop_latency", "220") >= usual + 90);
        QVERIFY(cyclesOf("-gpgpu_perfect_mem", "1") < usual);
        for (const char* scheduler : {"gto", "lrr", "oldest"}) QVERIFY(cyclesOf("-gpgpu_scheduler", scheduler) > 0);
    }

    // One program counter, registers of which one begins with the other: R2 and R20.
    void aRegisterIsReadToItsEnd() {
        const auto got = run(trace({1, 32, 8192, 32}, [](int, int) {
            return op("1 R4 LDS 1 R2 4 1 0x0 4 0", 16) + op("1 R4 LDS 1 R20 4 1 0x0 4 0", 16) +
                   op("1 R4 LDS 1 R2 4 1 0x0 4 0", 16);
        }));
        QCOMPARE(got.counts.sharedPasses, quint64{3});
    }
    // A warp that copies step after step looks back at no group that has arrived: twice the steps, twice the time.
    void manyGroupsOfCopiesStayLinear() {
        const auto seconds = [&](int n) {
            const auto text = trace({1, 32, 8192, 32}, [&](int, int) {
                QString lines;
                for (int i = 0; i < n; ++i)
                    lines += op("0 LDGSTS.E.BYPASS.128 1 R2 16 1 0x40000000 16 0", 16) + op("0 LDGDEPBAR 0 0 0", 32) +
                             op("0 DEPBAR.LE 0 0 1", 48);
                return lines;
            });
            const auto path = kernel(write(text));
            QElapsedTimer clock;
            clock.start();
            const auto got = simulate(machine_, {path});
            if (!got || got->front().counts.memoryInstructions != static_cast<quint64>(n))
                QTest::qFail("", __FILE__, __LINE__);
            return static_cast<double>(clock.nsecsElapsed());
        };
        seconds(2000);
        const double once = seconds(4000), eight = seconds(32000);
        QVERIFY2(eight < 20 * once, qPrintable(QString::number(eight / once)));
    }
    // Warps end before the copies that nobody waits for, and others take their places while these are under way.
    void copiesThatNobodyWaitsForEndAlone() {
        constexpr int blocks = 96, groups = 6;
        const auto got = run(trace({blocks, 32, 8192, 32}, [&](int block, int) {
            QString lines;
            for (int i = 0; i < (block % 2 ? 1 : groups); ++i)
                lines += op(QString("0 LDGSTS.E.BYPASS.128 1 R2 16 1 0x%1 16 0")
                                .arg(0x40000000 + 4096 * (groups * block + i), 0, 16)
                                .toUtf8()
                                .constData(),
                            16) +
                         op("0 LDGDEPBAR 0 0 0", 32);
            return block % 2 ? lines + op("0 DEPBAR.LE 0 0 0", 48) : lines;
        }));
        QCOMPARE(got.counts.memoryInstructions, quint64{blocks / 2 * (groups + 1)});
    }
    void packedTracesAreRead_data() {
        QTest::addColumn<QString>("program");
        QTest::addColumn<QString>("ending");
        QTest::addColumn<bool>("named");  // the list says the packed name
        for (const bool named : {false, true}) {
            QTest::addRow("gzip%d", named) << "gzip"
                                           << ".gz" << named;
            QTest::addRow("zstd%d", named) << "zstd"
                                           << ".zst" << named;
            QTest::addRow("xz%d", named) << "xz"
                                         << ".xz" << named;
        }
    }
    void packedTracesAreRead() {
        QFETCH(QString, program);
        QFETCH(QString, ending);
        QFETCH(bool, named);
        const QString path = write(trace({}, [](int, int) { return op("1 R10 FADD 2 R10 R6 0 0", 16); }));
        const auto plain = simulate(machine_, {kernel(path)});
        QVERIFY(plain);
        QProcess pack;
        pack.start(program, {"-q", "-f", path});
        if (!pack.waitForStarted()) QSKIP("the packer is not installed");
        QVERIFY(pack.waitForFinished() && pack.exitCode() == 0);
        if (program == "zstd") QFile::remove(path);
        QVERIFY(!QFile::exists(path));
        QFile list(traces_.path("packed.g"));
        QVERIFY(list.open(QIODevice::WriteOnly));
        list.write((QFileInfo(path).fileName() + (named ? ending : QString())).toUtf8() + "\n");
        list.close();
        const auto commands = readKernelList(list.fileName().toStdString());
        QVERIFY2(commands, commands ? "" : toText(commands.error()).c_str());
        const auto got = simulate(machine_, *commands);
        QVERIFY2(got, got ? "" : toText(got.error()).c_str());
        QCOMPARE(got->front().cycles, plain->front().cycles);
    }
    void schedulersThatAreNotThereAreNamed() {
        for (const char* scheduler : {"rrr", "two_level_active:6:0:1"}) {
            const auto got = readMachine({ORRERY_TEST_DATA "/gpu/small", {"-gpgpu_scheduler", scheduler}});
            QVERIFY(got && !got->warnings.empty());
        }
        const auto usual = readMachine({ORRERY_TEST_DATA "/gpu/small", {"-gpgpu_scheduler", "gto"}});
        QVERIFY(usual && usual->warnings.empty());
    }

    void brokenTracesSayWhere_data() {
        QTest::addColumn<QString>("find");
        QTest::addColumn<QString>("put");
        QTest::addColumn<QString>("says");
        QTest::addRow("opcode") << "FADD"
                                << "FROB.X"
                                << "FROB";
        QTest::addRow("unit") << "FADD"
                              << "UIADD3"
                              << "no unit";
        QTest::addRow("register") << "R10 R6"
                                  << "R10 Q6"
                                  << "no register";
        QTest::addRow("end") << "#END_TB"
                             << ""
                             << "ends inside";
        QTest::addRow("count") << "insts = 2"
                               << "insts = 3"
                               << "program counter";
        QTest::addRow("address form") << "FADD 2 R10 R6 0 0"
                                      << "LDG.E.SYS 1 R6 4 7 0x10 0"
                                      << "form '7'";
        QTest::addRow("addresses") << "FADD 2 R10 R6 0 0"
                                   << "LDG.E.SYS 1 R6 4 0 0x10 0"
                                   << "address is missing";
        QTest::addRow("block") << "(32,1,1)"
                               << "(32,0,1)"
                               << "no (x,y,z)";
        QTest::addRow("shared") << "-shmem = 0"
                                << "-shmem = 999999"
                                << "does not fit";
        QTest::addRow("blocks") << "-grid dim = (1"
                                << "-grid dim = (9"
                                << "1 of 9";
    }
    void brokenTracesSayWhere() {
        QFETCH(QString, find);
        QFETCH(QString, put);
        QFETCH(QString, says);
        QString text = trace({}, [](int, int) { return op("1 R10 FADD 2 R10 R6 0 0", 16); });
        QVERIFY(text.contains(find));
        const auto got = simulate(machine_, {kernel(write(text.replace(find, put)))});
        QVERIFY(!got);
        const auto words = QString::fromStdString(toText(got.error()));
        QVERIFY2(words.contains(says) && words.contains(".traceg"), qPrintable(words));
    }
    void aBarrierThatNobodyReachesEnds() {
        // A warp that ends counts as having arrived; a wait for copies that no one closes is none.
        const auto got = run(trace({1, 64, 0, 32}, [](int, int w) {
            return w == 0 ? op("0 BAR.SYNC 0 0 0", 16) : op("0 DEPBAR.LE 0 0 0", 16);
        }));
        QVERIFY(got.cycles < 1000);
    }
    void brokenSettingsSayWhere() {
        for (const auto& [key, value] :
             {std::pair{"-gpgpu_n_mem", "zero"}, std::pair{"-gpgpu_cache:dl1", "N:1"},
              std::pair{"-gpgpu_clock_domains", "1:2"}, std::pair{"-gpgpu_mem_addr_mapping", "RRR"},
              std::pair{"-gpgpu_dram_timing_opt", "nbk=x"}, std::pair{"-gpgpu_scheduler", "best"}}) {
            const auto got = readMachine({ORRERY_TEST_DATA "/gpu/small", {key, value}});
            QVERIFY2(!got && !got.error().expected.empty(), key);
        }
        QVERIFY(!readMachine({traces_.path({}).toStdString(), {}}));
    }
    void listsFindTheirTraces() {
        const QString path = write(trace({}, [](int, int) { return op("1 R10 FADD 2 R10 R6 0 0", 16); }));
        QFile list(traces_.path("kernelslist.g"));
        QVERIFY(list.open(QIODevice::WriteOnly));
        list.write("MemcpyHtoD,0x40000000,1024\nncclGroupStart\n" + QFileInfo(path).fileName().toUtf8() + "\n");
        list.close();
        const auto got = readKernelList(list.fileName().toStdString());
        QVERIFY(got);
        QCOMPARE(got->size(), std::size_t{2});
        QCOMPARE(got->front().bytes, quint64{1024});
        QVERIFY(!readKernelList(traces_.path("none.g").toStdString()));
    }

    // Accel-Sim's own runs: cycles without launch, by class, in the bands of the peer's own scatter.
    void acceptedAgainstAccelSim_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<double>("percent");
        for (const char* name : {"lat_fadd", "lat_mufu", "chase_l1", "chase_l2", "chase_lds", "ilp8_ffma"})
            QTest::addRow("%s", name) << name << 1.0;
        for (const char* name : {"barrier_chain", "lds_conflict8"}) QTest::addRow("%s", name) << name << 3.0;
        for (const char* name : {"vecadd_warm", "multi3_stream0", "reduce_smem", "l1_resident"})
            QTest::addRow("%s", name) << name << 7.0;
        for (const char* name : {"fence", "local_spill", "saxpy_stride1"}) QTest::addRow("%s", name) << name << 12.0;
        QTest::addRow("sgemm_tiled") << "sgemm_tiled" << 8.0;
    }
    void acceptedAgainstAccelSim() {
        QFETCH(QString, name);
        QFETCH(double, percent);
        const QString root = ORRERY_REFERENCE "/gpu/accelsim/";
        auto table = CsvStream::open((root + "results.csv").toStdString());
        if (!table) QSKIP("the recorded runs are not here");
        std::vector<std::string> heads;
        QVERIFY(*table->next());
        for (const auto cell : table->cells()) heads.emplace_back(cell);
        const auto column = [&](const char* head) {
            return static_cast<std::size_t>(std::find(heads.begin(), heads.end(), head) - heads.begin());
        };
        const auto commands = readKernelList((root + "traces/" + name + "/kernelslist.g").toStdString());
        QVERIFY(commands);
        std::map<std::string, std::vector<KernelResult>> runs;
        while (*table->next()) {
            const auto cells = table->cells();
            if (QString::fromUtf8(cells[0].data(), static_cast<int>(cells[0].size())) != name) continue;
            const std::string config(cells[column("config")]);
            if (!runs.contains(config)) {
                const auto m = readMachine({(root + "configs/").toStdString() + config, {}});
                QVERIFY2(m, config.c_str());
                auto got = simulate(m->machine, *commands);
                QVERIFY2(got, config.c_str());
                runs[config] = std::move(*got);
            }
            const auto number = [&](const char* head) { return std::stod(std::string(cells[column(head)])); };
            const auto& ours = runs[config][static_cast<std::size_t>(number("kernel_index")) - 1];
            const double cycles = static_cast<double>(ours.cycles - ours.launchCycles),
                         peer = number("cycles_minus_launch");
            const bool near = std::abs(cycles - peer) <= (percent < 2 ? 10 : percent < 4 ? 20 : 0);
            QVERIFY2(near || std::abs(cycles / peer - 1) * 100 <= percent,
                     qPrintable(QString("%1: %2 cycles, recorded %3").arg(config.c_str()).arg(cycles).arg(peer)));
            QCOMPARE(static_cast<double>(ours.counts.warpInstructions), number("warp_inst"));
            QCOMPARE(static_cast<double>(ours.counts.l1.reads), number("l1_rd"));
            QCOMPARE(static_cast<double>(ours.counts.l1.writes), number("l1_wr"));
            QCOMPARE(static_cast<double>(ours.counts.l2.reads), number("l2_rd"));
            QCOMPARE(ours.l1Bytes / 1024, static_cast<int>(number("l1_kb")));
        }
        QVERIFY(!runs.empty());
    }
};

QTEST_GUILESS_MAIN(TestGpuCycle)
#include "tst_gpu_cycle.moc"
