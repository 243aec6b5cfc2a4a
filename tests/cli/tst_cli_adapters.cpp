// Other programs on the command line.

#include "support/adapter_fixture.h"
#include "support/cli_process.h"
#include "support/schema_check.h"

#include <QtTest/QtTest>

using namespace orrery::test;

class TstCliAdapters : public QObject {
    Q_OBJECT
private slots:
    void listsThem() {
        const Outcome list = cli({"adapters"}, {}, 60000);
        QVERIFY2(list.sound() && list.exit == 0, list.text());
        for (const char* id : {"timeloop", "maestro", "scale-sim", "astra-sim", "vidur", "accel-sim", "llm-viewer",
                               "gem5", "csv-program"})
            QVERIFY2(list.out.contains(id), id);
        const Outcome one = cli({"adapters", "timeloop"}, {}, 60000);
        QVERIFY2(one.exit == 0 && one.out.contains("ORRERY_TIMELOOP") && one.out.contains("recorded=FOLDER"),
                 one.text());
        const Outcome none = cli({"adapters", "timelop"}, {}, 60000);
        QVERIFY2(none.exit == 1 && none.error.contains("did you mean `timeloop`"), none.text());
    }
    void jsonIsAsItsSchemaSays() {
        const Outcome json = cli({"adapters", "--json"}, {}, 60000);
        QVERIFY2(json.exit == 0, json.text());
        for (const std::string& error : schemaErrors(json.out.toStdString(), "adapters")) QFAIL(error.c_str());
    }
    void methodsNameThemApart() {
        const Outcome list = cli({"methods"}, {}, 60000);
        QVERIFY2(list.exit == 0 && list.out.contains("cachegrind") && list.out.contains("adapter "), list.text());
    }
    // A stand-in beside our own, in one table.
    void aStandInAnswersBesideOurOwn() {
        StandIn tool;
        tool.adapter();
        tool.program("echo m,n,k,seconds\necho \"$1,$2,$3,0.001\"\n");
        const QString method = QString::fromStdString(tool.method());
        const Outcome run = cli(
            {"run", "--hardware", "h100-sxm", "--workload", "bert-large", "--method", method + ",roofline"}, {}, 60000);
        QVERIFY2(run.exit == 0 && run.out.contains("tool.yaml") && run.out.contains("roofline") &&
                     run.out.contains("Run time of Stand-in"),
                 run.text());
    }
    void aFailureSaysWhereAndWhy() {
        StandIn tool;
        tool.adapter();
        tool.program("exit 3\n");
        const Outcome run = cli({"run", "--hardware", "h100-sxm", "--workload", "bert-large", "--method",
                                 QString::fromStdString(tool.method())},
                                {}, 60000);
        QVERIFY2(run.exit == 1 && run.error.contains("status 3") && run.error.contains("tool.yaml:5"), run.text());
    }
    void inputsGoToAFolder() {
        const QTemporaryDir folder;
        const Outcome run = cli({"adapters", "scale-sim", "--inputs", folder.path(), "--hardware", "tpu-v3",
                                 "--workload", "bert-large", "--seq", "64"},
                                {}, 60000);
        QVERIFY2(run.exit == 0 && run.out.contains("recorded="), run.text());
        QVERIFY(!QDir(folder.path()).entryList({"gemm-*"}, QDir::Dirs).isEmpty());
    }
    void aStandInIsJudgedAgainstReferences() {
        StandIn tool;
        tool.adapter();
        tool.program("echo m,n,k,seconds\necho \"$1,$2,$3,0.001\"\n");
        const Outcome judged =
            cli({"evaluate", "--references", ORRERY_SOURCE "/presets/references/published-products.yaml", "--method",
                 QString::fromStdString(tool.method()), "--method", "roofline"},
                {}, 60000);
        QVERIFY2(judged.exit == 0 && judged.out.contains("tool.yaml") && judged.out.contains("9 of 9 rows"),
                 judged.text());
    }
    // Every command of the handbook's page, in its order, in one folder.
    void theHandbooksCommandsRun() {
        QFile page(ORRERY_SOURCE "/resources/handbook/other-tools.md");
        QVERIFY(page.open(QIODevice::ReadOnly));
        const QTemporaryDir folder;
        int ran = 0;
        for (const QString& line : QString::fromUtf8(page.readAll()).split('\n')) {
            if (!line.startsWith("orrery-cli ")) continue;
            QStringList words = QProcess::splitCommand(QString(line.section(" #", 0, 0)).replace('\'', '"'));
            words.removeFirst();
            const Outcome outcome = cli(words, folder.path(), 120000);
            QVERIFY2(outcome.sound() && outcome.exit == 0, (line.toUtf8() + '\n' + outcome.text()).constData());
            ++ran;
        }
        QCOMPARE(ran, 5);
    }
    // Ctrl-C ends the program that was asked, too.
    void anInterruptEndsTheProgram() {
        StandIn tool;
        tool.adapter();
        tool.program("echo $$ > \"$(dirname \"$0\")/pid\"\nexec sleep 60\n");
        QProcess process;
        process.start(ORRERY_CLI, {"run", "--hardware", "h100-sxm", "--workload", "bert-large", "--method",
                                   QString::fromStdString(tool.method())});
        QVERIFY(process.waitForStarted());
        QFile pid(tool.folder() + "/pid");
        QTRY_VERIFY_WITH_TIMEOUT(pid.exists() && pid.size() > 1, 20000);
        QVERIFY(pid.open(QIODevice::ReadOnly));
        const QString about = "/proc/" + QString::fromUtf8(pid.readAll().trimmed());
        process.terminate();
        QVERIFY(process.waitForFinished(20000));
        QCOMPARE(process.exitCode(), 1);
        QTRY_VERIFY(!QFile::exists(about));
    }
};

QTEST_GUILESS_MAIN(TstCliAdapters)
#include "tst_cli_adapters.moc"
