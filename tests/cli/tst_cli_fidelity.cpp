// Ladders, budgets and advice on the command line: their JSON keeps its schema, a slip is refused with place and hint.

#include "support/cli_process.h"
#include "support/schema_check.h"

#include <QtTest/QtTest>

using namespace orrery::test;

namespace {

QStringList asked(const QStringList& more) {
    return QStringList{"run", "--hardware", "gemmini-like", "--workload", "mobilenet-v2"} + more;
}

}  // namespace

class TestCliFidelity : public QObject {
    Q_OBJECT
private slots:
    void jsonKeepsItsSchema_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("schema");
        QTest::newRow("ladder") << asked({"--ladder", "--json", "-"}) << "fidelity";
        QTest::newRow("to a width") << asked({"--to", "10%", "--json", "-"}) << "fidelity";
        QTest::newRow("within a time") << asked({"--within", "50ms", "--full", "npu-tile", "--json", "-"})
                                       << "fidelity";
        QTest::newRow("advice") << QStringList{"advise",    "--hardware", "gemmini-like", "--workload", "mobilenet-v2",
                                               "--latency", "10ms",       "--data",       "rows",       "--json",
                                               "-"}
                                << "advice";
    }
    void jsonKeepsItsSchema() {
        QFETCH(QStringList, arguments);
        QFETCH(QString, schema);
        const Outcome outcome = cli(arguments, {}, 60000);
        QVERIFY2(outcome.sound() && outcome.exit == 0, outcome.text());
        for (const std::string& error : schemaErrors(outcome.out.toStdString(), schema.toStdString()))
            QFAIL(error.c_str());
    }

    void aWidthIsKeptAndSaid() {
        const Outcome outcome = cli(asked({"--to", "10%", "--full", "npu-tile", "--json", "-"}), {}, 60000);
        const Json json = Json::parse(outcome.out.toStdString());
        const double latency = json["answer"]["latency_s"], low = json["answer"]["low_s"],
                     high = json["answer"]["high_s"];
        QVERIFY((high - low) / 2 / latency <= 0.1);
        QVERIFY(json["complete"] == false);
        QVERIFY(!json["asked"].empty() && !json["families"].empty() && !json["widest"]["operators"].empty());
    }

    void slipsAreRefused_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("exit");
        QTest::addColumn<QString>("says");
        QTest::newRow("no time") << asked({"--within", "soon"}) << 2 << "usage.bad-value";
        QTest::newRow("no share") << asked({"--to", "-5%"}) << 2 << "usage.bad-value";
        QTest::newRow("no such method") << asked({"--full", "npu-tiles"}) << 1 << "method.unknown";
        QTest::newRow("prices no kernels") << asked({"--full", "roofline"}) << 1 << "budget.no-method";
        QTest::newRow("for other devices") << asked({"--full", "tile-wave"}) << 1 << "method.not-applicable";
        QTest::newRow("one operator") << asked({"--to", "5%", "--task", "operator(classifier)"}) << 1
                                      << "budget.system";
        QTest::newRow("no such data") << QStringList{"advise",       "--hardware", "gemmini-like", "--workload",
                                                     "mobilenet-v2", "--data",     "plenty"}
                                      << 2 << "usage.bad-value";
    }
    void slipsAreRefused() {
        QFETCH(QStringList, arguments);
        QFETCH(int, exit);
        QFETCH(QString, says);
        const Outcome outcome = cli(arguments, {}, 60000);
        QVERIFY2(outcome.sound() && outcome.exit == exit, outcome.text());
        QVERIFY2(outcome.error.contains(says), outcome.text());
        QVERIFY2(outcome.error.contains("expected:"), outcome.text());
    }
};

QTEST_GUILESS_MAIN(TestCliFidelity)
#include "tst_cli_fidelity.moc"
