// `orrery-cli schedules --search --hardware … --workload …` and `orrery-cli gpu --predict`: answers as their schemas
// say, the same bytes for the same seed, and what cannot be asked.

#include "support/cli_process.h"
#include "support/schema_check.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

using namespace orrery;
using namespace orrery::test;

class TstCliDrawnSearch : public QObject {
    Q_OBJECT

    static QStringList search(const char* device, const char* workload) {
        return {"schedules", "--search", "--hardware", device, "--workload", workload};
    }

private slots:
    void searchesAreAsTheSchemaSays() {
        const QStringList words =
            search("core-i9-10940x", "gemm:m=64,n=128,k=128") +
            QStringList{"--guide", "all", "--trials", "24", "--blind", "40", "--seeds", "2", "--json"};
        const Outcome outcome = cli(words, {}, 120000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        for (const std::string& error : schemaErrors(outcome.out.toStdString(), "schedules")) QFAIL(error.c_str());
        const Json json = Json::parse(outcome.out.toStdString());
        QCOMPARE(json["target"].get<std::string>(), std::string("core-windows"));
        QCOMPARE(json["runs"].size(), std::size_t{7});  // the cheap order has no seed
        double best = 1e9;
        for (const Json& run : json["runs"]) {
            QCOMPARE(run["curve_seconds"].size(), run["guide"] == "random" ? std::size_t{40} : std::size_t{24});
            double before = 1e9;
            for (const Json& each : run["curve_seconds"]) {
                QVERIFY(each.get<double>() <= before);
                before = each.get<double>();
            }
            QCOMPARE(run["best_seconds"].get<double>(), before);
            best = std::min(best, before);
        }
        QCOMPARE(json["best"]["seconds"].get<double>(), best);
        QCOMPARE(json["best"]["schedule"].size(), json["axes"].size());
        QCOMPARE(cli(words, {}, 120000).out, outcome.out);
    }

    void textAndTableSayTheSame() {
        const QStringList words = search("a100-80-sxm", "gemm:m=128,n=256,k=256") + QStringList{"--trials", "16"};
        const Outcome text = cli(words, {}, 120000);
        QVERIFY2(text.exit == 0, text.text());
        QVERIFY(text.out.contains("gpu-interval") && text.out.contains("for row_0") && text.out.contains("both"));
        const Outcome table = cli(words + QStringList{"--csv", "-"}, {}, 120000);
        QCOMPARE(table.out.split('\n').size(), 18);  // head, trials, and the end
    }

    void whatCannotBeAskedIsRefused_data() {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<int>("exit");
        QTest::addColumn<QString>("code");
        const QStringList asked = search("core-i9-10940x", "gemm:m=64,n=64,k=64");
        QTest::newRow("no device") << QStringList{"schedules", "--search", "--workload", "gemm:m=64,n=64,k=64"} << 2
                                   << QString("usage.missing");
        QTest::newRow("no log") << QStringList{"schedules"} << 2 << QString("usage.missing");
        QTest::newRow("guide") << asked + QStringList{"--guide", "luck"} << 2 << QString("usage.value");
        QTest::newRow("trials") << asked + QStringList{"--trials", "0"} << 2 << QString("usage.number");
        QTest::newRow("target") << asked + QStringList{"--target", "gpu-cycle"} << 1 << QString("schedules.target");
        QTest::newRow("workload") << search("core-i9-10940x", "softmax:m=4,n=4") << 1 << QString("schedules.workload");
        QTest::newRow("device") << search("no-such", "gemm:m=4,n=4,k=4") << 1 << QString("hardware.not-found");
        QTest::newRow("samples") << asked + QStringList{"--samples", "5"} << 2 << QString("usage.together");
        QTest::newRow("blind without chance") << asked + QStringList{"--blind", "9"} << 2 << QString("usage.together");
        QTest::newRow("two answers") << asked + QStringList{"--csv", "-", "--json"} << 2 << QString("usage.together");
        QTest::newRow("nothing") << search("core-i9-10940x", ":::") << 1 << QString("kernel.source");
        QTest::newRow("predict what") << QStringList{"gpu", "--predict"} << 2 << QString("usage.missing");
        QTest::newRow("judge none") << QStringList{"gpu", "--judge-counters", "0"} << 2 << QString("usage.number");
        QTest::newRow("judge and save") << QStringList{"gpu", "--judge-counters", "9", "--save", "x"} << 2
                                        << QString("usage.together");
        QTest::newRow("few") << QStringList{"gpu", "--learn-counters", "3"} << 2 << QString("usage.number");
        QTest::newRow("leave out") << QStringList{"gpu", "--learn-counters", "60", "--leave-out", "x"} << 2
                                   << QString("usage.value");
        const QStringList kernel{"gpu", "--kernel", "gemm m=64 n=64 k=64 fp16", "--predict"};
        QTest::newRow("set") << kernel + QStringList{"--set", "gpgpu_scheduler=gto"} << 2 << QString("usage.together");
        QTest::newRow("until kernel") << kernel + QStringList{"--until-kernel", "1"} << 2 << QString("usage.together");
        QTest::newRow("resume") << kernel + QStringList{"--resume", "x"} << 2 << QString("usage.together");
        QTest::newRow("learn until kernel")
            << QStringList{"gpu", "--learn-counters", "60", "--until-kernel", "1"} << 2 << QString("usage.together");
        QTest::newRow("learn threads") << QStringList{"gpu", "--learn-counters", "60", "--threads", "2"} << 2
                                       << QString("usage.together");
        QTest::newRow("save what") << QStringList{"gpu", "--kernel", "gemm m=64 n=64 k=64 fp16", "--save", "x"} << 2
                                   << QString("`--save` means nothing without `--learn-counters`");
        QTest::newRow("wavefronts") << QStringList{"gpu",        "--kernel", "gemm m=64 n=64 k=64 fp16",
                                                   "--hardware", "mi300x",   "--predict"}
                                    << 1 << QString("counters.devices");
    }
    void whatCannotBeAskedIsRefused() {
        QFETCH(QStringList, words);
        QFETCH(int, exit);
        QFETCH(QString, code);
        const Outcome outcome = cli(words, {}, 60000);
        QVERIFY2(outcome.exit == exit, outcome.text());
        QVERIFY2(outcome.error.contains(code), outcome.text());
    }

    // A model that was just learned, and the shipped one, answer with intervals that hold the prediction.
    void countersAreAsTheSchemaSays() {
        QTemporaryDir folder;
        const QString file = folder.filePath("counters.json");
        const Outcome learned = cli({"gpu", "--learn-counters", "80", "--save", file, "--json"}, {}, 240000);
        QVERIFY2(learned.exit == 0, learned.text());
        for (const std::string& error : schemaErrors(learned.out.toStdString(), "counters")) QFAIL(error.c_str());
        const Outcome judged = cli({"gpu", "--judge-counters", "20", "--json"}, {}, 120000);
        QVERIFY2(judged.exit == 0, judged.text());
        for (const std::string& error : schemaErrors(judged.out.toStdString(), "counters")) QFAIL(error.c_str());
        // What it was learned from says nothing of how far off it is.
        const Outcome own = cli({"gpu", "--judge-counters", "10", "--seed", "1"}, {}, 120000);
        QVERIFY2(own.exit == 0 && own.error.contains("counters.seed"), own.text());
        for (const QStringList& model : {QStringList{"--predict=" + file}, QStringList{"--predict"}}) {
            const Outcome outcome =
                cli(QStringList{"gpu", "--kernel", "gemm m=512 n=512 k=512 fp16", "--hardware", "h100-sxm", "--json"} +
                        model,
                    {}, 60000);
            QVERIFY2(outcome.exit == 0, outcome.text());
            for (const std::string& error : schemaErrors(outcome.out.toStdString(), "counters")) QFAIL(error.c_str());
            const Json json = Json::parse(outcome.out.toStdString());
            QCOMPARE(json["target"].get<std::string>(), std::string("gpu-interval"));
            QCOMPARE(json["counters"].size(), std::size_t{9});
            for (const Json& each : json["counters"]) {
                QVERIFY(each["low"].get<double>() <= each["value"].get<double>());
                QVERIFY(each["value"].get<double>() <= each["high"].get<double>());
            }
        }
    }
};

QTEST_GUILESS_MAIN(TstCliDrawnSearch)
#include "tst_cli_drawn_search.moc"
