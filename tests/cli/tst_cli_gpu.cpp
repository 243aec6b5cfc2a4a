// orrery-cli gpu: its schema, kernels from templates, both methods, the export's round trip, options that mean nothing.

#include "support/cli_process.h"
#include "support/schema_check.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

using namespace orrery::test;

class TestCliGpu : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    static constexpr int patience = 120000;
    static QStringList product(QStringList more = {}) {
        return QStringList{"gpu", "--kernel", "gemm m=128 n=128 k=128 fp16", "--hardware", "a100-80-sxm"} + more;
    }

private slots:
    void kernelsFromTemplatesAnswerByTheSchema_data() {
        QTest::addColumn<QString>("method");
        QTest::newRow("cycle") << "cycle";
        QTest::newRow("interval") << "interval";
    }
    void kernelsFromTemplatesAnswerByTheSchema() {
        QFETCH(QString, method);
        const auto out = cli(product({"--method", method, "--json"}), {}, patience);
        QVERIFY2(out.exit == 0, out.text());
        for (const std::string& error : schemaErrors(out.out.toStdString(), "gpu")) QFAIL(error.c_str());
        const auto read = nlohmann::json::parse(out.out.toStdString());
        QCOMPARE(QString::fromStdString(read["method"].get<std::string>()), "gpu-" + method);
        // The program that ran has a name, in both forms of the output.
        const auto program = QString::fromStdString(read["program"].get<std::string>());
        QVERIFY2(program.contains("tile "), qPrintable(program));
        const auto text = cli(product({"--method", method}), {}, patience);
        QVERIFY2(text.out.startsWith(program + "\n"), qPrintable(text.out.left(200)));
        const auto& kernel = read["kernels"][0];
        QVERIFY(kernel["cycles"].get<double>() > kernel["launch_cycles"].get<double>());
        const auto& stalls = kernel["stalls"];
        // Whoever reads the JSON alone must see whether every block was counted.
        const auto& counts = kernel["counts"];
        QCOMPARE(counts["of"].get<std::string>(),
                 std::string(method == "cycle" ? "all blocks" : "first wave of one multiprocessor"));
        if (method == "interval") {
            // 128 × 128 × 128 is one wave: nothing but the multiprocessors of the first blocks is left to scale by.
            QVERIFY(counts["scale"].get<double>() >= 1);
            const double scaled = counts["simulated_warp_instructions"].get<double>() * counts["scale"].get<double>();
            QVERIFY(scaled >= 0.99 * kernel["instructions"]["warp"].get<double>());
            QVERIFY(!counts["how"].get<std::string>().empty());
        }
        if (method == "cycle") {
            double sum = 0;
            for (const char* part : {"issued", "no_instruction", "dependence", "unit_busy"})
                sum += stalls[part].get<double>();
            QCOMPARE(sum, stalls["scheduler_cycles"].get<double>());
            QVERIFY(!kernel.contains("stack"));
        } else {
            double sum = 0;
            for (const auto& part : kernel["stack"]) sum += part.get<double>();
            QVERIFY(std::abs(sum - kernel["cycles"].get<double>()) < 1);
        }
    }
    // A long kernel by some of its waves: an interval around the estimate, the same bytes for the same seed.
    void samplesAnswerByTheSchema() {
        const auto ask = [](const char* kind, const char* seed) {
            return cli({"gpu", "--kernel", "vector-add n=1000000", "--hardware", "jetson-agx-orin", "--sample", kind,
                        "--units", "2", "--seed", seed, "--json"},
                       {}, patience);
        };
        for (const char* kind : {"smarts", "simpoint"}) {
            const auto out = ask(kind, "4");
            QVERIFY2(out.exit == 0, out.text());
            for (const std::string& error : schemaErrors(out.out.toStdString(), "gpu")) QFAIL(error.c_str());
            const auto read = nlohmann::json::parse(out.out.toStdString());
            const auto& all = read["sample"];
            const auto& kernel = read["kernels"][0];
            QCOMPARE(all["kind"].get<std::string>(), std::string(kind));
            QVERIFY(all["low"].get<double>() <= all["estimate"].get<double>());
            QVERIFY(all["estimate"].get<double>() <= all["high"].get<double>());
            QCOMPARE(kernel["cycles"].get<double>(), std::round(all["estimate"].get<double>()));
            QCOMPARE(kernel["counts"]["of"].get<std::string>(),
                     std::string(all["share"].get<double>() < 1 ? "sampled waves" : "all blocks"));
            // Counts are of the whole: 1,000,000 threads.
            QVERIFY(kernel["instructions"]["thread"].get<double>() >= 1000000);
            QCOMPARE(ask(kind, "4").out, out.out);
        }
    }
    void anExportAnswersTheSame() {
        const QString folder = folder_.filePath("export");
        const auto direct = cli(product({"--export", folder, "--json"}), {}, patience);
        QVERIFY2(direct.exit == 0, direct.text());
        const auto again =
            cli({"gpu", "--traces", folder + "/kernelslist.g", "--config", folder, "--whole-addresses", "--json"}, {},
                patience);
        QVERIFY2(again.exit == 0, again.text());
        const auto a = nlohmann::json::parse(direct.out.toStdString()),
                   b = nlohmann::json::parse(again.out.toStdString());
        for (const char* key : {"cycles", "instructions", "l1", "l2", "dram", "stalls"})
            QCOMPARE(b["kernels"][0][key].dump(), a["kernels"][0][key].dump());
    }
    // AMD's wavefronts: a product and a loop, by the schema, and the same from the exported trace.
    void wavefrontsAnswerToo_data() {
        QTest::addColumn<QString>("kernel");
        QTest::newRow("product") << "gemm m=64 n=64 k=64 fp16";
        QTest::newRow("filter") << "fir n=4096 taps=8";
    }
    void wavefrontsAnswerToo() {
        QFETCH(QString, kernel);
        const QString folder = folder_.filePath("wavefronts");
        const auto direct =
            cli({"gpu", "--kernel", kernel, "--hardware", "mi300a", "--export", folder, "--json"}, {}, patience);
        QVERIFY2(direct.exit == 0, direct.text());
        for (const std::string& error : schemaErrors(direct.out.toStdString(), "gpu")) QFAIL(error.c_str());
        const auto again =
            cli({"gpu", "--traces", folder + "/kernelslist.g", "--config", folder, "--whole-addresses", "--json"}, {},
                patience);
        QVERIFY2(again.exit == 0, again.text());
        const auto a = nlohmann::json::parse(direct.out.toStdString())["kernels"][0],
                   b = nlohmann::json::parse(again.out.toStdString())["kernels"][0];
        QCOMPARE(a["warp_lanes"].get<int>(), 64);
        QVERIFY(a["last_level"]["reads"].get<double>() > 0);
        for (const char* key : {"cycles", "instructions", "l1", "l2", "last_level", "dram", "stalls"})
            QCOMPARE(b[key].dump(), a[key].dump());
    }
    void wrongLoopsAreNamed() {
        for (const QString& kernel : {QString("transpose n=100"), QString("fir n=64 tap=8"), QString("relu n=none")}) {
            const auto out = cli({"gpu", "--kernel", kernel, "--hardware", "mi300a"}, {}, patience);
            QVERIFY2(out.sound() && out.exit != 0 && out.error.contains("hint"), out.text());
        }
    }
    void optionsThatMeanNothingAreRefused_data() {
        QTest::addColumn<QStringList>("more");
        QTest::addColumn<QString>("says");
        QTest::newRow("setting") << QStringList{"--setting", "hardware"} << "--setting";
        QTest::newRow("generation") << QStringList{"--generation", "volta"} << "--generation";
        QTest::newRow("set") << QStringList{"--set", "gpgpu_n_mem=1"} << "--set";
        QTest::newRow("traces") << QStringList{"--traces", "x.g"} << "--traces";
        QTest::newRow("method") << QStringList{"--method", "guess"} << "guess";
        QTest::newRow("cycles") << QStringList{"--cycles", "abc"} << "abc";
        QTest::newRow("no cycles") << QStringList{"--cycles", "-5"} << "-5";
        QTest::newRow("threads") << QStringList{"--threads", "0"} << "--threads 0";
        QTest::newRow("resume") << QStringList{"--resume", "x"} << "--resume";
        QTest::newRow("sample") << QStringList{"--sample", "guess"} << "smarts, simpoint";
        QTest::newRow("units alone") << QStringList{"--units", "3"} << "--units";
        QTest::newRow("no units") << QStringList{"--sample", "smarts", "--units", "0"} << "--units 0";
        QTest::newRow("sampled intervals") << QStringList{"--sample", "smarts", "--method", "interval"} << "cycle";
    }
    void optionsOfSamplesMeanNothingToCounters_data() {
        QTest::addColumn<QStringList>("asked");
        QTest::newRow("predict") << QStringList{"--kernel", "gemm m=64 n=64 k=64 fp16", "--predict"};
        QTest::newRow("learn") << QStringList{"--learn-counters", "50"};
        QTest::newRow("judge") << QStringList{"--judge-counters", "5"};
    }
    void optionsOfSamplesMeanNothingToCounters() {
        QFETCH(QStringList, asked);
        for (const QStringList& more :
             {QStringList{"--sample", "smarts"}, {"--units", "3"}, {"--sample", "smarts", "--seed", "2"}}) {
            const auto out = cli(QStringList{"gpu"} + asked + more, {}, patience);
            QVERIFY2(out.sound() && out.exit != 0 && out.error.contains(more.front() + "` means nothing"), out.text());
        }
    }
    void optionsThatMeanNothingAreRefused() {
        QFETCH(QStringList, more);
        QFETCH(QString, says);
        const auto out = cli(product(more), {}, patience);
        QVERIFY2(out.sound() && out.exit != 0 && out.error.contains(says), out.text());
    }
    // Two kernels of two streams: by default one after the other, with Accel-Sim's option side by side.
    void streamsOverlapWhereAsked() {
        QDir().mkpath(folder_.filePath("streams"));
        QFile one(ORRERY_TEST_DATA "/gpu/add/kernel-add.traceg"), list(folder_.filePath("streams/kernelslist.g"));
        QVERIFY(one.open(QIODevice::ReadOnly) && list.open(QIODevice::WriteOnly));
        const QByteArray text = one.readAll();
        for (const char* stream : {"1", "2"}) {
            QFile other(folder_.filePath(QString("streams/kernel-%1.traceg").arg(stream)));
            QVERIFY(other.open(QIODevice::WriteOnly));
            QByteArray header = text;
            header.replace("-cuda stream id = 0", QByteArray("-cuda stream id = ") + stream);
            if (!header.contains("stream")) header.prepend(QByteArray("-cuda stream id = ") + stream + "\n");
            other.write(header);
            list.write("kernel-" + QByteArray(stream) + ".traceg\n");
        }
        list.close();
        const auto run = [&](QStringList more) {
            return cli(
                QStringList{"gpu", "--traces", list.fileName(), "--config", ORRERY_TEST_DATA "/gpu/small"} + more, {},
                patience);
        };
        const auto after = run({"--json"}), beside = run({"--json", "--set", "gpgpu_concurrent_kernel_sm=1"});
        QVERIFY2(after.exit == 0 && beside.exit == 0, beside.text());
        for (const std::string& error : schemaErrors(beside.out.toStdString(), "gpu")) QFAIL(error.c_str());
        const auto a = nlohmann::json::parse(after.out.toStdString())["kernels"],
                   b = nlohmann::json::parse(beside.out.toStdString())["kernels"];
        QCOMPARE(a[1]["start_cycle"].dump(), a[0]["end_cycle"].dump());
        QCOMPARE(b[1]["start_cycle"].get<int>(), 0);
        QVERIFY(b[1]["end_cycle"].get<int>() < a[1]["end_cycle"].get<int>());
        QCOMPARE(b[1]["instructions"].dump(), a[1]["instructions"].dump());
        // Cycles of a multiprocessor that holds both are told of neither.
        for (const auto& kernel : b) {
            QVERIFY(kernel["stalls"].is_null() && kernel["power_w"].is_null());
            QVERIFY(kernel["occupancy"]["active_sms"].is_null());
        }
        for (const auto& kernel : a) {
            const auto& stalls = kernel["stalls"];
            double sum = 0;
            for (const char* part : {"issued", "no_instruction", "dependence", "unit_busy"})
                sum += stalls[part].get<double>();
            QCOMPARE(sum, stalls["scheduler_cycles"].get<double>());
        }
        QVERIFY(run({"--set", "gpgpu_concurrent_kernel_sm=1"}).out.contains("side by side"));
    }
    // The same kernel twice, and then in two runs with a file between them; on any number of threads.
    void aRunGoesOnFromItsSnapshot_data() {
        QTest::addColumn<QString>("kernel");
        QTest::addColumn<QString>("hardware");
        QTest::newRow("NVIDIA") << "gemm m=128 n=128 k=128 fp16"
                                << "a100-80-sxm";
        QTest::newRow("AMD") << "fir n=4096 taps=8"
                             << "mi300a";
    }
    void aRunGoesOnFromItsSnapshot() {
        QFETCH(QString, kernel);
        QFETCH(QString, hardware);
        const QString folder = folder_.filePath("twice-" + hardware);
        const auto exported =
            cli({"gpu", "--kernel", kernel, "--hardware", hardware, "--export", folder, "--json"}, {}, patience);
        QVERIFY2(exported.exit == 0, exported.text());
        QFile list(folder + "/kernelslist.g");
        QVERIFY(list.open(QIODevice::ReadWrite));
        const QByteArray once = list.readAll();
        list.write(once);
        list.close();
        const auto run = [&](QStringList more) {
            const auto out =
                cli(QStringList{"gpu", "--traces", list.fileName(), "--config", folder, "--whole-addresses", "--json"} +
                        more,
                    {}, patience);
            if (out.exit != 0) return nlohmann::json{{"error", out.error.toStdString()}};
            return nlohmann::json::parse(out.out.toStdString())["kernels"];
        };
        const auto whole = run({"--threads", "2"});
        QCOMPARE(whole.size(), std::size_t{2});
        QCOMPARE(whole[1]["start_cycle"].dump(), whole[0]["end_cycle"].dump());
        const QString file = folder + "/after-1.snapshot";
        const auto first = run({"--until-kernel", "1", "--snapshot", file}), rest = run({"--resume", file});
        QCOMPARE(first.dump(), nlohmann::json::array({whole[0]}).dump());
        QCOMPARE(rest.dump(), nlohmann::json::array({whole[1]}).dump());
        // Where the file cannot be written, what was simulated is told all the same.
        const auto unwritten = cli({"gpu", "--traces", list.fileName(), "--config", folder, "--whole-addresses",
                                    "--json", "--until-kernel", "1", "--snapshot", folder + "/none/x"},
                                   {}, patience);
        QVERIFY(unwritten.exit != 0 && !unwritten.error.isEmpty());
        QCOMPARE(nlohmann::json::parse(unwritten.out.toStdString())["kernels"].dump(), first.dump());
    }
    void wrongSnapshotsAreNamed_data() {
        QTest::addColumn<QStringList>("more");
        QTest::addColumn<QString>("says");
        QTest::newRow("no kernel") << QStringList{"--snapshot", "x"} << "--until-kernel";
        QTest::newRow("no number") << QStringList{"--until-kernel", "last"} << "--until-kernel last";
        QTest::newRow("beyond") << QStringList{"--until-kernel", "7"} << "no kernel 7";
        QTest::newRow("no file") << QStringList{"--resume", "/none/x"} << "/none/x";
        QTest::newRow("no snapshot") << QStringList{"--resume", ORRERY_TEST_DATA "/gpu/add/kernelslist.g"}
                                     << "no snapshot";
        const QString empty = folder_.filePath("empty.snapshot");
        QVERIFY(QFile(empty).open(QFile::WriteOnly));
        QTest::newRow("empty") << QStringList{"--resume", empty} << "empty.snapshot";
        QTest::newRow("intervals") << QStringList{"--until-kernel", "1", "--method", "interval"} << "--method cycle";
    }
    void wrongSnapshotsAreNamed() {
        QFETCH(QStringList, more);
        QFETCH(QString, says);
        const auto out = cli(QStringList{"gpu", "--traces", ORRERY_TEST_DATA "/gpu/add/kernelslist.g", "--config",
                                         ORRERY_TEST_DATA "/gpu/small"} +
                                 more,
                             {}, patience);
        QVERIFY2(out.sound() && out.exit != 0 && out.error.contains(says), out.text());
    }
    void aLimitOfCyclesHolds() {
        const auto out = cli(product({"--cycles", "1100"}), {}, patience);
        QVERIFY2(out.exit == 1 && out.error.contains("1100"), out.text());
    }
};

QTEST_GUILESS_MAIN(TestCliGpu)
#include "tst_cli_gpu.moc"
