// `orrery-cli schedules`: figures as its schema says, logs of both kinds, what --test judges and searches, and what
// cannot be asked.

#include "support/cli_process.h"
#include "support/schema_check.h"

#include <QFile>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <nlohmann/json.hpp>

#include <cmath>

using namespace orrery;
using namespace orrery::test;

class TstCliSchedules : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

    QString written(const char* name, const QByteArray& text) const {
        QFile file(folder_.filePath(name));
        if (!file.open(QIODevice::WriteOnly)) qFatal("no file");
        file.write(text);
        return file.fileName();
    }
    // Schedules of matrix products: tiles nearer to 8 × 8 are better, those over 256 fail.
    static QByteArray trials(std::initializer_list<std::pair<int, int>> shapes) {
        QByteArray text = "device,task,workload,config,time_us\n";
        for (const auto& [m, n] : shapes)
            for (int x = 1; x <= 64; x *= 2)
                for (int y = 1; y <= 64; y *= 2) {
                    const double off = std::abs(std::log2(x / 8.0)) + std::abs(std::log2(y / 8.0));
                    text += "cpu,dense_nopack.x86," + QByteArray::number(m) + "x256:float32;" + QByteArray::number(n) +
                            "x256:float32;None;float32,\"tile_y=-1," + QByteArray::number(y) + ";tile_x=-1," +
                            QByteArray::number(x) + "\"," +
                            (x * y > 256 ? QByteArray() : QByteArray::number((1 + off) * m * n / 100)) + "\n";
                }
        return text;
    }
    // The best schedule of products on devices that differ by a factor.
    static QByteArray tuned(std::initializer_list<std::pair<const char*, double>> devices, int shapes = 30) {
        QByteArray text = "device,task,workload,config,time_us\n";
        for (const auto& [device, slow] : devices)
            for (int i = 0; i < shapes; ++i) {
                const int m = 16 * (1 + i % 6), n = 32 * (1 + i / 6);
                text += QByteArray(device) + ",dense.cuda," + QByteArray::number(m) + "x256:float32;" +
                        QByteArray::number(n) + "x256:float32;None;float32,\"tile_x=-1,4\"," +
                        QByteArray::number(slow * (2 + m * n / 500.0)) + "\n";
            }
        return text;
    }
    static Json checked(const Outcome& outcome) {
        for (const std::string& error : schemaErrors(outcome.out.toStdString(), "schedules"))
            qWarning("%s", error.c_str());
        return schemaErrors(outcome.out.toStdString(), "schedules").empty() ? Json::parse(outcome.out.toStdString())
                                                                            : Json();
    }

