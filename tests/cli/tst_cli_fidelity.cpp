// Ladders, budgets and advice on the command line: their JSON keeps its schema, a slip is refused with place and hint.

#include "support/cli_process.h"
#include "support/handbook_runs.h"
#include "support/schema_check.h"

#include <QtTest/QtTest>

#include <array>

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

    // What the handbook says of measured models is what the command finds.
    void theHandbooksModels() {
        static const QRegularExpression sentence(
            "asks about the (\\d+) whole models .* is ([\\d.]+) % for the answer with the best evidence, ([\\d.]+) % "
            "for "
            "the ladder, and ([\\d.]+) % for an unlimited budget. Of the (\\d+), (\\d+), (\\d+) and (\\d+) lie inside");
        const auto said = sentence.match(handbookPage("fidelity.md").simplified());
        QVERIFY(said.hasMatch());
        const Outcome outcome = cli({"fidelity", "--models"}, {}, 120000);
        QVERIFY2(outcome.sound() && outcome.exit == 0, outcome.text());
        const std::array ways{"best one", "ladder", "budget"};
        for (int i = 0; i < 3; ++i) {
            const QString line = QString("%1: %2 % off (root mean square), %3 of %4 inside the interval")
                                     .arg(ways[static_cast<std::size_t>(i)], said.captured(2 + i), said.captured(6 + i),
                                          said.captured(1));
            QVERIFY2(outcome.out.contains(line), qPrintable(line + "\n" + outcome.out.right(400)));
        }
    }

    // Nobody who answers in time is no answer, and a script is told so.
    void noMethodInTimeIsNoAnswer() {
        const Outcome none =
            cli({"advise", "--hardware", "h100-sxm", "--workload", "bert-base", "--within", "1ns"}, {}, 60000);
        QVERIFY2(none.sound() && none.exit == 1 && none.out.contains("no method answers"), none.text());
    }

    void slipsAreRefused_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("exit");
        QTest::addColumn<QString>("says");
        QTest::newRow("no time") << asked({"--within", "soon"}) << 2 << "usage.bad-value";
        QTest::newRow("no share") << asked({"--to", "-5%"}) << 2 << "usage.bad-value";
        QTest::newRow("no such method") << asked({"--full", "npu-tiles"}) << 1 << "method.unknown";
        QTest::newRow("no such method, five models")
            << QStringList{"fidelity", "--full", "npu-tiles"} << 1 << "method.unknown";
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
