// `orrery-cli edge`: figures as its schema says, rows of another table, and what cannot be asked.

#include "support/cli_process.h"
#include "support/schema_check.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

using namespace orrery;
using namespace orrery::test;

class TstCliEdge : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    QString path(const char* name) const { return folder_.filePath(name); }

    // Sixty networks of skips and blocks; three devices, additive with different costs of a block.
    static QByteArray table(int from, int count) {
        QByteArray text = "idx,arch,first,second,third\n";
        for (int r = from; r < from + count; ++r) {
            QByteArray code;
            double blocks = 0;
            for (int place = 0; place < 22; ++place) {
                // No code stands twice: the last two places count the rows.
                const int id = place == 20   ? r % 9
                               : place == 21 ? r / 9 % 9
                                             : (r * 7 + place * place * (r % 5 + 1)) % 9;
                code += (place ? " " : "") + QByteArray::number(id);
                blocks += id < 8 ? 1 + id % 4 : 0;
            }
            text += QByteArray::number(r) + "," + code + "," + QByteArray::number(10 + blocks) + "," +
                    QByteArray::number(30 + 2 * blocks) + "," + QByteArray::number(5 + 3 * blocks) + "\n";
        }
        return text;
    }
    QString written(const char* name, const QByteArray& text) const {
        QFile file(path(name));
        if (!file.open(QIODevice::WriteOnly)) qFatal("no file");
        file.write(text);
        return file.fileName();
    }

