#include "support/cli_process.h"
#include "support/schema_check.h"

#include <QFile>
#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

using namespace orrery::test;

class TestCliCore : public QObject {
    Q_OBJECT

private slots:
    // Each way of asking keeps the schema, and the stack sums to the cycles.
    void jsonKeepsItsSchema() {
        for (const QStringList& more :
             {QStringList{"--core", "zen2"}, QStringList{"--core", "cortex-a72"},
              QStringList{"--hardware", "xeon-8480"}, QStringList{"--core", "zen4", "--method", "interval"},
              QStringList{"--core", "zen4", "--method", "concorde"},
              QStringList{"--core", "zen4", "--sample", "smarts", "--units", "10"},
              QStringList{"--core", "zen4", "--sample", "simpoint", "--units", "10"},
              QStringList{"--hardware", "xeon-8480", "--cores", "5"},
              QStringList{"--hardware", "epyc-9654-x2", "--cores", "6", "--bind", "spread", "--pages", "interleave"}}) {
            const Outcome one = cli(QStringList{"core", "--kernel", "gemm m=60 n=64 k=70", "--json"} + more);
            QVERIFY2(one.exit == 0, one.text());
            for (const std::string& error : schemaErrors(one.out.toStdString(), "core")) QFAIL(error.c_str());
            const auto json = nlohmann::json::parse(one.out.toStdString());
            const char* parts = json.contains("resources") ? "resources" : "stack";
            if (!json.contains(parts)) continue;
            double sum = 0;
            for (const auto& [name, cycles] : json[parts].items()) sum += cycles.get<double>();
            QVERIFY(std::fabs(sum - json["cycles"].get<double>()) < 1e-6 * sum);
        }
    }
    void mistakesSayWhatIsRight() {
        const Outcome kernel = cli({"core", "--core", "zen2", "--kernel", "gem"});
        QVERIFY2(kernel.exit == 1 && kernel.error.contains("gemm"), kernel.text());
        const Outcome set = cli({"core", "--core", "zen2", "--kernel", "gemm avx512"});
        QVERIFY2(set.exit == 1 && set.error.contains("avx2"), set.text());
        const Outcome core = cli({"core", "--core", "i486", "--kernel", "gemm"});
        QVERIFY2(core.exit == 1 && core.error.contains("zen4"), core.text());
        const Outcome gpu = cli({"core", "--hardware", "h100-sxm", "--kernel", "gemm"});
        QVERIFY2(gpu.exit == 1 && gpu.error.contains("cpu"), gpu.text());
        const Outcome both = cli({"core", "--core", "zen2", "--hardware", "xeon-8480", "--kernel", "gemm"});
        QVERIFY2(both.exit == 2, both.text());
        const Outcome method = cli({"core", "--core", "zen2", "--kernel", "gemm", "--method", "magic"});
        QVERIFY2(method.exit == 2 && method.error.contains("interval"), method.text());
    }
    // A core that runs alone among the drawn ones is the drawn core.
    void oneOfManyIsTheOneAlone() {
        const QStringList question{"core",  "--hardware", "xeon-8480", "--kernel", "gemm m=60 n=64 k=70 avx512",
                                   "--json"};
        const auto alone = nlohmann::json::parse(cli(question).out.toStdString());
        const auto one = nlohmann::json::parse(cli(question + QStringList{"--cores", "1"}).out.toStdString());
        QCOMPARE(one["cycles"].get<double>(), alone["cycles"].get<double>());
        QCOMPARE(one["memory"]["read_lines"].get<int>(), alone["memory"]["read_lines"].get<int>());
        QCOMPARE(one["stack"]["idle"].get<double>(), 0.0);
        QCOMPARE(one["fork_join_seconds"].get<double>(), 0.0);
    }
    // Four rows for sixteen cores: four run, on both sockets, and it is said why not more.
    void fewerPartsThanCores() {
        const Outcome four = cli({"core", "--hardware", "epyc-9654-x2", "--kernel", "softmax rows=4 columns=64 avx2",
                                  "--cores", "16", "--bind", "spread", "--json"});
        QVERIFY2(four.exit == 0, four.text());
        QVERIFY2(four.error.contains("core.fewer") && four.error.contains("4 of 16"), four.text());
        std::vector<int> cores;
        const auto json = nlohmann::json::parse(four.out.toStdString());
        for (const auto& each : json["cores"]) cores.push_back(each["core"].get<int>());
        QCOMPARE(cores, (std::vector<int>{0, 48, 96, 144}));
        const Outcome all =
            cli({"core", "--hardware", "epyc-9654-x2", "--kernel", "softmax rows=4 columns=64 avx2", "--cores", "4"});
        QVERIFY2(all.exit == 0 && !all.error.contains("core.fewer"), all.text());
        // Cores side by side tell each other through their last cache, those far apart through memory.
        const auto close = nlohmann::json::parse(cli({"core", "--hardware", "epyc-9654-x2", "--kernel",
                                                      "softmax rows=4 columns=64 avx2", "--cores", "4", "--json"})
                                                     .out.toStdString());
        QVERIFY(close["fork_join_seconds"].get<double>() > 0);
        QVERIFY(json["fork_join_seconds"].get<double>() > 1.5 * close["fork_join_seconds"].get<double>());
    }
    void mistakesOfSeveralCores() {
        const QStringList kernel{"core", "--kernel", "add n=4000 avx2"};
        const Outcome many = cli(kernel + QStringList{"--hardware", "xeon-8480", "--cores", "57"});
        QVERIFY2(many.exit == 2 && many.error.contains("56"), many.text());
        const Outcome none = cli(kernel + QStringList{"--hardware", "xeon-8480", "--cores", "0"});
        QVERIFY2(none.exit == 2, none.text());
        const Outcome undrawn = cli(kernel + QStringList{"--core", "zen2", "--cores", "4"});
        QVERIFY2(undrawn.exit == 2 && undrawn.error.contains("--hardware"), undrawn.text());
        const Outcome pages = cli(kernel + QStringList{"--hardware", "epyc-9654-x2", "--cores", "4", "--pages", "far"});
        QVERIFY2(pages.exit == 2 && pages.error.contains("interleave"), pages.text());
        const Outcome sample =
            cli(kernel + QStringList{"--hardware", "xeon-8480", "--cores", "4", "--sample", "loops"});
        QVERIFY2(sample.exit == 2, sample.text());
        const Outcome alone = cli(kernel + QStringList{"--core", "zen2", "--pages", "remote"});
        QVERIFY2(alone.exit == 2 && alone.error.contains("--cores"), alone.text());
    }
    // Every command of the handbook's page.
    void theHandbooksCommandsRun() {
        QFile page(ORRERY_SOURCE "/resources/handbook/core.md");
        QVERIFY(page.open(QIODevice::ReadOnly));
        int ran = 0;
        for (const QString& line : QString::fromUtf8(page.readAll()).split('\n')) {
            if (!line.startsWith("orrery-cli ")) continue;
            QStringList words = QProcess::splitCommand(line);
            words.removeFirst();
            const Outcome outcome = cli(words);
            QVERIFY2(outcome.sound() && outcome.exit == 0, (line.toUtf8() + '\n' + outcome.text()).constData());
            ++ran;
        }
        QCOMPARE(ran, 7);
    }
};

QTEST_GUILESS_MAIN(TestCliCore)
#include "tst_cli_core.moc"
