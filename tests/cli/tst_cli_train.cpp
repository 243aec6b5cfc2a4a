// `orrery-cli train --astra DIR`: a folder as ASTRA-sim has it, written here; its result to the cycle by the closed
// form of a ring; what is wrong with a folder is said with file and place.

#include "support/cli_process.h"
#include "support/schema_check.h"
#include "workload/traces/chakra.h"

#include <QFileInfo>
#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

using namespace orrery;
using namespace orrery::test;

class TstCliTrain : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

    void write(const QString& name, const QByteArray& text) {
        QFileInfo(folder_.filePath(name)).dir().mkpath(".");
        QFile file(folder_.filePath(name));
        if (!file.open(QIODevice::WriteOnly)) qFatal("%s cannot be written", qPrintable(name));
        file.write(text);
    }
    QString ringOfFour(const QString& name) {
        write(
            name + "/system.json",
            R"({"scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1, "preferred-dataset-splits": 4,
 "all-reduce-implementation": ["ring"], "all-gather-implementation": ["ring"], "reduce-scatter-implementation": ["ring"],
 "all-to-all-implementation": ["ring"], "collective-optimization": "localBWAware", "local-mem-bw": 1600})");
        write(name + "/network.yml",
              "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]  # GB/s\nlatency: [ 500.0 ]\n");
        write(name + "/memory.json", R"({"memory-type": "NO_MEMORY_EXPANSION"})");
        TraceBuilder builder;
        TraceNode node;
        node.id = 0;
        node.work = TraceWork::Compute;
        node.microseconds = 7;
        builder.add(node, "forward", {});
        node = {};
        node.id = 1;
        node.work = TraceWork::Collective;
        node.bytes = 1 << 20;
        const std::uint64_t waits[] = {0};
        builder.add(node, "gradients", waits);
        const std::string text = chakraText(*builder.finish("test"));
        for (int rank = 0; rank < 4; ++rank)
            write(QString("%1/et/ring.%2.et").arg(name).arg(rank), QByteArray::fromStdString(text));
        return folder_.filePath(name);
    }