private slots:
    void figuresAreAsTheSchemaSays() {
        const QString file = written("given.csv", table(0, 60));
        const Outcome outcome = cli({"edge", file, "--samples", "10", "--repeats", "2", "--json", "-"}, {}, 60000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        for (const std::string& error : schemaErrors(outcome.out.toStdString(), "edge")) QFAIL(error.c_str());
        const Json json = Json::parse(outcome.out.toStdString());
        QCOMPARE(json["space"].get<std::string>(), std::string("fbnet"));
        QCOMPARE(json["targets"].size(), std::size_t{3});
        for (const Json& each : json["targets"]) {
            QCOMPARE(each["rows"].get<int>(), 50);
            QVERIFY(each["spearman"].get<double>() > 0.9);
        }
        const Outcome again = cli({"edge", file, "--samples", "10", "--repeats", "2", "--json", "-"}, {}, 60000);
        QCOMPARE(again.out, outcome.out);
    }

    void rowsOfAnotherTableAreTold() {
        const QString given = written("given.csv", table(0, 60)), kept = written("kept.csv", table(60, 20));
        const Outcome outcome = cli({"edge", given, "--rows", kept, "--target", "second", "--csv", "-"}, {}, 60000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        const QStringList lines = outcome.out.trimmed().split('\n');
        QCOMPARE(lines.size(), 21);
        QCOMPARE(lines.front(), QString("target,network,measured,predicted,low,high,domain"));
        for (int i = 1; i < lines.size(); ++i) {
            const QStringList cells = lines[i].split(',');
            QVERIFY(cells[4].toDouble() <= cells[3].toDouble() && cells[3].toDouble() <= cells[5].toDouble());
        }
    }

    // Another table's devices tell what the first alone cannot.
    void aTableBesideIsKnown() {
        QByteArray own = "model_name,board_ms\n", other = "network,first_ms,second_ms,third_ms\n";
        for (int n = 1; n <= 20; ++n) {
            const QByteArray name = "net" + QByteArray::number(n);
            own += name + "," + QByteArray::number(n * n) + "\n";
            other += name + "," + QByteArray::number(2 * n * n) + "," + QByteArray::number(3 * n * n + n % 3) + "," +
                     QByteArray::number(5 * n * n) + "\n";
        }
        const QString file = written("own-names.csv", own), beside = written("beside.csv", other);
        const Outcome alone = cli({"edge", file, "--samples", "3"}, {}, 60000);
        QVERIFY2(alone.exit == 1 && alone.error.contains("edge.few-devices"), alone.text());
        const Outcome both = cli({"edge", file, "--samples", "3", "--beside", beside, "--json", "-"}, {}, 60000);
        QVERIFY2(both.exit == 0, both.text());
        const Json json = Json::parse(both.out.toStdString());
        QCOMPARE(json["targets"].size(), std::size_t{1});
        QVERIFY(json["mean"]["mape"].get<double>() < 0.1);
        const QString codes = written("given.csv", table(0, 60));
        const Outcome mixed = cli({"edge", file, "--beside", codes}, {}, 60000);
        QVERIFY2(mixed.exit == 1 && mixed.error.contains("edge.space"), mixed.text());
    }

    void whatToMeasureNextIsListed() {
        const QString file = written("given.csv", table(0, 60));
        const Outcome first = cli({"edge", file, "--next", "4", "--json", "-"}, {}, 60000);
        QVERIFY2(first.exit == 0, first.text());
        for (const std::string& error : schemaErrors(first.out.toStdString(), "edge-next")) QFAIL(error.c_str());
        const Json json = Json::parse(first.out.toStdString());
        QCOMPARE(json["next"].size(), std::size_t{4});
        QByteArray results = "network,latency_ms\n";
        for (const Json& each : json["next"])
            results += QByteArray::fromStdString(each["network"].get<std::string>()) + ",20\n";
        const QString own = written("own.csv", results);
        const Outcome then = cli({"edge", file, "--next", "2", "--measured", own, "--json", "-"}, {}, 60000);
        QVERIFY2(then.exit == 0, then.text());
        for (const std::string& error : schemaErrors(then.out.toStdString(), "edge-next")) QFAIL(error.c_str());
        QCOMPARE(Json::parse(then.out.toStdString())["steps"].size(), std::size_t{4});
        const Outcome list = cli({"edge", file, "--next", "3", "--csv", "-"}, {}, 60000);
        QCOMPARE(list.out.trimmed().split('\n').size(), 4);
        const QString broken = written("broken.csv", "a,fast\n");
        const Outcome bad = cli({"edge", file, "--measured", broken}, {}, 60000);
        QVERIFY2(bad.exit == 1 && bad.error.contains("edge.bad-number"), bad.text());
    }

    // `evaluate` and `references` take the table as it is, with the figures of `edge`.
    void evaluateAndReferencesReadTablesOfNetworks() {
        const QString given = written("given.csv", table(0, 60)), kept = written("kept.csv", table(60, 20));
        const Outcome edge =
            cli({"edge", given, "--rows", kept, "--samples", "8", "--seed", "3", "--json", "-"}, {}, 60000);
        const Outcome same = cli({"evaluate", given, kept, "--samples", "8", "--seed", "3", "--json"}, {}, 60000);
        QVERIFY2(same.exit == 0, same.text());
        QCOMPARE(same.out, edge.out);
        for (const std::string& error : schemaErrors(same.out.toStdString(), "edge")) QFAIL(error.c_str());
        const Outcome listed = cli({"references", given}, {}, 60000);
        QVERIFY2(listed.exit == 0 && listed.out.contains("60 networks of fbnet on 3 targets"), listed.text());
        const Outcome mixed = cli({"evaluate", given, "--method", "roofline"}, {}, 60000);
        QVERIFY2(mixed.exit == 2 && mixed.error.contains("usage.networks"), mixed.text());
        const QString other = written("kernels.yaml", "orrery: references/1\n");
        const Outcome kernels =
            cli({"evaluate", "--method", "roofline", "--references", other, "--samples", "3"}, {}, 60000);
        QVERIFY2(kernels.exit == 2 && kernels.error.contains("usage.networks"), kernels.text());
        const Outcome absent =
            cli({"evaluate", "--method", "roofline", "--references", "absent.yaml", "--samples", "3"}, folder_.path(),
                60000);
        QVERIFY2(absent.exit == 1 && absent.error.contains("file.system"), absent.text());
    }

    // What is told is kept as a file, and `run` answers from it.
    void aDeviceIsKeptAndAsked() {
        const QString given = written("given.csv", table(0, 60));
        const QByteArray first = table(0, 1).split('\n')[1].split(',')[1];
        const QString own = written("own.csv", "network,latency_ms\n" + first + ",20\n"), device = path("board.json");
        const Outcome saved = cli({"edge", given, "--target", "board", "--measured", own, "--save", device}, {}, 60000);
        QVERIFY2(saved.exit == 0, saved.text());
        QFile file(device);
        QVERIFY(file.open(QIODevice::ReadOnly));
        for (const std::string& error : schemaErrors(file.readAll().toStdString(), "device")) QFAIL(error.c_str());
        const Outcome run =
            cli({"run", "--hardware", "jetson-agx-orin", "--workload", "fbnet:" + QString::fromUtf8(first), "--method",
                 "edge-device(file=" + device + ")", "--json", "-"},
                {}, 60000);
        QVERIFY2(run.exit == 0 && run.out.contains("edge-device"), run.text());
        const Outcome other = cli({"run", "--hardware", "jetson-agx-orin", "--workload", "resnet-50", "--method",
                                   "edge-device(file=" + device + ")"},
                                  {}, 60000);
        QVERIFY2(other.exit != 0 && other.text().contains("edge.other-network"), other.text());
    }

    // A graph network over operators tells a network of another kind, and its file answers for it in `run`.
    void anotherNetworkIsToldAndAsked() {
        const QString given = written("given.csv", table(0, 60)), device = path("graph.json");
        const QList<QByteArray> lines = table(0, 60).split('\n');
        QByteArray measured = "network,latency_ms\n";
        for (int r = 1; r < 60; r += 8) measured += lines[r].split(',')[1] + "," + lines[r].split(',')[3] + "\n";
        const Outcome told = cli({"edge", given, "--target", "board", "--measured", written("own.csv", measured),
                                  "--model", "graph", "--tell", "mobilenet-v2", "--save", device, "--json", "-"},
                                 {}, 120000);
        QVERIFY2(told.exit == 0, told.text());
        for (const std::string& error : schemaErrors(told.out.toStdString(), "edge-next")) QFAIL(error.c_str());
        const Json json = Json::parse(told.out.toStdString());
        QCOMPARE(json["model"].get<std::string>(), std::string("graph"));
        QCOMPARE(json["others"].size(), std::size_t{1});
        const double said = json["others"][0]["latency"].get<double>();
        // At 224 × 224 it is no network of this table of 32 × 32.
        QCOMPARE(json["others"][0]["domain"].get<std::string>(), std::string("outside"));
        QFile file(device);
        QVERIFY(file.open(QIODevice::ReadOnly));
        for (const std::string& error : schemaErrors(file.readAll().toStdString(), "device")) QFAIL(error.c_str());
        const Outcome run = cli({"run", "--hardware", "jetson-agx-orin", "--workload", "mobilenet-v2", "--method",
                                 "edge-device(file=" + device + ")", "--json", "-"},
                                {}, 60000);
        QVERIFY2(run.exit == 0 && run.out.contains("edge.outside"), run.text());
        QVERIFY(said > 0);
    }

    void ranksOfTwoDevicesAreCompared() {
        const QString given = written("given.csv", table(0, 60));
        const Outcome outcome =
            cli({"edge", given, "--confusion", "first", "--confusion", "third", "--json", "-"}, {}, 60000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        for (const std::string& error : schemaErrors(outcome.out.toStdString(), "rank-confusion")) QFAIL(error.c_str());
        const Json json = Json::parse(outcome.out.toStdString());
        QCOMPARE(json["networks"].get<int>(), 60);
        QCOMPARE(json["spearman"].get<double>(), 1.0);  // both rise with the blocks alone
        QCOMPARE(json["fastest_kept"].get<double>(), 1.0);
    }

    void whatCannotBeAskedIsSaid_data() {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<int>("exit");
        QTest::addColumn<QString>("code");
        QTest::newRow("no file") << QStringList{"absent.csv"} << 1 << "reference.unreadable";
        QTest::newRow("target") << QStringList{"given.csv", "--target", "fourth"} << 1 << "edge.no-column";
        QTest::newRow("known") << QStringList{"given.csv", "--known", "fourth"} << 1 << "edge.no-column";
        QTest::newRow("samples") << QStringList{"given.csv", "--samples", "few"} << 2 << "usage.value";
        QTest::newRow("model") << QStringList{"given.csv", "--model", "forest"} << 2 << "usage.value";
        QTest::newRow("range") << QStringList{"given.csv", "--test", "9:3"} << 2 << "usage.value";
        QTest::newRow("half") << QStringList{"given.csv", "--half", "middle"} << 2 << "usage.value";
        QTest::newRow("next") << QStringList{"given.csv", "--next", "all"} << 2 << "usage.value";
        QTest::newRow("until") << QStringList{"given.csv", "--next", "3", "--until", "5"} << 2 << "usage.value";
        QTest::newRow("counts and a file")
            << QStringList{"given.csv", "--tell", "absent.onnx"} << 1 << "over operators";
        QTest::newRow("no such file") << QStringList{"given.csv", "--model", "graph", "--tell", "absent.onnx"} << 1
                                      << "workload.unknown";
        for (const char* form : {"--next", "--measured", "--save", "--tell"})
            QTest::newRow(form) << QStringList{"given.csv", form, "3", "--repeats", "2"} << 2 << "usage.together";
        QTest::newRow("next of rows") << QStringList{"given.csv", "--next", "3", "--rows", "given.csv"} << 2
                                      << "usage.together";
        QTest::newRow("whole") << QStringList{"given.csv", "--device", "idx", "--value", "second", "--whole", "casing"}
                               << 1 << "edge.no-column";
        QTest::newRow("both") << QStringList{"given.csv", "--choose", "--reference", "a"} << 2 << "usage.twice";
        QTest::newRow("reference") << QStringList{"given.csv", "--reference", "1 2 3"} << 1 << "edge.no-network";
        QTest::newRow("whole of columns") << QStringList{"given.csv", "--whole", "idx"} << 1 << "edge.whole";
        QTest::newRow("one rank") << QStringList{"given.csv", "--confusion", "first"} << 2 << "usage.value";
        QTest::newRow("topologies") << QStringList{"given.csv", "--topologies", "absent"} << 1 << "edge.no-topologies";
        QTest::newRow("value") << QStringList{"given.csv", "--device", "idx"} << 2 << "usage.missing";
    }
    void whatCannotBeAskedIsSaid() {
        QFETCH(QStringList, words);
        QFETCH(int, exit);
        QFETCH(QString, code);
        written("given.csv", table(0, 60));
        const Outcome outcome = cli(QStringList{"edge"} + words, folder_.path());
        QVERIFY2(outcome.exit == exit && outcome.error.contains(code), outcome.text());
    }
};

QTEST_GUILESS_MAIN(TstCliEdge)
#include "tst_cli_edge.moc"