private slots:
    void ranksAreAsTheSchemaSays() {
        const QString log = written("trials.csv", trials({{64, 64}, {64, 128}, {128, 128}}));
        const Outcome outcome = cli({"schedules", log, "--json"}, {}, 60000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        const Json json = checked(outcome);
        QCOMPARE(json["operators"].size(), std::size_t{3});
        double held = 0;
        for (const Json& each : json["operators"]) {
            QCOMPARE(each["schedules"].get<int>(), 49);
            QVERIFY(each["top10"].get<double>() > each["chance10"].get<double>());
            QCOMPARE(each["stated"]["operators"].get<int>(), 2);
            held += each["stated"]["coverage"].get<double>() / 3;
            QVERIFY(each["stated"]["chance"].get<double>() <= 2.0 / 3 + 1e-12);  // of two, and the next one
        }
        QCOMPARE(json["intervals"]["coverage"].get<double>(), held);
        QCOMPARE(json["rows"].size(), std::size_t{3 * 49});
        for (const Json& row : json["rows"])
            QVERIFY(row["low"].get<double>() <= row["predicted"].get<double>() &&
                    row["predicted"].get<double>() <= row["high"].get<double>());
        QCOMPARE(cli({"schedules", log, "--json"}, {}, 60000).out, outcome.out);
    }

    // The loops do the operator's work, contributions add up, and a line without a schedule says so.
    void aScheduleIsShown() {
        const QString log = written("shown.csv", trials({{64, 64}, {64, 128}}));
        const Outcome outcome = cli({"schedules", log, "--show", "30", "--json"}, {}, 60000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        const Json one = checked(outcome)["schedule"];
        QCOMPARE(one["line"].get<int>(), 30);
        QCOMPARE(one["other_operators"].get<int>(), 1);
        double steps = 1, sum = one["rate_of_others"].get<double>();
        for (const Json& loop : one["loops"]) steps *= loop["steps"].get<double>();
        QCOMPARE(steps, 64.0 * 64 * 256);
        QCOMPARE(one["loops"][0]["flops"].get<double>(), 2 * steps);
        for (const Json& feature : one["features"]) sum += feature["adds"].get<double>();
        QVERIFY(std::abs(sum - one["rate"].get<double>()) < 1e-4);
        const Outcome text = cli({"schedules", log, "--show", "30"}, {}, 60000);
        QVERIFY2(text.out.contains("# parallel") && text.out.contains("touches"), text.text());
        const Outcome none = cli({"schedules", log, "--show", "3000"});
        QCOMPARE(none.exit, 1);
        QVERIFY2(none.error.contains("line 3000"), none.text());
        QCOMPARE(cli({"schedules", log, "--show", "x"}).exit, 2);
        QCOMPARE(cli({"schedules", log, log, "--show", "3"}).exit, 2);
    }

    void drawnDevicesStandBesideTheModel() {
        const QString log = written("trials.csv", trials({{64, 64}, {64, 128}}));
        const QStringList drawn{"schedules", log, "--hardware", "cpu=core-i9-10940x"};
        const Outcome outcome = cli(drawn + QStringList{"--model", "sequence", "--json"}, {}, 60000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        for (const Json& each : checked(outcome)["operators"]) {
            QCOMPARE(QString::fromStdString(each["analytic"]["hardware"].get<std::string>()),
                     QString("core-i9-10940x"));
            QVERIFY(each["analytic"]["top10"].get<double>() > 0);
        }
        const Outcome rows = cli(drawn + QStringList{"--csv", "-"}, {}, 60000);
        QVERIFY(rows.out.startsWith("device,task,workload,line,time_us,share_of_best,low,high,analytic_us\n"));
        // The line says where: its schedule is what --show finds there, with the same time.
        const QString last = rows.out.trimmed().split('\n').last();
        const QStringList cells = last.mid(last.lastIndexOf('"') + 2).split(',');
        const Outcome shown = cli({"schedules", log, "--show", cells[0], "--json"}, {}, 60000);
        QVERIFY2(shown.exit == 0, qPrintable(last + " " + shown.error));
        const Json there = checked(shown)["schedule"];
        QCOMPARE(there.contains("time_us") ? QString::number(there.at("time_us").get<double>()) : QString(), cells[1]);
        QVERIFY(cli(drawn, {}, 60000).out.contains("priced on"));
    }

    void timesAreAsTheSchemaSays() {
        const QString log = written("tuned.csv", tuned({{"a", 1}, {"b", 2}, {"c", 5}}));
        const Outcome outcome = cli({"schedules", log, "--json"}, {}, 60000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        QCOMPARE(checked(outcome)["all"]["rows"].get<int>(), 90);
        const Outcome devices = cli({"schedules", log, "--new-devices", "--samples", "5", "--json"}, {}, 60000);
        QVERIFY2(devices.exit == 0, devices.text());
        QCOMPARE(checked(devices)["devices"].size(), std::size_t{3});
        const Outcome rows = cli({"schedules", log, "--csv", "-"}, {}, 60000);
        QCOMPARE(rows.out.trimmed().split('\n').size(), 91);
    }

    // `references` and `evaluate` know a log by its columns, and judge it as this command does.
    void otherCommandsKnowALog() {
        const QString log = written("tuned.csv", tuned({{"a", 1}, {"b", 2}, {"c", 5}}));
        const Outcome listed = cli({"references", log});
        QVERIFY2(listed.exit == 0 && listed.out.contains("90 schedules of 90 operators"), listed.text());
        const Outcome devices = cli({"evaluate", log, "--samples", "5", "--seed", "1", "--json"}, {}, 60000);
        QVERIFY2(devices.exit == 0, devices.text());
        QCOMPARE(devices.out,
                 cli({"schedules", log, "--new-devices", "--samples", "5", "--seed", "1", "--json"}, {}, 60000).out);
        for (const Json& row : checked(devices)["rows"])
            QVERIFY(row["low"].get<double>() <= row["predicted"].get<double>() &&
                    row["predicted"].get<double>() <= row["high"].get<double>());
        const QString many = written("trials.csv", trials({{64, 64}, {64, 128}}));
        QCOMPARE(cli({"evaluate", many, "--samples", "5"}).exit, 2);
        QCOMPARE(cli({"evaluate", many, "--method", "roofline"}).exit, 2);
        QCOMPARE(cli({"evaluate", many, "--json"}, {}, 60000).out, cli({"schedules", many, "--json"}, {}, 60000).out);
    }

    // A search of another log's operators: the first log teaches, and only the second is searched.
    void theOtherLogIsSearched() {
        const QString log = written("trials.csv", trials({{64, 64}, {64, 128}, {128, 128}})),
                      other = written("other.csv", trials({{256, 128}}));
        const Outcome outcome =
            cli({"schedules", log, "--test", other, "--search", "--trials", "20", "--json"}, {}, 60000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        const Json json = checked(outcome);
        QCOMPARE(json["searches"].size(), std::size_t{1});
        QVERIFY(json["searches"][0]["workload"].get<std::string>().starts_with("256x256"));
        QVERIFY(json["times_fewer"].get<double>() > 1);
        const Outcome curves = cli({"schedules", log, "--search", "--trials", "5", "--csv", "-"}, {}, 60000);
        QVERIFY2(curves.exit == 0, curves.text());
        QVERIFY(curves.out.contains("\"64x256:float32;"));  // semicolons part columns elsewhere
    }

    void devicesWithTooFewRowsAreNamedAndTheOthersJudged() {
        const QString log = written("tuned.csv", tuned({{"a", 1}, {"b", 2}}));
        QByteArray more = tuned({{"new", 3}});
        more += tuned({{"scarce", 4}}, 2).split('\n').mid(1).join('\n');
        const QString other = written("more.csv", more);
        const Outcome outcome = cli({"schedules", log, "--test", other, "--json"}, {}, 60000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        QVERIFY2(outcome.error.contains("scarce"), outcome.text());
        QCOMPARE(checked(outcome)["devices"].size(), std::size_t{1});
    }

    void recordsOfAnsorAreRead() {
        QByteArray text;
        for (int i = 1; i <= 4; ++i)
            for (int j = 1; j <= 3; ++j) {
                const int x = 1 << i, y = 1 << j;
                text += "{\"i\": [[\"[\\\"matmul\\\", 64, 64, " + QByteArray::number(64) +
                        "]\", \"llvm -keys=cpu\", [8, 64, 64, 0, 0, 0, 0, 0]], [[], [[\"SP\", 2, 0, 64, [1, 1, " +
                        QByteArray::number(x) + "], 1], [\"SP\", 2, 4, 64, [1, 1, " + QByteArray::number(y) +
                        "], 1], [\"SP\", 2, 8, 64, [4], 1]]]], \"r\": [[" + QByteArray::number(1e-4 * (1 + i + j)) +
                        "], 0, 1, 1], \"v\": \"v0.3\"}\n";
            }
        QByteArray other = text;
        other.replace("64, 64, 64", "64, 64, 128").replace("8, 64, [4]", "8, 128, [4]");
        const QString log = written("ansor.json", text + other);
        const Outcome outcome = cli({"schedules", log, "--json"}, {}, 60000);
        QVERIFY2(outcome.exit == 0, outcome.text());
        const Json json = checked(outcome);
        QCOMPARE(json["operators"].size(), std::size_t{2});
        QCOMPARE(json["operators"][0]["schedules"].get<int>(), 12);
    }

    void whatCannotBeAskedIsSaid_data() {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<int>("exit");
        QTest::addColumn<QString>("code");
        QTest::newRow("no file") << QStringList{"absent.csv"} << 1 << "reference.unreadable";
        QTest::newRow("samples") << QStringList{"tuned.csv", "--new-devices", "--samples", "one"} << 2
                                 << "usage.number";
        QTest::newRow("chosen for nobody") << QStringList{"tuned.csv", "--choose"} << 2 << "usage.together";
        QTest::newRow("samples for nobody") << QStringList{"trials.csv", "--samples", "5"} << 2 << "usage.together";
        QTest::newRow("trials") << QStringList{"trials.csv", "--search", "--trials", "0"} << 2 << "usage.number";
        QTest::newRow("no trials") << QStringList{"tuned.csv", "--search"} << 1 << "schedules.few";
        QTest::newRow("model") << QStringList{"trials.csv", "--model", "forest"} << 2 << "usage.value";
        QTest::newRow("no device") << QStringList{"trials.csv", "--hardware", "t4"} << 2 << "usage.value";
        QTest::newRow("other device") << QStringList{"trials.csv", "--hardware", "absent=t4"} << 1
                                      << "schedules.device";
        QTest::newRow("share of a network")
            << QStringList{"trials.csv", "--show", "3", "--model", "sequence"} << 2 << "usage.together";
        QTest::newRow("share of both") << QStringList{"trials.csv", "--show", "3", "--model", "both"} << 2
                                       << "usage.together";
        QTest::newRow("share of trees") << QStringList{"trials.csv", "--show", "3000", "--model", "trees"} << 1
                                        << "schedules.row";
        for (const QStringList& form : {QStringList{"trials.csv", "--search"}, QStringList{"trials.csv", "--show", "3"},
                                        QStringList{"tuned.csv", "--new-devices"}, QStringList{"tuned.csv"}})
            QTest::addRow("price of %s", qPrintable(form.join(' ')))
                << form + QStringList{"--hardware", "x=nonsense"} << 2 << "usage.together";
        QTest::newRow("ranks of times") << QStringList{"tuned.csv", "--model", "sequence"} << 2 << "usage.together";
        QTest::newRow("other log of devices")
            << QStringList{"tuned.csv", "--new-devices", "--test", "tuned.csv"} << 2 << "usage.together";
        QTest::newRow("all given") << QStringList{"tuned.csv", "--new-devices", "--samples", "25"} << 1
                                   << "schedules.few";
    }
    void whatCannotBeAskedIsSaid() {
        QFETCH(QStringList, words);
        QFETCH(int, exit);
        QFETCH(QString, code);
        written("tuned.csv", tuned({{"a", 1}, {"b", 2}}));
        written("trials.csv", trials({{64, 64}, {64, 128}}));
        const Outcome outcome = cli(QStringList{"schedules"} + words, folder_.path(), 60000);
        QVERIFY2(outcome.exit == exit && outcome.error.contains(code), outcome.text());
    }
};

QTEST_GUILESS_MAIN(TstCliSchedules)
#include "tst_cli_schedules.moc"