private slots:
    // ASTRA-sim 2.0 records 64,440 cycles for this all-reduce among eight and 43,000 among four, busy links or not.
    void aFolderAsItIs() {
        const QString folder = ringOfFour("good");
        for (const char* congestion : {"aware", "unaware"}) {
            const Outcome outcome = cli({"train", "--astra", folder, "--congestion", congestion, "--json"});
            QVERIFY2(outcome.exit == 0, outcome.text().constData());
            const Json json = Json::parse(outcome.out.toStdString());
            for (const std::string& error : schemaErrors(outcome.out.toStdString(), "training"))
                QVERIFY2(false, error.c_str());
            QCOMPARE(json["ranks"].size(), std::size_t{4});
            for (std::size_t r = 0; r < 4; ++r) {
                QCOMPARE(json["ranks"][r]["rank"].get<std::size_t>(), r);
                QCOMPARE(json["ranks"][r]["cycles"].get<int>(), 43000 + 7000);
                QCOMPARE(json["ranks"][r]["exposed_cycles"].get<int>(), 43000);
            }
        }
        const Outcome text = cli({"train", "--astra", folder});
        QVERIFY2(text.out.contains("0 to 3"), text.text().constData());
        QVERIFY2(text.out.contains("50.000"), text.text().constData());
        const Outcome own = cli({"train", "--astra", folder, "--own-semantics", "--json"});
        QVERIFY2(own.exit == 0, own.text().constData());
        // GB of 10^9 instead of GiB: slower by up to 7 %.
        const int cycles = Json::parse(own.out.toStdString())["ranks"][0]["cycles"].get<int>();
        QVERIFY(cycles > 50000 && cycles < 53500);
    }
    // A plan's step as a folder, and back: 16 ranks end together by stage, after at least what each computes.
    void aPlanAsAFolder() {
        const QString folder = folder_.filePath("plan");
        const Outcome made = cli({"run", "--hardware", "dgx-h100-x2", "--workload", "gpt-2", "--phase",
                                  "training-forward", "--batch", "16", "--seq", "512", "--plan", "tp=2,pp=2,dp=4,mb=4",
                                  "--task", "training-step", "--method", "tile-hybrid", "--chakra", folder});
        QVERIFY2(made.exit == 0, made.text().constData());
        QVERIFY2(made.out.contains("16 traces"), made.text().constData());
        const Outcome outcome = cli({"train", "--astra", folder, "--json"});
        QVERIFY2(outcome.exit == 0, outcome.text().constData());
        const Json ranks = Json::parse(outcome.out.toStdString())["ranks"];
        QCOMPARE(ranks.size(), std::size_t{16});
        for (std::size_t r = 0; r < 16; ++r) {
            QCOMPARE(ranks[r]["cycles"].get<std::int64_t>(), ranks[r / 8 * 8]["cycles"].get<std::int64_t>());
            QVERIFY(ranks[r]["compute_cycles"].get<std::int64_t>() > 0);
            QVERIFY(ranks[r]["cycles"].get<std::int64_t>() > ranks[r]["compute_cycles"].get<std::int64_t>());
        }
        const Outcome refused = cli({"run", "--hardware", "dgx-h100-x2", "--workload", "gpt-2", "--plan", "tp=2",
                                     "--method", "tile-hybrid", "--chakra", folder});
        QVERIFY2(refused.exit == 1 && refused.error.contains("training.ranks"), refused.text().constData());
    }
    // A table of two layers on four ranks: 190 us of computation, and an all-reduce behind each layer's.
    void oneTraceOnEveryRank() {
        write("layers.txt",
              "DATA\n2\na -1 10 NONE 0 20 NONE 0 30 ALLREDUCE 4000000 1\nb -1 40 NONE 0 40 NONE 0 50 ALLREDUCE 4000000 "
              "1\n");
        const QStringList words{"train",     "--trace",     folder_.filePath("layers.txt"),
                                "--ranks",   "4",           "--topology",
                                "Ring",      "--bandwidth", "100",
                                "--latency", "0",           "--congestion",
                                "unaware",   "--json"};
        const Outcome outcome = cli(words);
        QVERIFY2(outcome.exit == 0, outcome.text().constData());
        const Json json = Json::parse(outcome.out.toStdString());
        for (const std::string& error : schemaErrors(outcome.out.toStdString(), "training"))
            QVERIFY2(false, error.c_str());
        QCOMPARE(json["ranks"].size(), std::size_t{4});
        QCOMPARE(json["trace"]["form"].get<std::string>(), std::string("layers of ASTRA-sim 1.0"));
        QCOMPARE(json["trace"]["device_us"].get<double>(), 190.0);
        QCOMPARE(json["trace"]["collectives"]["all-reduce"]["bytes"].get<double>(), 8e6);
        // Chunks of 1 MB, two at a time, six steps of a quarter: ten ns before each and after the last, and three times
        // a reduction of three passes at 3,350 GB/s.
        const double chunk = 10 + 6 * (2500 + 10) + 3 * 3 * 250000 / 3350.0;
        for (std::size_t r = 0; r < 4; ++r) {
            QCOMPARE(json["ranks"][r]["compute_cycles"].get<int>(), 190000);
            const double exposed = json["ranks"][r]["exposed_cycles"].get<double>();
            QVERIFY2(std::abs(exposed - 2 * 2 * chunk) <= 8, qPrintable(QString::number(exposed)));
        }
        const Outcome overlapped = cli(words + QStringList{"--order", "overlap"});
        QVERIFY2(overlapped.exit == 0, overlapped.text().constData());
        const Json less = Json::parse(overlapped.out.toStdString());
        // The first layer's input gradient is not needed, and the second's exchange is hidden.
        QCOMPARE(less["ranks"][0]["compute_cycles"].get<int>(), 170000);
        QVERIFY(less["ranks"][0]["exposed_cycles"].get<double>() < 3 * chunk);
        const Outcome text = cli(words.mid(0, words.size() - 1));
        QVERIFY2(text.out.contains("0 to 3") && text.out.contains("all-reduce"), text.text().constData());
        const Outcome two = cli({"train", "--trace", folder_.filePath("layers.txt"), "--ranks", "2,4", "--topology",
                                 "FullyConnected,Switch"});
        QVERIFY2(two.exit == 0 && two.out.contains("0 to 7"), two.text().constData());
    }
    // Links that share, packets, a mesh with a schedule of its own, sums in a switch, a drawn network.
    void otherNetworks() {
        write("sums.txt", "DATA\n1\na -1 10 NONE 0 20 NONE 0 30 ALLREDUCE 16000000 1\n");
        const auto exposed = [&](const QStringList& words) {
            const Outcome outcome =
                cli(QStringList{"train", "--trace", folder_.filePath("sums.txt"), "--json"} + words);
            if (outcome.exit != 0) qFatal("%s", outcome.text().constData());
            for (const std::string& error : schemaErrors(outcome.out.toStdString(), "training"))
                qFatal("%s", error.c_str());
            double most = 0;
            const Json json = Json::parse(outcome.out.toStdString());
            for (const Json& rank : json["ranks"]) most = std::max(most, rank["waiting_cycles"].get<double>());
            return most;
        };
        const QStringList eight{"--ranks", "8"};
        const double stored = exposed(eight), fluid = exposed(eight + QStringList{"--links", "fluid"}),
                     packets = exposed(eight + QStringList{"--links", "packets"}),
                     summed = exposed(eight + QStringList{"--algorithm", "inNetwork"});
        QVERIFY(fluid <= stored && summed < stored && packets > 0.9 * fluid && packets < 1.2 * stored);
        // Smaller packets, more headers.
        QVERIFY(exposed(eight + QStringList{"--links", "packets", "--payload", "512"}) > 1.05 * packets);
        if (QFileInfo::exists(QFileInfo(ORRERY_CLI).path() + "/orrery-ns3")) {
            const double others = exposed(eight + QStringList{"--links", "ns3"});
            // A connection sends chunks one after the other, ours take turns.
            QVERIFY2(others > 0.7 * packets && others < 1.1 * packets,
                     qPrintable(QString("%1 and %2").arg(others).arg(packets)));
        } else {
            const Outcome none = cli(QStringList{"train", "--trace", folder_.filePath("sums.txt"), "--links", "ns3"});
            QVERIFY2(none.exit == 1 && none.error.contains("libns3-dev"), none.text().constData());
        }
        const QStringList mesh{"--ranks", "16", "--topology", "mesh4x4", "--bandwidth", "50"};
        QVERIFY(exposed(mesh + QStringList{"--algorithm", "synthesized"}) < 0.5 * exposed(mesh));
        const QStringList drawn{"--hardware", "dgx-1-v100"};
        QVERIFY(exposed(drawn + QStringList{"--algorithm", "synthesized"}) < exposed(drawn));
        const QStringList two{"--ranks", "8,8", "--bandwidth", "50"};
        QVERIFY(exposed(two + QStringList{"--dimension-order", "themis"}) < exposed(two));
    }
    // The file that ships: seven numbers of another tool, run again to the cycle.
    void casesOfAnotherTool() {
        const QString file = QStringLiteral(ORRERY_SOURCE "/presets/training/astra-sim-hgx-h100.yaml");
        const Outcome outcome = cli({"train", "--cases", file, "--json"});
        QVERIFY2(outcome.exit == 0, outcome.text().constData());
        for (const std::string& error : schemaErrors(outcome.out.toStdString(), "training-cases"))
            QVERIFY2(false, error.c_str());
        const Json json = Json::parse(outcome.out.toStdString());
        QCOMPARE(json["runs"].size(), std::size_t{7});
        for (const Json& run : json["runs"]) QCOMPARE(run["same_rules"].get<double>(), run["recorded"].get<double>());
        const Outcome text = cli({"train", "--cases", file});
        QVERIFY2(text.exit == 0 && text.out.contains("57426") && text.out.contains("3307886"), text.text().constData());
    }
    void wrongTraces() {
        const auto refused = [&](const QStringList& words, int exit, const char* said) {
            const Outcome outcome = cli(QStringList{"train"} + words);
            QVERIFY2(outcome.exit == exit, outcome.text().constData());
            QVERIFY2(outcome.error.contains(said), outcome.text().constData());
        };
        write("bad.txt", "DATA\n1\na -1 10 NONE 0 20 NONE 0 30 SHOUT 4 1\n");
        write("good.txt", "MICRO\n1\na -1 10 NONE 0 20 NONE 0 30 ALLTOALL 4000 1\n");
        const QString good = folder_.filePath("good.txt");
        refused({"--trace", folder_.filePath("bad.txt")}, 1, "bad.txt:3: a: there is no exchange `SHOUT`");
        refused({"--trace", folder_.filePath("nowhere.et")}, 1, "nowhere.et");
        refused({"--trace", good, "--links", "glue"}, 2, "store-and-forward, fluid, packets or ns3");
        refused({"--trace", good, "--links", "packets", "--payload", "9"}, 2, "from 256 to 65000");
        refused({"--trace", good, "--algorithm", "magic"}, 2, "synthesized");
        refused({"--trace", good, "--topology", "mesh3x3", "--ranks", "8"}, 2, "product is 8 ranks");
        refused({"--trace", good, "--hardware", "dgx-1-v100", "--ranks", "8"}, 2, "no --hardware beside it");
        refused({"--trace", good, "--dimension-order", "outer"}, 2, "inner-first or themis");
        refused({}, 2, "--astra DIR, --trace FILE, --cases FILE, --fit-step TABLE or --fit-stacks TABLE");
        refused({"--cases", folder_.filePath("layers.txt")}, 1, "training-cases/1");
        refused({"--trace", good, "--astra", folder_.path()}, 2,
                "--astra DIR, --trace FILE, --cases FILE, --fit-step TABLE or --fit-stacks TABLE");
        refused({"--fit-step", good}, 2, "--out FILE");
        write("steps.csv", "publication,seconds\nmine,2\n");
        refused({"--fit-step", folder_.filePath("steps.csv"), "--out", "-"}, 1, "there is no column 'software'");
        refused({"--fit-stacks", good}, 2, "--out FILE");
        refused({"--fit-stacks", folder_.filePath("steps.csv"), "--out", "-"}, 1, "there is no column 'software'");
        refused({"--trace", good, "--ranks", "0"}, 2, "--ranks `0` makes no sense");
        refused({"--trace", good, "--ranks", "2.5"}, 2, "--ranks `2.5` makes no sense");
        refused({"--trace", good, "--ranks", "9999999,9999999"}, 2, "16 million ranks");
        refused({"--trace", good, "--topology", "Klein"}, 2, "Ring, Switch, FullyConnected, or sides");
        refused({"--trace", good, "--bandwidth", "0"}, 2, "--bandwidth `0`");
        refused({"--trace", good, "--order", "random"}, 2, "blocking or overlap");
        write("pytorch.json",
              R"({"nodes": [{"id": 1, "name": "step", "ctrl_deps": 1, "attrs": [{"name": "rf_id", "value": 4}]}]})");
        write(
            "timeline.json",
            R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "step", "ts": 1, "dur": 25, "args": {"External id": 1,
 "Record function id": 4}},
 {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 9, "dur": 300, "args": {"External id": 1, "stream": 7}}]})");
        const QStringList both{"--trace", folder_.filePath("pytorch.json"), "--kineto"};
        const Outcome linked =
            cli(QStringList{"train"} + both + QStringList{folder_.filePath("timeline.json"), "--json"});
        QVERIFY2(linked.exit == 0, linked.text().constData());
        const Json json = Json::parse(linked.out.toStdString());
        QCOMPARE(json["ranks"][0]["cycles"].get<int>(), 325000);
        QCOMPARE(json["ranks"][0]["compute_cycles"].get<int>(), 300000);
        refused(both + QStringList{good}, 1, "good.txt");
    }
    void wrongFolders() {
        const auto refused = [&](const QString& folder, const char* words) {
            const Outcome outcome = cli({"train", "--astra", folder});
            QCOMPARE(outcome.exit, 1);
            QVERIFY2(outcome.error.contains(words), outcome.text().constData());
        };
        refused(folder_.filePath("nowhere"), "there is no such folder");
        const QString missing = ringOfFour("missing");
        QFile::remove(missing + "/et/ring.2.et");
        refused(missing, "the trace of rank 2 is missing");
        const QString cut = ringOfFour("cut");
        write("cut/et/ring.1.et", "\x20 no trace");
        refused(cut, "ring.1.et");
        const QString shape = ringOfFour("shape");
        write("shape/network.yml", "topology: [ Klein ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n");
        refused(shape, "network.yml:1:");
        write("shape/network.yml", "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n");
        refused(shape, "4 traces for a network of 8 devices");
        write("shape/network.yml", "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 0 ]\nlatency: [ 500.0 ]\n");
        refused(shape, "cannot carry messages");
        write("shape/network.yml",
              "topology: [ Ring ]\nnpus_count: [ 4.5 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n");
        refused(shape, "`npus_count` makes no sense");
        write("shape/network.yml",
              "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 1e-200 ]\nlatency: [ 500.0 ]\n");
        refused(shape, "26 days");
        const QString system = ringOfFour("system");
        write("system/system.json", R"({"roofline-enabled": 1})");
        refused(system, "`peak-perf` is missing");
        write("system/system.json", R"({"preferred-dataset-splits": 2.5})");
        refused(system, "`preferred-dataset-splits` is 2.5");
        write("system/system.json", R"({"preferred-dataset-splits": 1e9})");
        refused(system, "chunks among");
        const QString memory = ringOfFour("memory");
        write("memory/memory.json", R"({"memory-type": "PER_NODE_MEMORY_EXPANSION", "remote-mem-latency": -5})");
        refused(memory, "`remote-mem-latency` is -5");
        const QString groups = ringOfFour("groups");
        write("groups/et/ring.json", R"({"1": 7})");
        refused(groups, "group `1` is 7");
        const QString algorithm = ringOfFour("algorithm");
        write("algorithm/system.json", R"({"all-reduce-implementation": ["oneRing"]})");
        refused(algorithm, "there is no algorithm `oneRing`");
        QCOMPARE(cli({"train", "--astra", algorithm, "--congestion", "some"}).exit, 2);
    }
};

QTEST_APPLESS_MAIN(TstCliTrain)
#include "tst_cli_train.moc"
