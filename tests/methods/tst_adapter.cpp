// Other programs as methods: stand-ins that answer, hang, fail and talk nonsense; recorded output; bad adapters.

#include "methods/adapter/adapter_run.h"
#include "simulation/systolic/folds.h"
#include "support/adapter_fixture.h"

#include <QElapsedTimer>
#include <QtTest/QtTest>

#include <chrono>
#include <thread>

using namespace orrery;
using namespace orrery::test;

namespace {

double figure(const Estimate& answer, const std::string& label) {
    for (const Figure& each : answer.figures)
        if (each.label == label) return each.value;
    return -1;
}

bool hasWarning(const Estimate& answer, const std::string& code) {
    return std::any_of(answer.warnings.begin(), answer.warnings.end(),
                       [&](const Diagnostic& d) { return d.code == code; });
}

// The products of a workload, repeats counted.
double productLaunches(const Scenario& scenario) {
    double count = 0;
    const auto& graph = scenario.workload->graph;
    for (const Operator& op : graph.operators)
        if (op.kind == OperatorKind::MatMul) count += op.repeat;
    return count;
}

}  // namespace

class TstAdapter : public QObject {
    Q_OBJECT
private slots:
    // Every product stands at what the program says, equal ones are asked once.
    void aProgramAnswersKernelByKernel() {
        StandIn tool;
        tool.adapter();
        tool.program("echo asked >> \"$(dirname \"$0\")/calls\"\necho m,n,k,seconds\necho \"$1,$2,$3,0.001\"\n");
        const Scenario scenario = products();
        const auto answer = asked(tool.method(), scenario);
        QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
        QFile calls(tool.folder() + "/calls");
        QVERIFY(calls.open(QIODevice::ReadOnly));
        const double runs = static_cast<double>(calls.readAll().count('\n'));
        QCOMPARE(figure(*answer, "Runs of Stand-in"), runs);
        QVERIFY(runs < productLaunches(scenario));
        int products = 0;
        for (std::size_t i = 0; i < answer->operators.size(); ++i) {
            const Operator& op = scenario.workload->graph.operators[i];
            if (op.kind != OperatorKind::MatMul) continue;
            ++products;
            QVERIFY(answer->operators.seconds[i] >= 0.001 * static_cast<double>(op.repeat) * (1 - 1e-9));
        }
        QVERIFY(products > 3);
        QVERIFY(answer->latency.value >= 0.001 * productLaunches(scenario) * (1 - 1e-9));
        // Nothing is known of its error: a factor of two either way is allowed for.
        QVERIFY(answer->interval.low.value < answer->latency.value &&
                answer->latency.value < answer->interval.high.value);
        QVERIFY(figure(*answer, "Run time of Stand-in") > 0);
        QVERIFY(answer->provenance.method.find(tool.file()) != std::string::npos);
    }
    // A path with blanks, quotes and what a shell would run is a path.
    void oddPathsAreNoCode() {
        StandIn tool("it's \"odd\" $(touch hacked) `touch hacked` ; touch hacked");
        tool.adapter();
        tool.program("echo m,n,k,seconds\necho \"$1,$2,$3,0.001\"\n");
        const auto answer = asked(tool.method(), products());
        QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
        QVERIFY(!QFile::exists("hacked") && !QFile::exists(tool.folder() + "/hacked"));
    }
    void wordsOfADrawingAreNoCode() {
        AdapterValues values;
        values.setWord("device", "--evil $(touch x)\n`y`\"; rm");
        const auto said = values.expand({"${device}", 1}, {});
        QVERIFY(said);
        QCOMPARE(*said, std::string("_-evil __touch x___y___ rm"));
    }
    void badProgramsGiveADiagnosis_data() {
        QTest::addColumn<QString>("script");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("says");
        QTest::addColumn<QString>("place");
        QTest::newRow("exits 1") << "echo no licence >&2; exit 1"
                                 << "adapter.failed"
                                 << "no licence"
                                 << "tool.yaml:5";
        QTest::newRow("crashes") << "kill -SEGV $$"
                                 << "adapter.failed"
                                 << "signal 11"
                                 << "tool.yaml:5";
        QTest::newRow("nothing") << "true"
                                 << "adapter.output"
                                 << "seconds"
                                 << "stdout.txt";
        QTest::newRow("another column") << "echo m,time; echo 1,2"
                                        << "adapter.output"
                                        << "no column `seconds`"
                                        << "stdout.txt:1";
        QTest::newRow("a word") << "echo m,seconds; echo 1,fast"
                                << "adapter.output"
                                << "`fast` is no number"
                                << "stdout.txt:2";
        QTest::newRow("not a number") << "echo seconds; echo nan"
                                      << "adapter.output"
                                      << "no number"
                                      << "stdout.txt:2";
        QTest::newRow("below zero") << "echo seconds; echo -1"
                                    << "adapter.output"
                                    << "time of -1"
                                    << "tool.yaml";
        QTest::newRow("two rows") << "echo seconds; echo 1; echo 2"
                                  << "adapter.output"
                                  << "2 times"
                                  << "stdout.txt:3";
        QTest::newRow("a short row") << "echo a,seconds; echo 1"
                                     << "adapter.output"
                                     << "ends before"
                                     << "stdout.txt:2";
        QTest::newRow("garbage") << "head -c 4000 /dev/urandom"
                                 << "adapter.output"
                                 << ""
                                 << "stdout.txt";
        QTest::newRow("huge") << "yes 1,2,3"
                              << "program.too-much-output"
                              << "64 MiB"
                              << "tool.yaml:5";
    }
    void badProgramsGiveADiagnosis() {
        QFETCH(QString, script);
        StandIn tool;
        tool.adapter();
        tool.program(script + "\n");
        const auto answer = asked(tool.method(), products());
        QVERIFY(!answer);
        QTEST(QString::fromStdString(answer.error().code), "code");
        QFETCH(QString, says);
        const QString said = QString::fromStdString(toText(answer.error()));
        QVERIFY2(said.contains(says), qPrintable(said));
        QFETCH(QString, place);
        QVERIFY2(said.contains(place), qPrintable(said));
    }
    void aHangingProgramIsStopped() {
        StandIn tool;
        tool.adapter();
        tool.program("sleep 60\n");
        std::stop_source stop;
        std::jthread later([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            stop.request_stop();
        });
        const auto answer = asked(tool.method(), products(), stop.get_token());
        QVERIFY(!answer);
        QCOMPARE(answer.error().code, std::string("study.cancelled"));
        const auto limited = asked(tool.method(", limit=100 ms"), products());
        QVERIFY(!limited);
        QCOMPARE(limited.error().code, std::string("program.too-long"));
    }
    void aMissingProgramIsNamed() {
        StandIn tool;
        tool.adapter();
        const auto answer = asked(tool.method(), products());
        QVERIFY(!answer);
        QCOMPARE(answer.error().code, std::string("adapter.not-found"));
        QVERIFY2(toText(answer.error()).find("recorded=") != std::string::npos, toText(answer.error()).c_str());
    }
    // What was kept of a run is read again, without the program, to the same times; and says so.
    void recordedRunsAnswerAsTheProgramDid() {
        StandIn tool;
        tool.adapter();
        tool.program("echo m,n,k,seconds\necho \"$1,$2,$3,0.00$(($1 % 7 + 1))\"\n");
        const Scenario scenario = products();
        const std::string kept = tool.folder().toStdString() + "/kept";
        const auto ran = asked(tool.method(", keep=" + kept), scenario);
        QVERIFY2(ran, ran ? "" : toText(ran.error()).c_str());
        QVERIFY(!hasWarning(*ran, "adapter.recorded"));
        QFile::remove(tool.folder() + "/tool");
        const auto read = asked(tool.method(", recorded=" + kept), scenario);
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        QCOMPARE(read->latency.value, ran->latency.value);
        QCOMPARE(read->operators.seconds, ran->operators.seconds);
        QVERIFY(hasWarning(*read, "adapter.recorded"));
        QVERIFY(read->provenance.method.find("recorded=") != std::string::npos);
        QCOMPARE(figure(*read, "Runs of Stand-in"), -1.0);
        // Of nothing that fits, there is no answer that only looks like one.
        const auto other = asked(tool.method(", recorded=" + tool.folder().toStdString()), scenario);
        QVERIFY(!other);
        QCOMPARE(other.error().code, std::string("adapter.nothing-recorded"));
    }
    // One table of many kernels, found by their shapes.
    void aRecordedTableIsSearchedByShape() {
        const QTemporaryDir folder;
        QFile table(folder.filePath("kernels.csv"));
        QVERIFY(table.open(QIODevice::WriteOnly));
        table.write("batch,m,n,k,seconds\n1,64,1024,1024,0.5\n1,64,1024,4096,0.25\n");
        table.close();
        const Scenario scenario = products();
        const auto answer = asked("csv-table(recorded=" + folder.path().toStdString() + ")", scenario);
        QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
        // In each of 24 layers the output projection and the second product of the feed-forward part; what the table
        // lacks stands at its roofline of microseconds.
        QVERIFY2(answer->latency.value > 0.75 * 24 && answer->latency.value < 1.01 * 0.75 * 24,
                 qPrintable(QString::number(answer->latency.value)));
    }
    // Reports of the real programs: SCALE-Sim 3 and Timeloop v3.0.3, as they wrote them.
    void realReportsAreRead() {
        const QString reference = ORRERY_REFERENCE;
        const QString scaleSim = reference + "/accelerators/scalesim/golden/golden_trace_user_ws_COMPUTE_REPORT.csv";
        const QString timeloop = reference + "/accelerators/timeloop/tl_gemm_ws16_256x128x256/timeloop-model.stats.txt";
        if (!QFile::exists(scaleSim) || !QFile::exists(timeloop)) QSKIP("the reference data is not here");
        const QTemporaryDir folder;
        QDir(folder.path()).mkpath("run/out/orrery");
        QVERIFY(QFile::copy(scaleSim, folder.filePath("run/out/orrery/COMPUTE_REPORT.csv")));
        QVERIFY(QFile::copy(timeloop, folder.filePath("run/timeloop-model.stats.txt")));
        AdapterValues values;
        values.set("array_clock", 1e9);
        values.set("share_rounds", 1);
        AdapterUse use;
        use.recorded = folder.path().toStdString();
        const auto cycles = runAdapter(**findAdapter("scale-sim"), use, values, "run", {}, {});
        QVERIFY2(cycles && *cycles, cycles ? "not there" : toText(cycles.error()).c_str());
        QCOMPARE((*cycles)->seconds, 52447e-9);  // notes of the recording: 52447 cycles, 41248 of them stalled
        const auto nest = runAdapter(**findAdapter("timeloop"), use, values, "run", {}, {});
        QVERIFY2(nest && *nest, nest ? "not there" : toText(nest.error()).c_str());
        QCOMPARE((*nest)->seconds, 32768e-9);
        QVERIFY(std::abs(*(*nest)->joules - 76.47e-6) < 1e-12);
    }
    // SCALE-Sim's own cycles, found in its recorded table by shape, array and dataflow, are those of our closed form.
    void aRecordedTableOfAPeerStandsBesideOurs() {
        const QString reference = ORRERY_REFERENCE;
        const QString table = reference + "/accelerators/scalesim/table.csv";
        if (!QFile::exists(table)) QSKIP("the reference data is not here");
        StandIn tool;
        tool.write(
            "tool.yaml",
            "orrery: adapter/1\ntakes: [gemm]\nasks: [array]\nprogram: {recorded_only: true}\n"
            "read: {cycles: {file: table.csv, column: total_cycles, row: first, where: {M: m, N: n, K: k, R: rows, "
            "C: columns, dataflow: \"${dataflow}\"}}}\ntime: {value: cycles, unit: cycles}\n");
        const auto adapter = readAdapter(tool.file());
        QVERIFY2(adapter, adapter ? "" : toText(adapter.error()).c_str());
        AdapterUse use;
        use.recorded = QFileInfo(table).path().toStdString();
        int found = 0;
        for (const std::int64_t side : {8, 16, 32, 128}) {
            for (const Dataflow flow :
                 {Dataflow::WeightStationary, Dataflow::OutputStationary, Dataflow::InputStationary}) {
                for (const auto& [m, n, k] :
                     {std::array<std::int64_t, 3>{256, 128, 256}, {64, 64, 64}, {100, 37, 53}, {1, 256, 256}}) {
                    AdapterValues values;
                    const std::pair<const char*, std::int64_t> numbers[] = {
                        {"m", m}, {"n", n}, {"k", k}, {"rows", side}, {"columns", side}};
                    for (const auto& [name, value] : numbers) values.set(name, static_cast<double>(value));
                    values.set("array_clock", 1e9);
                    values.setWord("dataflow", flow == Dataflow::WeightStationary   ? "ws"
                                               : flow == Dataflow::OutputStationary ? "os"
                                                                                    : "is");
                    const auto theirs = runAdapter(*adapter, use, values, "run", {}, {});
                    QVERIFY2(theirs, theirs ? "" : toText(theirs.error()).c_str());
                    if (!*theirs) continue;
                    ++found;
                    systolic::Array array;
                    array.rows = array.cols = side;
                    array.dataflow = flow;
                    const auto ours = systolic::planFolds(array, systolic::gemmLayer("x", m, n, k));
                    QVERIFY(ours);
                    QCOMPARE(std::llround((*theirs)->seconds * 1e9), ours->cycles() - 1);  // the tool counts from 0
                }
            }
        }
        QVERIFY2(found >= 20, qPrintable(QString::number(found)));
    }
    void printedFormsAreRead() {
        const QTemporaryDir folder;
        const auto put = [&](const char* name, const char* text) {
            QFile file(folder.filePath(name));
            if (!file.open(QIODevice::WriteOnly)) qFatal("cannot write");
            file.write(text);
        };
        AdapterUse use;
        use.recorded = folder.path().toStdString();
        AdapterValues values;
        values.set("clock", 2e9);
        put("stdout.txt",
            "sys[0] finished, 1082502830 cycles, exposed communication 52830 cycles.\n"
            "sys[1] finished, 1082502831 cycles, exposed communication 52829 cycles.\n");
        const auto astra = runAdapter(**findAdapter("astra-sim"), use, values, "x", {}, {});
        QVERIFY2(astra && *astra, astra ? "" : toText(astra.error()).c_str());
        QCOMPARE((*astra)->seconds, 1.082502831);
        QCOMPARE((*astra)->figures.front().value, 52830e-9);
        put("request_metrics.csv", "Request Id,request_e2e_time,prefill_e2e_time\n0,1.5,0.25\n1,2.5,0.75\n");
        const auto vidur = runAdapter(**findAdapter("vidur"), use, values, "x", {}, {});
        QVERIFY2(vidur && *vidur, vidur ? "" : toText(vidur.error()).c_str());
        QCOMPARE((*vidur)->seconds, 2.0);
        QCOMPARE((*vidur)->figures.front().value, 0.5);
        QDir(folder.path()).mkpath("x");
        put("x/stdout.txt", "gpu_sim_cycle = 4\ngpu_tot_sim_cycle = 5480\ngpu_tot_sim_cycle = 6000\n");
        const auto accel = runAdapter(**findAdapter("accel-sim"), use, values, "x", {}, {});
        QVERIFY2(accel && *accel, accel ? "" : toText(accel.error()).c_str());
        QCOMPARE((*accel)->seconds, 3e-6);
        put("x/stats.txt", "simSeconds                                   0.000516                       # Number\n");
        const auto gem5 = runAdapter(**findAdapter("gem5"), use, values, "x", {}, {});
        QVERIFY2(gem5 && *gem5, gem5 ? "" : toText(gem5.error()).c_str());
        QCOMPARE((*gem5)->seconds, 516e-6);
    }
    // Asked once for the whole: a training step of a plan, as traces of every rank.
    void aProgramAnswersForTheWhole() {
        StandIn tool;
        tool.program(
            "[ -s et/step.0.et ] && [ -s et/step.7.et ] && [ ! -e et/step.8.et ] && [ -s network.yml ] || exit 9\n"
            "for a in \"$@\"; do [ \"$a\" = --workload-configuration=et/step ] && found=1; done\n"
            "[ \"$found\" ] || exit 8\n"
            "echo sys[0] finished, 5000000 cycles, exposed communication 100000 cycles.\n"
            "echo sys[1] finished, 6000000 cycles, exposed communication 200000 cycles.\n");
        WorkloadRecipe recipe{.source = "bert-large"};
        recipe.options.batch = 8;
        recipe.options.sequence = 128;
        Scenario scenario{std::make_shared<const Hardware>(loadHardware("dgx-h100")->hardware), *loadWorkload(recipe)};
        scenario.plan.data = 8;
        const std::string method = "astra-sim(program=" + (tool.folder() + "/tool").toStdString() + ")";
        const auto pass = asked(method, scenario);
        QVERIFY(!pass);
        QCOMPARE(pass.error().code, std::string("method.not-applicable"));
        scenario.task = TrainingStep{};
        const auto answer = asked(method, scenario);
        QVERIFY2(answer, answer ? "" : toText(answer.error()).c_str());
        QCOMPARE(answer->latency.value, 6e-3);
        QCOMPARE(figure(*answer, "Exposed exchanges"), 200e-6);
        QCOMPARE(figure(*answer, "Runs of ASTRA-sim"), 1.0);
        QVERIFY(answer->interval.low.value < 6e-3 && answer->interval.high.value > 6e-3);
    }
    // A program that is there and is not the one that is meant has not been found.
    void anotherProgramOfThatNameIsNotFound() {
        StandIn tool;
        tool.write("tool.yaml",
                   "orrery: adapter/1\ntakes: [gemm]\ncommand: [\"${program}\"]\nprogram: {find: [./tool], version: "
                   "{arguments: [--version], pattern: 'right ([0-9.]+)'}}\nread: {s: {column: s}}\ntime: {value: s, "
                   "unit: s}\n");
        const auto adapter = readAdapter(tool.file());
        QVERIFY2(adapter, adapter ? "" : toText(adapter.error()).c_str());
        tool.program("echo wrong 1.0\n");
        QVERIFY(!lookFor(*adapter).found());
        QTest::qSleep(20);  // the answer is kept while the file is as it was
        tool.program("echo right 2.5\n");
        QVERIFY(lookFor(*adapter).found());
        QCOMPARE(lookFor(*adapter).version, std::string("2.5"));
        QTest::qSleep(20);
        tool.program("echo no such module >&2; exit 1\n");
        QVERIFY(!lookFor(*adapter).found());
        QVERIFY2(lookFor(*adapter).why.find("no such module") != std::string::npos, lookFor(*adapter).why.c_str());
    }
    void everyShippedAdapterIsReadAndListed() {
        QVERIFY2(shippedAdapters().warnings.empty(),
                 shippedAdapters().warnings.empty() ? "" : toText(shippedAdapters().warnings.front()).c_str());
        QVERIFY(shippedAdapters().all.size() >= 9);
        for (const AdapterPtr& each : shippedAdapters().all) {
            const Method* method = findMethod(each->id);
            QVERIFY(method && method->card.title == each->title && !each->fails.empty() && !each->tried.empty());
            QVERIFY(!method->card.live);  // nobody's program runs at every edit
            QVERIFY(each->level != MethodLevel::Kernel || findKernelMethod(each->id));
            for (const Method& own : builtinMethods()) QVERIFY(own.card.id != each->id);
        }
    }
    // Inputs follow the drawing and the kernel, for every adapter that writes some.
    void inputsAreWrittenForWhoeverRunsThem() {
        const QTemporaryDir folder;
        Scenario scenario = products("tpu-v3");
        const auto names = writeAdapterInputs(**findAdapter("scale-sim"), scenario, folder.path().toStdString());
        QVERIFY2(names, names ? "" : toText(names.error()).c_str());
        QVERIFY(!names->empty());
        QFile config(folder.filePath(QString::fromStdString(names->front()) + "/run.cfg"));
        QVERIFY(config.open(QIODevice::ReadOnly));
        const QByteArray text = config.readAll();
        QVERIFY2(text.contains("ArrayHeight: 128\n") && text.contains("Dataflow: ws\n"), text);
        QVERIFY(!text.contains("${"));
        const auto nests = writeAdapterInputs(**findAdapter("timeloop"), scenario, folder.path().toStdString());
        QVERIFY2(nests, nests ? "" : toText(nests.error()).c_str());
        QVERIFY(QFile::exists(folder.filePath(QString::fromStdString(nests->front()) + "/run.yaml")));
        const auto layers = writeAdapterInputs(**findAdapter("maestro"), scenario, folder.path().toStdString());
        QVERIFY2(layers, layers ? "" : toText(layers.error()).c_str());
    }
    void badAdaptersAreRefusedWithLineAndHint_data() {
        QTest::addColumn<QString>("change");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("says");
        QTest::newRow("key") << "methodolgy: analytical\n"
                             << "adapter.key"
                             << "methodology";
        QTest::newRow("word") << "methodology: guessed\n"
                              << "adapter.value"
                              << "tool.yaml:8";
        QTest::newRow("kind") << "platforms: x\n"
                              << "adapter.value"
                              << "a list";
        QTest::newRow("regex") << "read: {a: {regex: '(['}}\ntime: {value: a, unit: s}\n"
                               << "adapter.value"
                               << "regular expression";
        QTest::newRow("no group") << "read: {a: {regex: 'x'}}\ntime: {value: a, unit: s}\n"
                                  << "adapter.value"
                                  << "group";
        QTest::newRow("out") << "inputs: [{file: ../x, text: y}]\n"
                             << "adapter.value"
                             << "leads out";
        QTest::newRow("absolute") << "inputs: [{file: /tmp/x, text: y}]\n"
                                  << "adapter.value"
                                  << "leads out";
        QTest::newRow("writer") << "inputs: [{file: x, writer: timelop}]\n"
                                << "adapter.value"
                                << "timeloop";
        QTest::newRow("unit") << "energy: {value: seconds, unit: parsecs}\n"
                              << "adapter.value"
                              << "parsecs";
        QTest::newRow("sum") << "energy: {value: seconds +, unit: J}\n"
                             << "adapter.expression"
                             << "arithmetic";
    }
    void badAdaptersAreRefusedWithLineAndHint() {
        QFETCH(QString, change);
        StandIn tool;
        const bool whole = change.startsWith("read:");
        tool.adapter(whole ? change : "read: {seconds: {column: seconds}}\ntime: {value: seconds, unit: s}\n" + change);
        const auto read = readAdapter(tool.file());
        QVERIFY(!read);
        QTEST(QString::fromStdString(read.error().code), "code");
        QFETCH(QString, says);
        const QString said = QString::fromStdString(toText(read.error()));
        QVERIFY2(said.contains(says) && said.contains("tool.yaml:"), qPrintable(said));
    }
    void valuesThatAreNotThereAreNamed() {
        StandIn tool;
        tool.adapter("read: {seconds: {column: seconds}}\ntime: {value: seconds, unit: s}\n",
                     "[\"${program}\", \"${collumns}\"]");
        tool.program("echo seconds; echo 1\n");
        const auto answer = asked(tool.method(), products("tpu-v3"));
        QVERIFY(!answer);
        QCOMPARE(answer.error().code, std::string("adapter.no-value"));
        QVERIFY2(toText(answer.error()).find("columns") != std::string::npos, toText(answer.error()).c_str());
    }
    // A real program of Debian: more misses where the drawn caches are smaller.
    void cachegrindSeesTheDrawnCaches() {
        const auto adapter = findAdapter("cachegrind");
        QVERIFY(adapter);
        if (!lookFor(**adapter).found() || findProgram("gcc").empty()) QSKIP("valgrind or gcc is not installed");
        const auto seconds = [&](double l1) {
            AdapterValues values;
            for (const auto& [name, value] : std::map<std::string, double>{{"batch", 1},
                                                                           {"m", 96},
                                                                           {"n", 96},
                                                                           {"k", 96},
                                                                           {"cores", 1},
                                                                           {"clock", 1e9},
                                                                           {"inner.capacity", l1},
                                                                           {"inner.instances", 1},
                                                                           {"outer.capacity", 1 << 20},
                                                                           {"outer.instances", 1}})
                values.set(name, value);
            AdapterUse use;
            use.program = lookFor(**adapter).program;
            const auto answer = runAdapter(**adapter, use, values, "run", {}, {});
            if (!answer) qWarning("%s", toText(answer.error()).c_str());
            return answer && *answer ? (*answer)->seconds : -1.0;
        };
        const double small = seconds(4096), large = seconds(128 * 1024);
        QVERIFY(small > 0 && large > 0);
        QVERIFY2(small > large, qPrintable(QString("%1 %2").arg(small).arg(large)));
        // 96³ multiply-accumulates are at least that many over the widest vectors' 16 lanes.
        QVERIFY(large > 96.0 * 96 * 96 / 16 / 1e9);
    }
};

QTEST_GUILESS_MAIN(TstAdapter)
#include "tst_adapter.moc"
